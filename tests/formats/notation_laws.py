"""What every notation of text must hold, and random parts of values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import yaml

from reducer.formats import read_as
from reducer.formats.parts import is_part

ANSWERS = Path(__file__).with_name("answers")
END = ("", "\n", "\r\n", "\n\n")

_UNITS = (
    "#",
    "# ",
    "# a\n",
    "a\n---\n",
    "---\n",
    "```\n",
    "~~~",
    "- ",
    "|",
    "`",
    " ",
    "\t",
    "\n",
    " \n",
    "\r\n",
    "\r",
    "]\n",
    "[",
)
HOSTILE = [
    *((unit * 100_000)[:100_000] for unit in _UNITS),
    *(
        (unit * 100_000)[:100_000]
        for unit in ("a: b\n", "a: b\nc: d\n\n", "t\n  a: b\n  c: d\n\n", "a. . . ", ":", "a ", '"')
    ),
    *("# a\n```\n" + "…[1 more characters" * 5_000, "a: b\nc: d\n" + "…[1 more items]\n\n" * 5_000, "[" * 100_000),
]
"""Texts on which a reader must not raise and must take linear time."""


def recorded(notation: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the recorded answers in a notation, by name: the text, and what an agent needs of it."""
    found = {}
    for path in sorted((ANSWERS / notation).glob("*.txt")):
        needs = yaml.safe_load(path.with_suffix(".yaml").read_text("utf-8"))
        found[path.stem] = (path.read_bytes().decode(), needs)
    return found


def assembled(chosen: Random, pieces: tuple[str, ...]) -> str:
    """Return a text of random pieces with one kind of line ends."""
    text = "".join(chosen.choice(pieces) for _ in range(chosen.randrange(30)))
    if chosen.random() < 0.2:
        text = text.replace("\n", "\r\n")
    if chosen.random() < 0.1:
        text = "\ufeff" + text
    return text.rstrip("\r\n") + chosen.choice(END)


def cut(text: str, chosen: Random) -> str:
    """Return a text without its end or its middle, which a marker counts, or the whole text if that is not longer."""
    head, tail = chosen.randrange(len(text) + 1), chosen.choice((0, 0, 3))
    removed = len(text) - head - tail
    marker = f"{' ' if head else ''}…[{removed} more characters]{'…' if tail and chosen.random() < 0.5 else ''}"
    return f"{text[:head]}{marker}{text[len(text) - tail :]}" if len(marker) < removed else text


def part_of(value: Any, chosen: Random) -> Any:
    """Return a random part of a value, as a reduction leaves it."""
    if type(value) is str:
        if not value:
            return value
        return chosen.choice((value, value, value, cut(value, chosen), ""))
    if type(value) is dict:
        return {key: part_of(item, chosen) for key, item in value.items() if chosen.random() < 0.7}
    if type(value) is not list:
        return value
    share = chosen.choice((0.2, 0.5, 0.9))
    kept = [item if chosen.random() < 0.5 else part_of(item, chosen) for item in value if chosen.random() < share]
    if len(kept) < len(value) and chosen.random() < 0.6:
        kept.append(f"…[{len(value) - len(kept)} more items]")
    return kept


def check(notation: str, text: str, parts: int, chosen: Random) -> Iterator[bool]:
    """Check the laws of writing for a text in a notation, and yield whether each part was written."""
    found = read_as(text, [notation])
    if found is None:
        return
    value, form = found
    assert form.write(value) == text
    for _ in range(parts):
        new = part_of(value, chosen)
        written = form.write(new)
        if written == text:
            yield new == value
            continue
        again, second = read_as(written, [notation]) or (None, form)
        assert is_part(new, again)
        assert is_part(again, value)
        assert second.write(again) == written
        assert second.write(new) == written
        yield True
