"""A path in a recall selects parts of an answer; it computes nothing, and its time and memory are bounded."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest

from reducer.archive import Archive
from reducer.archive.entries import ReturnId
from reducer.archive.recall import MAX_PAGE, HistoryReturn, answer

ITEMS = [{"name": f"host{n}", "risk": n % 7, "tags": ["a", ["b", ["c"]]], "note": "x" * 150} for n in range(3_000)]
CONTENT = {"items": ITEMS, "deep": [[[[1] * 20] * 10] * 10], "map": {f"key {n}": {"a": n} for n in range(2_000)}}
RETURNS = [HistoryReturn(ReturnId("look", "call_1", 1), CONTENT)]

COMPUTING = [
    # Functions, everywhere in a path.
    "join(to_string(@), items[*].note)",
    "join('', map(&to_string(@), items))",
    "to_string(@)",
    "items[*].to_string(@)",
    "items | to_string(@)",
    "items[?contains(to_string(@), 'x')]",
    "items[?length(join(note, tags)) > `3`]",
    "items[?length(map(&to_array(@), tags)) > `0`]",
    "items[?sort_by(tags, &to_string(@))]",
    "items[?tags[?starts_with(@, 'a')]]",
    "items[*].tags[?length(@) > `0`]",
    "map[?not_null(a, a)]",
    "sort(items[*].name)",
    "merge(@, @, @, @, @, @)",
    "reverse(items)",
    "keys(map)",
    "max_by(items, &name)",
    "items[*].join(note, tags)",
    "to_string(" * 40 + "@" + ")" * 40,
    "items[?" + "to_array(" * 25 + "@" + ")" * 25 + "]",
    # Lists and objects with expressions in them.
    "[@, @]",
    "[@,@][]",
    "|".join(["[@,@][]"] * 40),
    "|".join(["[@,@][]|[@,@]"] * 10),
    "items[*].[note, note, note, note]",
    "items[*].{a: note, b: note, c: note}",
    "{a: @, b: @}",
    "@.{a: @, b: @}.{a: @, b: @}.{a: @, b: @}",
    "items[?[@, @]]",
    "items[?[note, note][] == name]",
    "items[?{a: @}]",
    "items[?tags.[@, @][] | [@, @][]]",
    "items[?" + "|".join(["[@,@][]"] * 20) + "]",
    "[" * 90 + "@" + "]" * 90,
    # Values that are not parts of the answer.
    "`[1, 2, 3]`",
    "'text'",
    "items || deep",
    "items && deep",
    "!items",
    "items[0].risk == `1`",
    "&items",
]
LONG = [
    "items" + "[*]" * 90,
    "items" + "[]" * 90,
    "items" + "[*]|[:]" * 30,
    "items[*].tags[*]" + " | [*]" * 40,
    "items[*].tags[*]" + " | [:]" * 40,
    "items[*].tags" + "[]|[:]|[*]" * 20,
    "deep[*][*]" + " | [*][*]" * 25,
    "deep[]" + "[?@][]" * 30,
    "deep[*]" + "[*][?@]" * 30,
    "*" + ".*" * 40,
    "@" + "|@" * 140,
    "a" * 5_000_000,
    "items[?" + "&&".join(["@==@"] * 45) + "]",
    "items[?" + "||".join(["note==name"] * 20) + "]",
    "items[?" + "!" * 200 + "name]",
    "items[?" + "@[?" * 60 + "a" + "]" * 61,
    "items[?" + "(" * 95 + "a" + ")" * 95 + "]",
    "items[?items[?items[?items[?items[?name]]]]]",
    "items[?tags[?@[?@[?@ == 'c']]]]",
    "items[::1]" + "|[::-1]" * 35,
    "items[99999999999999999999]",
    "items[*].tags[*][*][*] | [0] | [0] | [0]",
    "\u0000",
    "items[?risk == `" + "[" * 120 + "]" * 120 + "`]",
]
HOSTILE = [*COMPUTING, *LONG]
assert len(set(HOSTILE)) >= 60


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    with Archive(tmp_path_factory.mktemp("archive") / "returns.db") as made:
        yield made


def ask(archive: Archive, path: str) -> str:
    return answer(RETURNS, archive, {"tool_call_id": "call_1", "path": path}, "owner")


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path[:40])
def test_memory_and_answer_are_bounded(archive: Archive, path: str) -> None:
    ask(archive, "items[0].name")  # allocates what all paths share
    tracemalloc.start()
    text = ask(archive, path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000_000
    assert len(text) <= MAX_PAGE + 1000


@pytest.mark.parametrize("path", COMPUTING, ids=lambda path: path[:40])
def test_a_path_does_not_compute(archive: Archive, path: str) -> None:
    text = ask(archive, path)
    assert text.startswith(("`path` ", "`path`: ", "Wrong arguments: `path`: "))
    assert "\n" not in text
