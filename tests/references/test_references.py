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
from reducer.references import NUMBER, Call, Mentions, Prompt, Response, Returned, references
from reducer.references.search import occurrences, searched, searcher
from reducer.references.values import values_of_arguments, values_of_text
from tests.helpers import nested


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("It beacons to 185.220.101.34.", {"185.220.101.34"}),
        ("See https://example.com/a?b=1, then wait.", {"https://example.com/a?b=1"}),
        ("Mail of bob.smith@example.org came.", {"bob.smith@example.org"}),
        ("Found in /var/log/auth.log today.", {"/var/log/auth.log"}),
        ("The host WIN-7F3 ran svchost_helper.", {"WIN-7F3", "svchost_helper"}),
        ("About 1,234 rows, 99 more.", {NUMBER + "1234"}),
        ("In 2024 there were 300 of them.", set()),
        ("Next Steps are simple.", set()),
        ("It was The Grand Plaza Lisboa again.", {"Grand Plaza Lisboa"}),
        ("The flag is `blue whale 7`.", {"blue whale 7"}),
        ("The error was an error.", set()),
    ],
)
def test_distinctive_values_of_a_text(text: str, values: set[str]) -> None:
    assert values_of_text(text) == values


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ({"id": "srv-7"}, {"srv-7"}),
        ('{"id": "srv-7", "limit": 5}', {"srv-7"}),
        ({"query": "error"}, set()),
        ({"rows": [1234, 12, True, None]}, {NUMBER + "1234"}),
        ({"inner": '{"id": "srv-7"}'}, {"srv-7"}),
        ("no JSON, srv-7", {"srv-7"}),
        ({"n": 10**5000}, set()),
        (None, set()),
    ],
)
def test_distinctive_values_of_arguments(arguments: Any, values: set[str]) -> None:
    assert values_of_arguments(arguments) == values


@pytest.mark.parametrize(
    ("value", "text", "occurs"),
    [
        ("srv-7", "on srv-7.", True),
        ("srv-7", "on srv-70", False),
        ("srv-7", "xsrv-7", False),
        ("srv-7", "_srv-7_", True),
        (NUMBER + "1234", "1,234 rows", True),
        (NUMBER + "1234", "1234.0", True),
        (NUMBER + "1234", "1234.5", False),
        (NUMBER + "1234", "v1234", False),
        (NUMBER + "1234", "0.1234", False),
        (NUMBER + "12.50", "12.5 EUR", True),
        (NUMBER + "1e+16", "1e+16", True),
    ],
)
def test_where_values_occur(value: str, text: str, occurs: bool) -> None:
    assert searcher([value])(text) == ({value} if occurs else set())
    assert bool(list(occurrences(value, text))) == occurs


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"a": [1, 2.5, None, True, "b"]}, "a\n1\n2.5\nb"),
        ('{"a": "{\\"b\\": [\\"c\\"]}"}', "a\nb\nc"),
        ("[('a', 1)]", "a\n1"),
        ("line\\nnext", "line\nnext"),
        ('{"a": 1}{"a": 1}', '{"a": 1}{"a": 1}'),
        (7, "7"),
        (None, ""),
    ],
)
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


def test_a_deep_content_is_searched() -> None:
    assert searched(nested(100_000, "host-1")) == "host-1"


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
