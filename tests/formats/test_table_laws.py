"""Laws of texts with rows: what stays keeps its bytes, and a second pass over what was written changes nothing."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from reducer.formats import read_as
from reducer.formats.parts import is_marker, is_part
from tests.formats.notation_laws import cut
from tests.laws.strategies import laws, some

ANSWERS = Path(__file__).with_name("answers")
NAMES = ("id", "name", "STATUS", "Local Address", "größe", "%CPU", "a:b", "#", "", "x,y", "…[3 more items]", "READY")
CELLS = (
    *(
        "",
        "",
        "a",
        "12",
        "0/1",
        "Running",
        "3 (86s ago)",
        "some words that go on and on, and do not end so soon",
        "<none>",
    ),
    *(
        "a,b",
        "x;y",
        "p|q",
        "t\tu",
        'say "x"',
        '"',
        '""',
        "line\nnext",
        "back\\",
        "\\|",
        "größer",
        "漢字",
        "🙂",
        "\ud800",
    ),
    *("…[3 more items]", "long …[12 more characters]", "---", "#x", " x ", "-", "(2 rows)", "\u00a0", "\ufeff", "\r"),
    *(
        "185.220.101.34",
        "mail-diacie[.]top",
        "CVE-2024-3400; and more of that",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4",
    ),
)
MARKERS = ("…[3 more items]", "…[12 more items; mentions 1.2.3.4, a.com]", "…[7 more items; risk: 4 high, 3 low]")


def _cells(random: Random, columns: int) -> list[list[str]]:
    simple = random.random() < 0.5
    pool = [cell for cell in CELLS if cell.isprintable() and cell.isascii()] if simple else CELLS
    return [[random.choice(pool) for _ in range(columns)] for _ in range(random.randrange(1, 9))]


def _csv(random: Random, rows: list[list[str]]) -> list[str]:
    separator = random.choice(",;\t|")
    marks = (separator, '"', "\n", "\r")
    always = random.random() < 0.3

    def written(cell: str) -> str:
        needs = any(mark in cell for mark in marks) and random.random() < 0.95
        return '"' + cell.replace('"', '""') + '"' if always or needs else cell

    return [separator.join(map(written, row)) for row in rows]


def _flat(rows: list[list[str]]) -> list[list[str]]:
    return [[" ".join(cell.split()) for cell in row] for row in rows]


def _markdown(random: Random, rows: list[list[str]]) -> list[str]:
    rows = [[cell.replace("|", "\\|") for cell in row] for row in _flat(rows)]
    rows.insert(1, [random.choice(("---", ":-:", "-"))] * len(rows[0]))
    width = random.choice((0, 0, 12))
    blank = random.choice(("", " "))
    outer = random.choice(("|", "|", ""))
    return [outer + "|".join([f"{blank}{cell.ljust(width)}{blank}" for cell in row]) + outer for row in rows]


def _aligned(random: Random, rows: list[list[str]], gap: int) -> list[list[str]]:
    rows = _flat(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = [random.choice((str.ljust, str.ljust, str.rjust)) for _ in widths]
    return [[side(cell, width + gap) for side, cell, width in zip(sides, row, widths, strict=True)] for row in rows]


def _psql(random: Random, rows: list[list[str]]) -> list[str]:
    rows = _aligned(random, rows, 0)
    lines = ["|".join([f" {cell} " for cell in row]).rstrip() for row in rows]
    return [lines[0], "+".join(["-" * (len(cell) + 2) for cell in rows[0]]), *lines[1:]]


def _fixed(random: Random, rows: list[list[str]]) -> list[str]:
    gap = random.choice((1, 2, 3))
    return ["".join([cell + " " * gap for cell in row]).rstrip() for row in _aligned(random, rows, 0)]


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str, Random]:
    """Draw a notation, a text in it, and what determines what a rule removes."""
    random = Random(draw(st.integers(0, 1 << 30)))
    build = draw(some(_csv, _markdown, _psql, _fixed))
    names = random.sample(NAMES, random.randrange(2, 6))
    lines = build(random, [names, *_cells(random, len(names))])
    if random.random() < 0.2:
        lines.append(random.choice(MARKERS))
    before = random.choice(("", "", "\ufeff", "# about\n", "##\n") if build is _csv else ("", "", "Text.\n\n", "# A\n"))
    after = random.choice(
        ("", "\n", "\n", "\n\n") if build is _csv else ("", "\n", "\n(2 rows)\n", "\n\nMore  text.\n")
    )
    text = before + "\n".join(lines) + after
    return "csv" if build is _csv else "table", text.replace("\n", random.choice(("\n", "\n", "\r\n"))), random


def part(value: list[Any], random: Random) -> list[Any]:
    """Return what a rule could leave of some rows: fewer rows, keys and characters, with a marker at the end."""
    rows = [row for row in value if type(row) is dict]
    lost = {key for key in rows[0] if random.random() < random.choice((0, 0.3, 0.7))} if rows else set()
    share = random.choice((0.2, 0.6, 1))
    kept: list[Any] = [_row(row, lost, random) for row in rows if random.random() < share]
    if random.random() < 0.8:  # fixed columns have no line for a row without a text
        kept = [row for row in kept if any(row.values())]
    if not kept or random.random() < 0.5:
        kept.append(random.choice(MARKERS))
    return kept


def _row(row: dict[str, str], lost: set[str], random: Random) -> dict[str, str]:
    loses = random.random() < 0.1
    kept = {key: text for key, text in row.items() if key not in lost and not (loses and random.random() < 0.5)}
    for key, text in kept.items():
        if len(text) > 25 and random.random() < 0.5:
            kept[key] = cut(text, random)
        elif random.random() < 0.05:
            kept[key] = ""
    return kept


def check(notation: str, text: str, random: Random) -> bool:
    """Check the laws for one text, and return whether something was removed."""
    found = read_as(text, [notation])
    if found is None:
        return False
    value, form = found
    assert form.write(value) == text
    new = part(value, random)
    written = form.write(new)
    again = read_as(written, [notation])
    assert again is not None
    assert is_part(new, again[0])
    assert is_part(again[0], value) or is_marker(again[0][-1])
    assert again[1].write(new) == written
    if "…[" not in str(new):
        assert len(written) <= len(text)
    if written != text and type(new[-1]) is str:
        assert again[0][-1] == new[-1]
    return written != text


@laws
@given(texts())
def test_rows_columns_and_cells_are_removed(drawn: tuple[str, str, Random]) -> None:
    notation, text, random = drawn
    event(f"{notation}: {'removed' if check(notation, text, random) else 'nothing'}")


@pytest.mark.parametrize("path", [*ANSWERS.glob("csv/*.txt"), *ANSWERS.glob("table/*.txt")], ids=lambda path: path.stem)
def test_parts_of_recorded_answers(path: Path) -> None:
    text = path.read_bytes().decode()
    notation = path.parent.name
    removed = [check(notation, text, Random(seed)) for seed in range(20)]
    assert sum(removed) >= (10 if path.stem == "huawei-arp" else 15), "only huawei-arp has cells beside their columns"


ALPHABET = (
    "a",
    "b  c",
    "|",
    "|-|",
    "---",
    "-+-",
    "\n",
    "\r\n",
    ",",
    ";",
    "\t",
    '"',
    "#",
    "A  B\n",
    "…[3 more items]",
    " ",
)


@laws
@given(st.lists(some(*ALPHABET), max_size=40).map("".join), st.integers(0, 1 << 30))
def test_any_text_is_read_or_is_none(text: str, seed: int) -> None:
    for notation in ("csv", "table"):
        check(notation, text, Random(seed))
