"""What an expression finds in an answer: the places that a step would work on, each found again by its own path."""

from __future__ import annotations

import json
from typing import Any

import jmespath
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from reducer.analysis.query import Found, compile_query, query
from reducer.paths import PathError, compile_path
from reducer.values import Unreducible
from tests.laws.strategies import NAMES, values


def ask(expression: str, content: Any) -> Found:
    return query(compile_query(expression), content)


_paths = st.lists(
    st.sampled_from([*NAMES, "*", "[*]", "[0]", "[]", "[?risk]", "[-1]", "[:2]"]), min_size=1, max_size=4
).map(lambda parts: "".join(part if part[0] == "[" else f".{part}" for part in parts).removeprefix("."))


@given(values, _paths)
def test_each_place_is_found_again_by_its_path(content: Any, path: str) -> None:
    content = json.loads(json.dumps(content).replace("NaN", "null"))
    if isinstance(content, str):
        content = [content]
    try:
        found = ask(path, content)
    except PathError:
        assume(False)  # `[?risk][?risk]` selects from a list of lists, which no path may
    assert [value for _, value in found.places] == compile_path(path).find(content)
    event(f"{min(len(found.places), 2)} places")
    for place, value in found.places:
        assert jmespath.search(place, content) == value
    assert found.holds == bool(found.places) == (found.nothing.message == "")


def test_structured_texts_are_entered_as_by_rules() -> None:
    content = {"content": [{"text": json.dumps({"hosts": [{"name": "a"}]})}]}
    assert ask("content[*].text.hosts[*].name", content).places == (("content[0].text.hosts[0].name", "a"),)
    assert ask("content[*].text", content).places == (("content[0].text", content["content"][0]["text"]),)
    assert ask("[*].a", '[{"a": 1}]').places == (("[0].a", 1),)
    assert ask("length(content[0].text.hosts)", content).value == 1


@pytest.mark.parametrize(
    ("expression", "value", "holds"),
    [("length(a)", 2, True), ("a[0] > `5`", False, False), ("[a, b]", [[1, 2], None], True), ("abs(c)", None, False)],
)
def test_what_names_no_places_is_evaluated(expression: str, value: Any, holds: bool) -> None:
    assert ask(expression, {"a": [1, 2]}) == Found(holds, value=value)


def test_media_depth_and_syntax() -> None:
    image = {"kind": "image-url", "url": "https://example.org/a.png"}
    assert ask("a.url", {"a": image}).places == ()
    assert ask("a", {"a": image}).places == (("a", image),)
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(Unreducible):
        ask("a", {"a": deep})
    with pytest.raises(PathError):
        compile_query("a..b")
