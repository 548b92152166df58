"""Media items are atoms. An object that only names a media kind is data.

The kinds and fields are those of the message classes in `pydantic_ai.messages`.
"""

from __future__ import annotations

import json
from dataclasses import make_dataclass
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic_ai.messages import AudioUrl, BinaryContent, DocumentUrl, ImageUrl, UploadedFile, VideoUrl
from pydantic_core import to_jsonable_python

from tests.helpers import reduced
from tests.laws.laws import case_of, check, law_test
from tests.laws.strategies import fields, laws, rules_of, some

_LONG = "word and more words here " * 40
_OBJECTS = (
    ImageUrl("https://example.org/a.png"),
    AudioUrl("https://example.org/a.mp3", force_download=True),
    VideoUrl("https://example.org/a.mp4", identifier="v1"),
    DocumentUrl("https://example.org/a.pdf", vendor_metadata={"note": _LONG}),
    DocumentUrl("https://example.org/a", media_type="application/pdf", force_download="allow-local"),
    BinaryContent(b"a" * 900, media_type="image/png"),
    UploadedFile("file-1", provider_name="openai"),
)
_STORED: tuple[dict[str, Any], ...] = (
    *(to_jsonable_python(item) for item in _OBJECTS),
    *({"kind": kind, "url": _LONG} for kind in ("image-url", "audio-url", "video-url", "document-url")),
    {"kind": "binary", "data": "YQ==" * 200, "media_type": "image/png"},
    {"kind": "uploaded-file", "file_id": _LONG, "provider_name": "openai"},
)
_KINDS = sorted({item["kind"] for item in _STORED})
_RULES: tuple[dict[str, Any], ...] = (
    {"steps": [{"path": "items", "keep": ["id"]}]},
    {"steps": [{"path": "items", "drop": ["url", "data", "media_type", "file_id"]}]},
    {"steps": [{"path": "items", "limit": 1}]},
    {"steps": [{"path": "items", "compact": True}]},
    {"steps": [{"path": "items", "extract": ["cve"]}]},
    {"steps": [{"path": "@", "truncate": 10}]},
    {"steps": [{"path": "items[*].url", "truncate": 10}, {"path": "items[*].data", "truncate": 10}]},
    {"steps": [{"path": "items[*].vendor_metadata", "drop": ["note"]}]},
    {"steps": [{"path": "items", "limit": 3}], "max_chars": 50, "preserve": []},
)


@pytest.mark.parametrize("rule", _RULES, ids=json.dumps)
@pytest.mark.parametrize("media", [*_OBJECTS, *_STORED], ids=repr)
def test_a_media_item_is_never_entered_changed_or_dropped(rule: dict[str, Any], media: Any) -> None:
    record = {"id": 1, "note": _LONG, "url": _LONG, "data": None}
    content = {"items": [record, media, record, {"id": 2, "picture": media}]}
    items = reduced(rule, content)["items"]
    assert media in items
    if isinstance(media, dict):
        assert [item for item in items if "kind" in item] == [media]
    else:
        assert any(item is media for item in items)


@pytest.mark.parametrize("media", _STORED, ids=repr)
@pytest.mark.parametrize("keys", [["id"], ["items"]])
def test_a_media_item_that_is_the_return_or_the_value_of_a_key_stays(media: dict[str, Any], keys: list[str]) -> None:
    assert reduced({"steps": [{"keep": keys}]}, media) == media
    rows = [{"id": 1, "picture": media, "note": _LONG}] * 3
    assert reduced({"steps": [{"keep": ["id"]}]}, rows) == [{"id": 1, "picture": media}] * 3


_HOSTILE: tuple[dict[str, Any], ...] = (
    {"kind": "phishing-url", "url": _LONG},
    {"kind": "c2-url", "url": "https://example.org", "note": _LONG},
    {"kind": "-url", "url": _LONG},
    *({"kind": "image-url"}, {"kind": "image-url", "url": None}, {"kind": "image-url", "url": [_LONG]}),
    *({**_STORED[0], name: _LONG} for name in ("verdict", "data", "vendor_metadata", "force_download")),
    {**_STORED[0], "media_type": [_LONG]},
    {"kind": "binary"},
    {"kind": "binary", "sha256": "e3" * 32, "strings": [_LONG]},
    {"kind": "binary", "data": _LONG},
    {"kind": "binary", "data": [_LONG], "media_type": "image/png"},
    {"kind": "binary", "data": "YQ==", "media_type": "image/png", "strings": [_LONG]},
    {"kind": "uploaded-file", "file_id": "f", "note": _LONG},
    {"kind": ["image-url"], "url": _LONG},
    {"kind": {"image-url": 1}, "url": _LONG},
    {"kind": "IMAGE-URL", "url": _LONG},
    {"kind": "text-content", "content": _LONG},
)


