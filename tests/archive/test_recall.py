"""The model reads pages, parts and places of an original, or an explanation if that fails."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.archive import Archive
from reducer.archive.database import ReturnId
from reducer.archive.recall import MAX_PAGE, Arguments, HistoryReturn, answer
from tests.archive.samples import entry
from tests.helpers import table

ITEMS = [{"name": f"host{number}", "risk": "high" if number % 10 == 0 else "low"} for number in range(300)]
REPORT = {"items": ITEMS, "actor": "APT28", "note": "Seen with apt28 tools."}
ARTICLE = "".join(f"Sentence {number} of the article. " for number in range(500))
WHOLE = json.dumps(REPORT, separators=(",", ":"))
OWNER = "owner"


def seen(content: Any, tool: str = "report", call_id: str = "r", nth: int = 1) -> HistoryReturn:
    return ReturnId(tool, call_id, nth), content


RETURNS = [
    seen({**REPORT, "items": ITEMS[:2]}),
    seen("Sentence 0 …[13000 more characters]", "article", "a"),
    seen([1, 2], "article", "b"),
    seen([1, 3], "article", "b", 2),
    seen("lost …[13000 more characters]", "article", "lost"),
    seen(json.dumps({"a": {"b": "text"}}), "encoded", "e"),
]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    with Archive(tmp_path_factory.mktemp("archive") / "returns.db") as made:
        made.add(
            [
                entry(REPORT, RETURNS[0][1], tool="report", call_id="r"),
                entry(ARTICLE, RETURNS[1][1], tool="article", call_id="a"),
                entry(list(range(9)), [1, 3], tool="article", call_id="b", nth=2),
                entry("of another conversation", "x", tool="report", call_id="other"),
            ]
        )
        yield made


def ask(archive: Archive, returns: list[HistoryReturn] = RETURNS, **arguments: Any) -> str:
    return answer(returns, archive, arguments, OWNER)


def test_pages_cover_the_whole_original(archive: Archive) -> None:
    offset = 0
    while offset < len(WHOLE):
        end = min(offset + 4000, len(WHOLE))
        more = f"; offset={end} for more" if end < len(WHOLE) else ""
        head = f"report `r`, the original: characters {offset}-{end} of {len(WHOLE)}{more}"
        assert ask(archive, tool_call_id="r", offset=offset) == f"{head}\n{WHOLE[offset:end]}"
        offset = end
    longest = ask(archive, [seen("a" * 50_000)], tool_call_id="r", limit=10**9)
    assert longest.split("\n")[1] == "a" * MAX_PAGE


def test_find_shows_places_with_their_context(archive: Archive) -> None:
    places = [match.start() for match in re.finditer("apt28", WHOLE, re.IGNORECASE)]
    head, *lines = ask(archive, tool_call_id="r", find="Apt28").split("\n")
    assert head == f"report `r`, the original: `Apt28` occurs 2 times in {len(WHOLE)} characters"
    assert lines == [f"at {places[0]}: {WHOLE[places[0] - 120 : places[0] + 125]}"]
    assert ask(archive, tool_call_id="r", find="host7", path="items[7]").endswith(
        '`host7` occurs once in 29 characters\nat 9: {"name":"host7","risk":"low"}'
    )


def test_places_come_in_pages(archive: Archive) -> None:
    count, offset, more = 0, 0, True
    while more:
        head, *lines = ask(archive, tool_call_id="a", find="sentence", offset=offset, limit=2000).split("\n")
        assert "`sentence` occurs 500 times" in head
        assert sum(map(len, lines)) < 2600
        count += sum(line.count("Sentence") for line in lines)
        _, more, rest = head.partition("; offset=")
        last, offset = offset, int(rest.removesuffix(" for more") or len(ARTICLE))
        assert last < offset
    assert count >= 500


def test_find_needs_linear_time_and_memory(archive: Archive) -> None:
    """A text that matches or almost matches everywhere needs no more time and memory than others."""
    returns = [seen("a" * 2_000_000)]
    assert "occurs 2000000 times" in ask(archive, returns, tool_call_id="r", find="A")
    assert "occurs 0 times" in ask(archive, returns, tool_call_id="r", find="a" * 999 + "b")


LIST = """\
The tool returns of this conversation:
- `e`: encoded
- `lost`: article
- `b`: article
- `a`: article
- `r`: report"""


def test_an_unknown_id_lists_the_tool_returns_of_this_conversation(archive: Archive) -> None:
    assert ask(archive, tool_call_id="other") == f"No tool return has the id `other`. {LIST}"
    for nothing in ({}, {"tool_call_id": None}, {"tool_call_id": ""}):
        assert ask(archive, **nothing) == LIST
    assert ask(archive, [], tool_call_id="r") == "There is no tool return in this conversation yet."
    lines = ask(archive, [seen([], "t", f"call{number}") for number in range(1000)]).splitlines()
    assert (lines[1], lines[-1], len(lines)) == ("- `call999`: t", "- and 980 older ones", 22)


@pytest.mark.parametrize("case", table(__file__, "answers.yaml"))
def test_answers(archive: Archive, case: dict[str, Any]) -> None:
    returns = [*RETURNS, seen([1] * 100_000, call_id="many"), seen("İİİ and then the İNDICATOR", call_id="letters")]
    assert ask(archive, returns, **{"tool_call_id": "r", **case["arguments"]}) == case["text"]


def test_an_archive_that_cannot_be_read_raises_nothing(tmp_path: Path) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        archive.path.write_bytes(b"not a database " * 100)
        assert ask(archive, tool_call_id="b") == (
            "article `b` (2 of 2), the return as in this conversation (the archive cannot be read): "
            "characters 0-5 of 5\n[1,3]"
        )


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=9),
    lambda inner: st.lists(inner, max_size=2),
)
MEANT = st.sampled_from(["r", "a", "b", "items[*].name", "@", "host"])


@given(st.dictionaries(st.sampled_from([*Arguments.model_fields, "x"]), ANY | MEANT))
def test_no_arguments_raise(archive: Archive, arguments: dict[str, Any]) -> None:
    text = answer(RETURNS, archive, arguments, OWNER)
    assert text
    text.encode()
    assert len(text) <= MAX_PAGE + 1000


@pytest.mark.parametrize("content", [object(), (x for x in "ab"), [float("nan")], "\ud800", {1: 2}, b"\xff", None, 5])
def test_no_content_raises(archive: Archive, content: Any) -> None:
    for more in ({}, {"path": "@"}, {"find": "a"}):
        ask(archive, [seen(content)], tool_call_id="r", **more).encode()


LARGE = [{"name": f"host{n}", "risk": n % 7, "tags": ["a", ["b", ["c"]]], "note": "x" * 150} for n in range(500)]
CONTENT = {"items": LARGE, "deep": [[[[1] * 20] * 10] * 10], "map": {f"key {n}": {"a": n} for n in range(300)}}
HOSTILE = json.loads((Path(__file__).parent / "hostile_paths.json").read_text())


@pytest.mark.parametrize("path", [*HOSTILE["computing"], *HOSTILE["long"], "a" * 5_000_000], ids=lambda path: path[:40])
def test_a_path_computes_nothing_and_needs_little_memory(archive: Archive, path: str) -> None:
    ask(archive, [seen(CONTENT)], tool_call_id="r", path="items[0].name")  # allocates what all paths share
    tracemalloc.start()
    text = ask(archive, [seen(CONTENT)], tool_call_id="r", path=path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
    assert len(text) <= MAX_PAGE + 1000
    if path in HOSTILE["computing"]:
        assert text.startswith(("`path` ", "`path`, character ", "Wrong arguments: `path`: "))
        assert "\n" not in text
