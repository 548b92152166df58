"""References: what counts as a value, where a value occurs, and which tool returns it comes from."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.histories.stored import events
from reducer.references import Call, Mentions, Prompt, Response, Returned, references
from reducer.references.search import occurrences, searched, searcher
from reducer.references.values import values_of_arguments, values_of_text
from tests.helpers import nested, table

CASES = table(__file__, "values.yaml")


@pytest.mark.parametrize(("text", "values"), CASES["texts"])
def test_distinctive_values_of_a_text(text: str, values: list[str]) -> None:
    assert sorted(values_of_text(text)) == values


@pytest.mark.parametrize(("arguments", "values"), CASES["arguments"])
def test_distinctive_values_of_arguments(arguments: Any, values: list[str]) -> None:
    assert sorted(values_of_arguments(arguments)) == values


@pytest.mark.parametrize(("value", "text", "occurs"), CASES["places"])
def test_where_values_occur(value: str, text: str, occurs: bool) -> None:
    assert searcher([value])(text) == ({value} if occurs else set())
    assert bool(list(occurrences(value, text))) == occurs


@pytest.mark.parametrize(("content", "text"), CASES["searched"])
def test_text_that_is_searched(content: Any, text: str) -> None:
    assert searched(content) == text


def test_a_value_is_novel_when_only_returns_had_it() -> None:
    history = [
        Prompt("look at host-1"),
        Response((), (Call("look", {"host": "host-1"}),)),  # before any return had it: refers to nothing
        Returned("host-1 talks to host-2"),
        Response(("host-1, host-2",)),
    ]
    found = [(one.value, one.kind, one.sources, one.novel) for one in references(history)]
    assert found == [("host-2", "text", (0,), True)]


def test_mentions_after_each_return() -> None:
    mentions = Mentions(lambda: [(1, Response(("host-2",))), (3, Response(("host-3 host-2",)))])
    assert mentions.after(0, "host-1 host-2") == {"host-2"}
    assert mentions.after(2, "host-2 host-3") == {"host-2", "host-3"}
    assert mentions.after(4, "host-3") == set()


@given(st.lists(st.text("aA1._-/:@ №\ud800é,'\"`*[]{}()\\", max_size=40), max_size=6))
def test_a_searcher_finds_what_occurs(texts: list[str]) -> None:
    values = set().union(*map(values_of_text, texts), *map(values_of_arguments, texts))
    for text in texts:
        assert searcher(values)(text) == {value for value in values if any(True for _ in occurrences(value, text))}


@given(st.text("a1", min_size=4, max_size=30), st.text("a1 ", max_size=60))
def test_values_that_end_in_one_another_are_all_found(value: str, text: str) -> None:
    values = {value[start:] for start in range(len(value) - 3)}
    assert searcher(values)(text) == {each for each in values if any(True for _ in occurrences(each, text))}


HOSTILE = ("[", '{"a":', "a", "A.", "a@", "/a", "1,", "\\u", "**", "9")


@pytest.mark.parametrize("text", [*(part * 50_000 for part in HOSTILE), f"{'(' * 50_000}{')' * 50_000}"], ids=len)
def test_hostile_texts_take_linear_time(text: str) -> None:
    values = values_of_text(text) | values_of_arguments(text) | values_of_arguments({"a": text})
    searcher(values)(searched(text))


def test_a_deep_content_is_searched_and_a_huge_number_is_no_value() -> None:
    assert searched(nested(100_000, "host-1")) == "host-1"
    assert values_of_arguments({"n": 10**5000}) == set()


def test_references_are_those_of_the_definition(data: Path, definition: ModuleType) -> None:
    kinds = {"text": "text", "arguments": "args"}
    found = 0
    for file in sorted(data.glob("histories/*/*.json")):
        history = definition.Hist(json.loads(file.read_bytes()))
        number = {place: count for count, place in enumerate(history.returns)}
        expected = {
            (value, history.parts[place][0], kind, tuple(number[source] for source in sources), novel)
            for value, place, kind, sources, novel in definition.references(history)
        }
        placed = events(file.read_bytes())
        own = references([place.event for place in placed])
        same = {(ref.value, placed[ref.event].key[0], kinds[ref.kind], ref.sources, ref.novel) for ref in own}
        assert (same, len(own)) == (expected, len(expected)), file.name
        found += len(own)
    assert found > 1000
