"""Why paths find nothing; what is suggested finds something."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from reducer.analysis.missing import explain, near
from reducer.paths import PathError, compile_path

DATA = {
    "resolutions": [{"hostname": "a", "tags": [{"n": 1}]}],
    "map": {"x": {"v": 1}, "y": {"v": 2}},
    "nul": None,
    "data": {"attributes": {"score": 3}},
    "text": "one",
    "nested": [[{"q": 1}]],
    "empty": [],
}
LIST = "`resolutions` is a list, so"


@pytest.mark.parametrize(
    ("path", "message", "meant"),
    [
        ("resolutions.hostname", f"{LIST} `.hostname` finds nothing there", "resolutions[*].hostname"),
        ("resolutions.hostnam", f"{LIST} `.hostnam` finds nothing there", "resolutions[*].hostname"),
        ("resolutions.tags.n", f"{LIST} `.tags` finds nothing there", "resolutions[*].tags[*].n"),
        ("resolutions.*.hostname", f"{LIST} `.*` finds nothing there", "resolutions[*].hostname"),
        ("nested.q", "`nested` is a list, so `.q` finds nothing there", "nested[*][*].q"),
        ("resolution", "the return has no key `resolution`", "resolutions"),
        ("map[*].v", "`map` is an object, so `[*]` finds nothing there", "map.*.v"),
        ("map.v", "`map` has no key `v`", "map.*.v"),
        ("attributes.score", "the return has no key `attributes`", "data.attributes.score"),
        ("data.attributes.zzz", "`data.attributes` has the key `score`", ""),
        ("zzz", "the return has the keys `resolutions`, `map`, `nul`, `data`, `text`, `nested` and 1 more", ""),
        ("nul", "`nul` is null in the return", ""),
        ("text.x", "`text` is a text, so `.x` finds nothing there", ""),
        ("empty[*].a", "`[*]` selects nothing in `empty`", ""),
        ("resolutions[?hostname == 'z']", "`[?hostname == 'z']` selects nothing in `resolutions`", ""),
        ("resolutions[*].hostname", "", ""),
    ],
)
def test_says_why_and_what_was_meant(path: str, message: str, meant: str) -> None:
    assert explain(path, DATA) == (f"{message}; did you mean `{meant}`?" if meant else message, meant)


def test_other_returns() -> None:
    assert explain("hostname", [{"hostname": 1}]).path == "[*].hostname"
    assert explain("a.b", "text").message == "the return is a text, so `.a` finds nothing there"
    assert explain("@", None).message == "`@` is null"
    with pytest.raises(PathError):
        explain("a..b", {})


_names = st.sampled_from(["a", "b", "ab", "last-seen"])
_values = st.recursive(
    st.none() | st.integers(0, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=12,
)
_parts = st.sampled_from(["a", "b", "ab", '"last-seen"', "[*]", "*", "[0]", "[?a]", "[]", "[:2]"])


@given(st.lists(_parts, min_size=1, max_size=4), _values)
@example(["a", "[?b]", "a"], {"a": {"b": [{"a": 1}]}})
def test_what_is_suggested_finds_something(parts: list[str], value: Any) -> None:
    path = "".join(part if part[0] == "[" else f".{part}" for part in parts).removeprefix(".")
    try:
        found = explain(path, value)
    except PathError:
        assume(False)  # `[?a][?a]` selects from a list of lists, which no path may
    assert bool(found.message) is not bool(compile_path(path).find(value))
    assert not found.path or compile_path(found.path).find(value)


@given(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=6))
@example("A", ["a"])
def test_the_nearest_key_is_one_of_the_keys(name: str, keys: list[str]) -> None:
    found = near(name, keys)
    assert found == "" or found in keys
    if name in keys and name:
        assert found.casefold() == name.casefold()
