"""Live values of any type have the same result as their stored form."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from typing import Any

from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, create_model

from reducer.values import is_media
from tests.helpers import reduced
from tests.laws.laws import Case, case_of, law_test
from tests.laws.strategies import cases


class Aliased(BaseModel):
    """A model whose aliases differ from the stored names."""

    model_config = ConfigDict(populate_by_name=True)


Edge = dataclasses.make_dataclass("Edge", ["source", "label"])
Word = enum.Enum(
    "Word",
    {
        "LONG": "seen at 192.0.2.1 and again at the gate near the hall where the others stood",
        "SHORT": "the the",
        "LINES": "short\nseen at 192.0.2.1 and again",
        "LENGTHY": "seen at 192.0.2.1 " + "word " * 60,
    },
)


def alive(value: Any, draw: st.DrawFn) -> Any:
    """Return a live value whose stored form is `value`."""
    if is_media(value):
        return value
    choice = draw(st.integers(0, 3))
    if isinstance(value, list):
        items = [alive(item, draw) for item in value]
        return tuple(items) if choice == 0 else items
    if isinstance(value, dict):
        fields = {key: alive(item, draw) for key, item in value.items()}
        if choice == 0 and fields and all(key.isidentifier() for key in fields):
            return dataclasses.make_dataclass("Record", fields)(**fields)
        if choice == 1 and fields and all(key.isidentifier() and key not in dir(BaseModel) for key in fields):
            aliases: dict[str, Any] = {key: (Any, Field(alias=f"{key}Alias")) for key in fields}
            return create_model("Model", __base__=Aliased, **aliases)(**fields)
        return {int(key) if key.isdigit() and choice == 2 else key: item for key, item in fields.items()}
    if isinstance(value, str) and value and choice == 0:
        return enum.Enum("Word", {"ONE": value}).ONE  # type: ignore[attr-defined]
    if value == "2024-03-01":
        return datetime.date(2024, 3, 1)
    return float("nan") if value is None and choice == 0 else value


@st.composite
def live_cases(draw: st.DrawFn) -> Case:
    rule, _, content = draw(cases)
    return case_of(rule, content if isinstance(content, str) else alive(content, draw))


_IP = {"preserve": ["ip"]}
_FROM_A_LIST = {**_IP, "steps": [{"path": "texts", "limit": 2}]}
_ALL_KEYS = {**_IP, "keys": "all", "steps": [{"path": "edges", "limit": 1}]}
# `max_chars` cuts the text before it removes the item that contains the text.
_TARGET = {**_IP, "max_chars": 50, "steps": [{"drop": "[?risk == 'high']"}, {"drop": ["id"], "preserve": []}]}
_LINES = {"steps": [{"path": "texts[*]", "text": "lines", "keep": "[?length(@) > 20]"}]}
_KEY = {"steps": [{"limit": 1, "preserve": ["ip"]}]}
_MAP = {"steps": [{"path": "hosts", "limit": 1, "sort_by": "source"}]}
# The first pass is unstable, so restored items keep what the steps read: the tags, with an enum and a number.
_DROP_TAGS = {"path": "[*].tags", "drop": "[?contains(name, 'the')]", "mark": "name"}
_READ = {**_IP, "max_chars": 50, "steps": [{"drop": "[?length(tags) > 1]"}, _DROP_TAGS]}
# No item is left, so nothing tells a list of texts from a list of objects.
_EMPTIED = {"steps": [{"limit": 1}, {"extract": ["ipv4"], "preserve": ["ipv4"]}, {"limit": 2}], "preserve": ["ipv4"]}
# The bound counts the indicators in document order, although only a tuple is opened before it is removed.
_BOUND = {
    "max_chars": 200,
    "steps": [
        {"path": 'id[0]."3".raw', "dedupe": True},
        {"path": 'id[*]."3".ip', "limit": {"head": 1, "tail": 3}, "text": "lines", "preserve": {"ioc": 4}},
    ],
}
_NOTES = (
    "mail-diacie[.]top asked the portal question 31549 of 10.0.0.12 in the morning of the last day",
    "ERROR quick question while up in the morning münchen.example.org 198.51.100[.]4 report and question last morning",
)
# All items are removed, and a text repeats the indicator of an object.
_REPEATED = {**_IP, "steps": [{"keep": "[?source == 'high']"}]}
_HOSTS = (*[Edge(0, "low")] * 3, Edge(7, Word.LENGTHY))
test_the_laws_hold = law_test(
    live_cases(),
    case_of(_FROM_A_LIST, {"texts": [Word.SHORT, Word.SHORT, "the", Word.LONG]}),
    case_of({"steps": [{"path": "note", "truncate": 8}]}, {"note": Word.LONG, "more": [Word.LONG]}),
    case_of({"steps": [{"path": "item", "compact": True}]}, {"item": {"a": float("nan"), "b": Word.SHORT, "c": 0}}),
    case_of(_ALL_KEYS, {"edges": [Edge(1, ""), Edge(2, ""), Edge(3, "192.0.2.1")]}),
    case_of(_LINES, {"texts": (Word.LINES, Word.LONG)}),
    case_of(_KEY, [{"id": 0}, {"id": 1}, {"192.0.2.1": Word.SHORT}]),
    case_of(_MAP, {"hosts": {"a": Edge(5, ""), "b": Edge(6, "x"), "c": {"source": 1}}}),
    case_of(_READ, ({"tags": [1, 2], "ip": "2001:db8::ff00:42:8329"}, {}, {}, {}, {"tags": [Word.LENGTHY, 3], "n": 1})),
    case_of(_EMPTIED, _HOSTS),
    case_of(_REPEATED, (Edge(1, Word.LONG), Edge(2, Word.LONG), Word.LONG)),
    case_of(_BOUND, {"id": ["a", "b", {}, {"4": {"tags": _NOTES, "url": "http://203.0.113.57:8080/x.php"}}]}),
    case_of(
        {"preserve": {"ip": 1}, "steps": [{"path": "a", "limit": 1}]}, {"a": [0, {"b": (_NOTES[1],), "c": "192.0.2.1"}]}
    ),
    case_of(_TARGET, [{"id": 0}, {"n": 1}, {"n": 2}, {"n": 3, "note": Word.LENGTHY}]),
)


def test_what_stays_is_the_same_object() -> None:
    kept, gone = Aliased(), Aliased()
    result = reduced({"steps": [{"path": "items", "limit": 1}]}, {"items": [kept, gone], "other": (1, 2)})
    assert result["items"][0] is kept
    assert result["other"] == (1, 2)


def test_an_enum_is_reduced_as_its_text() -> None:
    rule = {"steps": [{"path": "hosts", "limit": 1}, {"truncate": 20}]}
    for text in ('{"hosts": [1, 2, 3], "note": ""}', Word.LENGTHY.value, "short"):
        one = enum.Enum("Word", {"ONE": text}).ONE  # type: ignore[attr-defined]
        assert reduced(rule, one) == (one if text == "short" else reduced(rule, text))
