"""What an expression finds in an answer: the places that a step would work on, each found again by its own path."""

from __future__ import annotations

import json
from typing import Any

import jmespath
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from reducer.analysis.query import Query
from reducer.paths import PathError, compile_path
from reducer.values import Unreducible
from tests.laws.strategies import NAMES, values

_paths = st.lists(
    st.sampled_from([*NAMES, "*", "[*]", "[0]", "[]", "[?risk]", "[-1]", "[:2]"]), min_size=1, max_size=4
).map(lambda parts: "".join(part if part[0] == "[" else f".{part}" for part in parts).removeprefix("."))


@given(values, _paths)
def test_each_place_is_found_again_by_its_path(content: Any, path: str) -> None:
    content = json.loads(json.dumps(content).replace("NaN", "null"))
    if isinstance(content, str):
        content = [content]
    found = Query(path).ask(content)
    assert [value for _, value in found.places] == compile_path(path).find(content)
    event(f"{min(len(found.places), 2)} places")
    for place, value in found.places:
        assert jmespath.search(place, content) == value
    assert found.holds == bool(found.places) == (found.nothing.message == "")


def test_texts_are_gone_into_as_rules_do() -> None:
    content = {"content": [{"text": json.dumps({"hosts": [{"name": "a"}]})}]}
    assert Query("content[*].text.hosts[*].name").ask(content).places == (("content[0].text.hosts[0].name", "a"),)
    assert Query("content[*].text").ask(content).places == (("content[0].text", content["content"][0]["text"]),)
    assert Query("[*].a").ask('[{"a": 1}]').places == (("[0].a", 1),)
    assert Query("length(content[0].text.hosts)").ask(content).value == 1


@pytest.mark.parametrize(
    ("expression", "value", "holds"),
    [("length(a)", 2, True), ("a[0] > `5`", False, False), ("[a, b]", [[1, 2], None], True), ("abs(c)", None, False)],
)
def test_what_names_no_places_is_evaluated(expression: str, value: Any, holds: bool) -> None:
    found = Query(expression).ask({"a": [1, 2]})
    assert (found.value, found.holds, found.places) == (value, holds, ())


def test_nothing_is_explained() -> None:
    found = Query("resolutions.hostname").ask({"resolutions": [{"hostname": "a"}]})
    assert (
        found.nothing.message
        == "`resolutions` is a list, so `.hostname` finds nothing there; did you mean `resolutions[*].hostname`?"
    )
    assert found.nothing.path == "resolutions[*].hostname"


def test_media_and_depth() -> None:
    image = {"kind": "image-url", "url": "https://example.org/a.png"}
    assert Query("a.url").ask({"a": image}).places == ()
    assert Query("a").ask({"a": image}).places == (("a", image),)
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(Unreducible):
        Query("a").ask({"a": deep})


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(PathError):
        Query("a..b")
