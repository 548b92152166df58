"""Queries and their explanations: each place has a path that leads to it, and each suggested path finds something."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import jmespath
import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.analysis.query import Found, compile_query, explain, query
from reducer.paths import Path, PathError, compile_path
from reducer.values import Unreducible
from tests.helpers import nested, table
from tests.laws.strategies import NAMES, values


def ask(expression: str, content: Any) -> Found:
    return query(compile_query(expression), content)


def is_path(text: str) -> bool:
    with suppress(PathError):  # a list of lists, as in `*[0][:2][0]`
        return isinstance(compile_query(text), Path)
    return False


def paths(*parts: str) -> st.SearchStrategy[str]:
    """Generate paths of up to four parts; those without brackets follow a dot."""
    steps = st.sampled_from([part if part[0] == "[" else f".{part}" for part in parts])
    texts = st.lists(steps, min_size=1, max_size=4).map(lambda some: "".join(some).removeprefix("."))
    return texts.filter(is_path)


@given(values, paths(*NAMES, "*", "[*]", "[0]", "[]", "[?risk]", "[-1]", "[:2]"))
def test_the_path_of_each_place_leads_to_its_value(content: Any, path: str) -> None:
    content = json.loads(json.dumps(content).replace("NaN", "null"))
    if isinstance(content, str):
        content = [content]
    found = ask(path, content)
    assert [value for _, value in found.places] == compile_path(path).find(content)
    event(f"{min(len(found.places), 2)} places")
    for place, value in found.places:
        assert jmespath.search(place, content) == value
    assert found.holds == bool(found.places) == (found.nothing.message == "")


def test_queries_open_structured_texts_as_rules_do() -> None:
    content = {"content": [{"text": json.dumps({"hosts": [{"name": "a"}]})}]}
    assert ask("content[*].text.hosts[*].name", content).places == (("content[0].text.hosts[0].name", "a"),)
    assert ask("content[*].text", content).places == (("content[0].text", content["content"][0]["text"]),)
    assert ask("[*].a", '[{"a": 1}]').places == (("[0].a", 1),)
    assert ask("length(content[0].text.hosts)", content).value == 1


@pytest.mark.parametrize(
    ("expression", "value", "holds"),
    [("length(a)", 2, True), ("a[0] > `5`", False, False), ("[a, b]", [[1, 2], None], True), ("abs(c)", None, False)],
)
def test_expressions_that_make_a_value_are_evaluated(expression: str, value: Any, holds: bool) -> None:
    assert ask(expression, {"a": [1, 2]}) == Found(holds, value=value)


def test_queries_do_not_enter_media() -> None:
    image = {"kind": "image-url", "url": "https://example.org/a.png"}
    assert ask("a.url", {"a": image}).places == ()
    assert ask("a", {"a": image}).places == (("a", image),)


def test_deep_contents_are_refused() -> None:
    with pytest.raises(Unreducible):
        ask("a", {"a": nested(5000)})


# --- why a path finds nothing

DATA = {
    "resolutions": [{"hostname": "a", "tags": [{"n": 1}]}],
    "map": {"x": {"v": 1}, "y": {"v": 2}},
    "nul": None,
    "data": {"attributes": {"score": 3}},
    "text": "one",
    "nested": [[{"q": 1}]],
    "empty": [],
}
CASES = table(__file__, "nothing_found.yaml")["paths"]


@pytest.mark.parametrize(("path", "message", "meant"), [(path, *case) for path, case in CASES.items()])
def test_why_a_path_finds_nothing(path: str, message: str, meant: str) -> None:
    assert explain(path, DATA) == (f"{message}; did you mean `{meant}`?" if meant else message, meant, False)


def test_why_a_path_finds_nothing_in_other_returns() -> None:
    assert explain("hostname", [{"hostname": 1}]).path == "[*].hostname"
    assert explain("a.b", "text").message == "the return is a text, so `.a` finds nothing there"
    assert explain("@", None).message == "`@` is null"
    with pytest.raises(PathError):
        compile_query("a..b")


_names = st.sampled_from(["a", "b", "ab", "last-seen"])
_values = st.recursive(
    st.none() | st.integers(0, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=12,
)


@given(paths("a", "b", "ab", '"last-seen"', "[*]", "*", "[0]", "[?a]", "[]", "[:2]"), _values)
@example("a[?b].a", {"a": {"b": [{"a": 1}]}})
def test_suggested_paths_find_something(path: str, value: Any) -> None:
    found = explain(path, value)
    assert bool(found.message) is not bool(compile_path(path).find(value))
    assert not found.path or compile_path(found.path).find(value)