@pytest.mark.parametrize("record", _HOSTILE, ids=repr)
def test_an_object_that_only_names_a_media_kind_is_data(record: dict[str, Any]) -> None:
    row = {**record, "id": 1}
    assert reduced({"steps": [{"keep": ["id"]}]}, [row] * 3) == [{"id": 1}] * 3
    assert reduced({"steps": [{"limit": 1}], "mark": False, "preserve": []}, [record] * 3) == [record]
    limited = {"steps": [{"path": "items", "limit": 1}], "mark": False}
    assert reduced(limited, {"items": [record] * 3}) == {"items": [record]}
    assert reduced({"steps": [{"truncate": 10}], "preserve": []}, [row]) != [row] or _LONG not in str(row)


_texts = some("", "x", _LONG, "https://example.org/a.png", "image/png", "YQ==")
_values = st.one_of(
    _texts, some(None, True, False, 0, 1, 2, 3), st.lists(_texts, max_size=2), st.dictionaries(_texts, _texts)
)
_FIELDS = ("url", "data", "media_type", "file_id", "provider_name", "vendor_metadata", "identifier", "force_download")
_hostile_rows = fields(
    {"kind": some(*_KINDS, "phishing-url", "c2-url"), "id": st.integers(0, 3)},
    **dict.fromkeys((*_FIELDS, "raw"), _values),
    note=_texts,
)
_steps = some(
    *({"keep": ["id", "kind"]}, {"drop": ["note", "raw", "url"]}, {"limit": 1}, {"dedupe": "id"}, {"compact": True}),
    *({"truncate": 100}, {"path": "[*].vendor_metadata", "truncate": 5}, {"extract": ["url"]}),
)
_rules = rules_of(_steps, max_chars=st.just(200), preserve=some([], ["url"]))
_rows = st.lists(st.one_of(_hostile_rows, some(*_STORED), some(*_OBJECTS)), min_size=1, max_size=6)
test_the_laws_hold = law_test(st.builds(case_of, _rules, _rows))


def _renamed(rows: Any, names: dict[str, str]) -> Any:
    return [{**row, "kind": names.get(row["kind"], row["kind"])} if "kind" in row else row for row in rows]


@laws
@given(_rules, st.lists(_hostile_rows, min_size=1, max_size=6))
@example({"steps": [{"limit": 1}]}, [{"kind": "binary", "id": 1}, {"kind": "c2-url", "id": 2}])
def test_a_row_with_keys_of_its_own_is_reduced_as_if_its_kind_were_any_other(rule: Any, rows: list[Any]) -> None:
    # No media item has the field `id`, so no row is one. The names have the same lengths as the kinds.
    names = {kind: kind.translate(str.maketrans("aeiou", "vwxyz")) for kind in (*_KINDS, "phishing-url", "c2-url")}
    assert _renamed(reduced(rule, rows), names) == reduced(rule, _renamed(rows, names))


Sample = make_dataclass("Sample", ["id", "note", "kind"])
Picture = make_dataclass("Picture", ["url", ("kind", str, "image-url")])


@pytest.mark.parametrize("kind", [*_KINDS, "phishing-url"])
def test_a_live_object_that_only_names_a_media_kind_is_data_and_one_that_is_stored_as_a_media_item_is_one(
    kind: str,
) -> None:
    rows = [Sample(number, _LONG, kind) for number in range(3)]
    assert reduced({"steps": [{"keep": ["id"]}]}, rows) == [{"id": number} for number in range(3)]
    picture = Picture("https://example.org/" + "a" * 200)
    for rule in _RULES:
        assert any(item is picture for item in check(case_of(rule, {"items": [*rows, picture]})).content["items"])
