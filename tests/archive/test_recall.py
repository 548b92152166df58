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


HIGH = "items[?risk == 'high'].name | [:3]"
LAST = "article `b` (2 of 2), the original: characters 0-19 of 19\n[0,1,2,3,4,5,6,7,8]"
KEPT = "the return, which was not reduced"
LONG = "[?" + "&&".join(["@==@"] * 40) + "]"


def part(path: str, size: int) -> str:
    return f"report `r`, `{path}` in the original: characters 0-{size} of {size}\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        *(({"tool_call_id": "b", "nth": nth}, LAST) for nth in (None, 2, "2", 2.0)),
        ({"tool_call_id": "b", "nth": 1}, f"article `b` (1 of 2), {KEPT}: characters 0-5 of 5\n[1,2]"),
        *(({"tool_call_id": "b", "nth": nth}, "The id `b` occurs 2 times: `nth` is 1 to 2.") for nth in (3, 0, -1)),
        ({"tool_call_id": "a", "offset": 9, "limit": 20},
         f"article `a`, the original: characters 9-29 of {len(ARTICLE)}; offset=29 for more\n{ARTICLE[9:29]}"),
        ({"tool_call_id": "lost"}, "article `lost`, the return as in this conversation (the archive does not have "
         f"its original): characters 0-29 of 29\n{RETURNS[4][1]}"),
        ({"path": HIGH}, f'{part(HIGH, 27)}["host0","host10","host20"]'),
        ({"path": "actor"}, f"{part('actor', 5)}APT28"),
        ({"path": "items[3].name"}, f"{part('items[3].name', 5)}host3"),
        ({"path": "items[3:4].name"}, f'{part("items[3:4].name", 9)}["host3"]'),
        ({"tool_call_id": "e", "path": "a.b"}, f"encoded `e`, `a.b` in {KEPT}: characters 0-4 of 4\ntext"),
        ({"tool_call_id": "many", "path": LONG},
         "`path` is too long for a content of 200001 characters: use a shorter one, or read pages."),
        ({"tool_call_id": "letters", "find": "indicator"}, f"report `letters`, {KEPT}: `indicator` occurs once in 26 "
         "characters\nat 17: İİİ and then the İNDICATOR"),
        ({"offset": -1}, "Wrong arguments: `offset`: Input should be greater than or equal to 0."),
        ({"limit": "x"}, "Wrong arguments: `limit`: Input should be a valid integer, "
         "unable to parse string as an integer."),
        ({"page": 2}, "Wrong arguments: `page`: Extra inputs are not permitted."),
        ({"path": 5}, "Wrong arguments: `path`: Input should be a valid string."),
        ({"path": "a" * 301}, "Wrong arguments: `path`: String should have at most 300 characters."),
        ({"find": "a" * 1001}, "Wrong arguments: `find`: String should have at most 1000 characters."),
        ({"offset": 10**9}, f"report `r`, the original: `offset` must be less than its {len(WHOLE)} characters."),
        ({"path": "items["}, "`path`: the expression ends too early at character 7 of `items[`; close `[` with `]`."),
        ({"path": "keys(@)"}, "`path`: `keys()` creates a value; a path names places at character 1 of `keys(@)`; "
         "use functions only in filters and conditions."),
        ({"path": "items[?length(@) > `1`]"},
         "`path` selects parts of the content: functions, `[a, b]` and `{a: b}` are not available."),
        ({"path": "items[?@ == `[1]`]"}, "`path` compares with a text, a number, true, false or null only."),
        ({"path": "nothing"}, "`nothing` finds nothing in the original; its keys are items, actor, note."),
        ({"find": "xyz"}, f"report `r`, the original: `xyz` occurs 0 times in {len(WHOLE)} characters"),
        ({"find": "APT28", "offset": 9999999},
         f"report `r`, the original: `APT28` occurs 2 times, not after character 9999999 of {len(WHOLE)}."),
    ],
)  # fmt: skip
def test_answers(archive: Archive, arguments: dict[str, Any], text: str) -> None:
    returns = [*RETURNS, seen([1] * 100_000, call_id="many"), seen("İİİ and then the İNDICATOR", call_id="letters")]
    assert ask(archive, returns, **{"tool_call_id": "r", **arguments}) == text


def test_an_original_of_another_owner_is_not_shown(archive: Archive) -> None:
    assert "which was not reduced" in answer(RETURNS, archive, {"tool_call_id": "r"}, "another owner")


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


LARGE = [{"name": f"host{n}", "risk": n % 7, "tags": ["a", ["b", ["c"]]], "note": "x" * 150} for n in range(3_000)]
CONTENT = {"items": LARGE, "deep": [[[[1] * 20] * 10] * 10], "map": {f"key {n}": {"a": n} for n in range(2_000)}}
HOSTILE = json.loads((Path(__file__).parent / "hostile_paths.json").read_text())


@pytest.mark.parametrize("path", [*HOSTILE["computing"], *HOSTILE["long"], "a" * 5_000_000], ids=lambda path: path[:40])
def test_a_path_computes_nothing_and_needs_little_memory(archive: Archive, path: str) -> None:
    ask(archive, [seen(CONTENT)], tool_call_id="r", path="items[0].name")  # allocates what all paths share
    tracemalloc.start()
    text = ask(archive, [seen(CONTENT)], tool_call_id="r", path=path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000_000
    assert len(text) <= MAX_PAGE + 1000
    if path in HOSTILE["computing"]:
        assert text.startswith(("`path` ", "`path`: ", "Wrong arguments: `path`: "))
        assert "\n" not in text
