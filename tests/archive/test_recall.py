"""What the model is answered when it recalls a return: pages, places, and what to do instead where something is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.archive import Archive
from reducer.archive.entries import Place
from reducer.archive.recall import MOST, PAGE, SCHEMA, Held, answer
from tests.archive.samples import entry

ITEMS = [{"name": f"host{number}", "risk": "high" if number % 10 == 0 else "low"} for number in range(300)]
REPORT = {"items": ITEMS, "actor": "APT28", "note": "Seen with apt28 tools."}
ARTICLE = "".join(f"Sentence {number} of the article. " for number in range(500))
WHOLE = json.dumps(REPORT, separators=(",", ":"))


def held(content: Any, tool: str = "report", call_id: str = "r", nth: int = 1) -> Held:
    return Held(Place(tool, call_id, nth, 0), content)


HELD = [
    held({**REPORT, "items": ITEMS[:2]}),
    held("Sentence 0 …[13000 more characters]", "article", "a"),
    held([1, 2], "article", "b"),
    held([1, 3], "article", "b", 2),
    held("gone …[13000 more characters]", "article", "gone"),
    held(json.dumps({"a": {"b": "text"}}), "encoded", "e"),
]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    with Archive(tmp_path_factory.mktemp("archive") / "returns.db") as made:
        made.file(
            [
                entry(REPORT, HELD[0].content, tool="report", call_id="r"),
                entry(ARTICLE, HELD[1].content, tool="article", call_id="a"),
                entry(list(range(9)), [1, 3], tool="article", call_id="b", nth=2),
                entry("of another conversation", "x", tool="report", call_id="other"),
            ]
        )
        yield made


def ask(archive: Archive, **arguments: Any) -> str:
    return answer(HELD, archive, arguments)


def test_pages_follow_each_other_through_all_of_it(archive: Archive) -> None:
    text, offset = "", 0
    for _ in range(20):
        head, page = ask(archive, tool_call_id="r", offset=offset).split("\n", 1)
        text += page
        end = offset + len(page)
        more = f"; offset={end} for more" if end < len(WHOLE) else ""
        assert head == f"report `r`, the original answer: characters {offset}-{end} of {len(WHOLE)}{more}"
        assert len(page) <= PAGE
        offset = end
        if not more:
            break
    assert text == WHOLE


def test_a_text_is_paged_as_a_text(archive: Archive) -> None:
    assert ask(archive, tool_call_id="a", offset=9, limit=20) == (
        f"article `a`, the original answer: characters 9-29 of {len(ARTICLE)}; offset=29 for more\n{ARTICLE[9:29]}"
    )
    assert len(ask(archive, tool_call_id="a", limit=10**9).split("\n", 1)[1]) == min(MOST, len(ARTICLE))


def test_nth_chooses_among_those_with_one_id(archive: Archive) -> None:
    latest = "article `b` (answer 2 of 2), the original answer: characters 0-19 of 19\n[0,1,2,3,4,5,6,7,8]"
    for arguments in ({}, {"nth": "latest"}, {"nth": 2}, {"nth": "2"}, {"nth": 2.0}, {"nth": None}):
        assert ask(archive, tool_call_id="b", **arguments) == latest
    assert ask(archive, tool_call_id="b#2") == latest
    assert ask(archive, tool_call_id="b", nth=1) == "article `b` (answer 1 of 2), the answer: characters 0-5 of 5\n[1,2]"
    for wrong in (3, 0, -1, "x", True, [1]):
        assert ask(archive, tool_call_id="b", nth=wrong) == "`b` came back 2 times: `nth` is 1 to 2, or latest."


def test_a_path_reads_a_place(archive: Archive) -> None:
    told = ask(archive, tool_call_id="r", path="items[?risk == 'high'].name | [:3]")
    assert told.startswith("report `r`, `items[?risk == 'high'].name | [:3]` in the original answer: characters 0-27 of 27\n")
    assert told.endswith('\n["host0","host10","host20"]')
    assert ask(archive, tool_call_id="r", path="actor").endswith("in the original answer: characters 0-5 of 5\nAPT28")
    assert ask(archive, tool_call_id="e", path="a.b").endswith("\ntext")


def test_a_text_is_found_with_what_stands_around_it(archive: Archive) -> None:
    told = ask(archive, tool_call_id="r", find="Apt28")
    places = [match.start() for match in re.finditer("apt28", WHOLE, re.IGNORECASE)]
    head, *lines = told.split("\n")
    assert head == f"report `r`, the original answer: `Apt28` stands 2 times in its {len(WHOLE)} characters"
    assert lines == [f"at {places[0]}: {WHOLE[places[0] - 120 : places[0] + 125]}"]
    assert ask(archive, tool_call_id="r", find="host7", path="items[7]").endswith(
        '`host7` stands once in its 29 characters\nat 9: {"name":"host7","risk":"low"}'
    )


def test_places_come_in_pages_too(archive: Archive) -> None:
    seen, offset = 0, 0
    for _ in range(40):
        head, *lines = ask(archive, tool_call_id="a", find="sentence", offset=offset, limit=2000).split("\n")
        assert "`sentence` stands 500 times" in head
        assert sum(map(len, lines)) < 2600
        for line in lines:
            seen += line.count("Sentence")
        more = re.search(r"offset=(\d+) for more$", head)
        if more is None:
            break
        offset = int(more[1])
    assert seen >= 500


UNKNOWN = """\
No tool answer here has the id `{}`. There are:
- `e`: encoded
- `gone`: article
- `b`: article, 2 answers
- `a`: article
- `r`: report"""


def test_an_unknown_id_gets_the_list_of_what_there_is(archive: Archive) -> None:
    # What the archive has from another conversation is not there for this one.
    assert ask(archive, tool_call_id="other") == UNKNOWN.format("other")
    assert ask(archive, tool_call_id="gonee").splitlines()[1] == "- `gone`: article"
    assert ask(archive, tool_call_id="article").splitlines()[1:4] == ["- `gone`: article", "- `b`: article, 2 answers", "- `a`: article"]
    for nothing in ({}, {"tool_call_id": None}, {"tool_call_id": 5}, {"tool_call_id": ""}):
        assert ask(archive, **nothing).splitlines()[0] == "Give the `tool_call_id` of the answer that you want. There are:"
    assert answer([], archive, {"tool_call_id": "r"}) == "There is no tool answer in this conversation yet."


def test_a_list_of_many_is_short(archive: Archive) -> None:
    many = [held([], "t", f"call{number}") for number in range(1000)]
    lines = answer(many, archive, {"tool_call_id": "x"}).splitlines()
    assert (lines[1], lines[-1], len(lines)) == ("- `call999`: t", "- and 980 older ones", 22)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"offset": -1}, "`offset` cannot be -1: it counts characters from the start of the answer: 0, or more."),
        ({"offset": "x"}, "`offset` cannot be x: it counts characters from the start of the answer: 0, or more."),
        ({"limit": 0}, f"`limit` cannot be 0: it is the number of characters to give: 1 to {MOST}."),
        ({"limit": True}, f"`limit` cannot be True: it is the number of characters to give: 1 to {MOST}."),
        ({"offset": 10**9}, f"report `r`, the original answer: it has {len(WHOLE)} characters: `offset` is 0 to {len(WHOLE) - 1}."),
        ({"path": "items["}, "`path` is no JMESPath: the expression ends too early at character 7 of `items[`; close `[` with `]`."),
        ({"path": "items.5"}, "`path` is no JMESPath: unexpected `5` at character 7 of `items.5`; write the number in backticks: `` `5` ``."),
        ({"path": "nothing"}, "`nothing` finds nothing in the answer. It is an object with the keys items, actor, note."),
        ({"path": 5}, "`path` is a text with a JMESPath expression, as in `items[0].name`; leave it out for all of the answer."),
        ({"path": "|".join(["[@,@][]"] * 40)}, "`path` would make too much of this answer at once: ask for less with each call."),
        ({"path": "to_string([" * 40 + "@" + "])" * 40}, "`path` would make too much of this answer at once: ask for less with each call."),
        ({"find": 5}, "`find` is the text to look for."),
        ({"find": "xyz"}, f"report `r`, the original answer: `xyz` does not stand in it. It has {len(WHOLE)} characters."),
        ({"find": "APT28", "offset": 9999999}, f"report `r`, the original answer: `APT28` does not stand in it from character 9999999 on (2 times before). "
         f"It has {len(WHOLE)} characters."),
        ({"page": 2}, "`recall_tool_return` has no argument `page`: there are tool_call_id, nth, path, find, offset, limit."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_what_to_do(archive: Archive, arguments: dict[str, Any], told: str) -> None:
    assert ask(archive, tool_call_id="r", **arguments) == told


def test_what_the_archive_does_not_have_is_shown_as_it_stands(archive: Archive) -> None:
    told = "article `gone`, as it stands in this conversation (its original is not in the archive): characters 0-29 of 29\n"
    assert ask(archive, tool_call_id="gone") == told + HELD[4].content


def test_an_archive_that_cannot_be_read_is_no_end(tmp_path: Path) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        archive.path.write_bytes(b"nothing of use " * 100)
        told = answer(HELD, archive, {"tool_call_id": "b"})
    assert told == "article `b` (answer 2 of 2), as it stands in this conversation (the archive cannot be read now): characters 0-5 of 5\n[1,3]"


ANY = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=9), lambda inner: st.lists(inner, max_size=2))


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "x"]), ANY | st.sampled_from(["r", "a", "items[*].name", "@", "host", "b#1", "b#9"])))
def test_no_arguments_raise(archive: Archive, arguments: dict[str, Any]) -> None:
    told = answer(HELD, archive, arguments)
    assert told
    told.encode()
    assert len(told) <= MOST + 1000


@pytest.mark.parametrize("content", [object(), (x for x in "ab"), [float("nan")], "\ud800", {1: 2}, b"\xff", None, 5])
def test_no_content_raises(archive: Archive, content: Any) -> None:
    for more in ({}, {"path": "@"}, {"find": "a"}):
        answer([held(content)], archive, {"tool_call_id": "r", **more}).encode()
