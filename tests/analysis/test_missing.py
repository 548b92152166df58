"""Why paths find nothing; what is suggested finds something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from reducer.analysis.query import explain, near
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
CASES = yaml.safe_load((Path(__file__).parent / "nothing_found.yaml").read_text(encoding="utf-8"))["paths"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["path"])
def test_says_why_and_what_was_meant(case: dict[str, str]) -> None:
    message, meant = case["message"], case["meant"]
    assert explain(case["path"], DATA) == (f"{message}; did you mean `{meant}`?" if meant else message, meant)


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
