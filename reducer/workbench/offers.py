"""What the page offers for a clicked value: steps that keep, drop, limit or cut it, and a test that it stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from reducer.analysis.query import compile_query, query
from reducer.errors import shortened
from reducer.formats.lines import read_lines
from reducer.operations.fields import compile_target
from reducer.paths import PathError
from reducer.paths.written import path_text
from reducer.workbench.steps import notation_at

_MOST_ITEMS, _MOST_CHARACTERS = 20, 400
"""The largest values that are offered for `limit` and `truncate`."""
_MIN_TEXT = 40
"""The length of a text that is worth a cut."""
_MIN_LINES = 4
"""The number of lines of which some are kept at both ends."""
_QUOTED = 60
"""The characters of a line, a value or a label that are written."""
_CAPITALS = re.compile(r"\b[A-Z]{3,}\b")
_WITHOUT_DIGITS = re.compile(r"\D+")


class Offer(NamedTuple):
    """A step to offer: its label, its path, its action with a value, and the notation of the text at its path."""

    label: str
    path: str
    action: str
    value: Any
    notation: str = ""


def offered(text: str, keys: Sequence[int | str], content: Any) -> Iterator[Offer]:
    """Yield the steps to offer for the value at these keys of a return, to which a rule with this text applies.

    Raises `PathError` and `Unreducible`.
    """
    line = _line(text, keys, content)
    if line is not None:
        yield from _of_line(place_of(keys[:-1]), *line)
        return
    if keys and isinstance(keys[-1], str) and (name := _key_name(keys[-1])):
        # `keep` and `drop` look into the items of a list, so the path of the list is enough.
        path = place_of(keys[:-1]).removesuffix("[*]") or "@"
        yield Offer("keep", path, "keep", [name])
        yield Offer("drop", path, "drop", [name])
    notation = notation_at(text, "@")
    path = place_of(keys)
    for place in (path, _list_around(keys)):
        if most := _longest(place, content, list, notation):
            limit = min(_MOST_ITEMS, max(1, most // 2))
            yield Offer(f"limit {limit}", place, "limit", limit)
            break
    most, lines = _longest(path, content, str, notation), _most_lines(path, content)
    if lines >= _MIN_LINES:
        yield _both_ends(path, lines, "text: lines, limit", "lines")
    if most >= _MIN_TEXT:
        length = min(_MOST_CHARACTERS, most // 2)
        yield Offer(f"truncate {length}", path, "truncate", length)


def place_of(keys: Sequence[int | str]) -> str:
    """Write keys and indexes as a path in which every index is `[*]`."""
    return path_text([-1 if isinstance(key, int) else key for key in keys])


def _list_around(keys: Sequence[int | str]) -> str:
    """Return the path of the innermost list around a value, or of the whole return."""
    outer = list(keys)
    while outer and isinstance(outer.pop(), str):
        pass
    return place_of(outer)


def _key_name(key: str) -> str:
    """Return how `keep` and `drop` name one key: as it is, in quotes, or not at all if it contains `*`."""
    if "*" in key:
        return ""
    with suppress(PathError):
        target = compile_target(key)
        if target.chain == (key,) and target.lists is None:
            return key
    return json.dumps(key, ensure_ascii=False)


def _longest(path: str, content: Any, kind: type[list[Any] | str], notation: str = "") -> int:
    """Return the length of the longest list or text at a path."""
    return max(map(len, _values(path, content, kind, notation)), default=0)


def _values(path: str, content: Any, kind: type[list[Any] | str], notation: str = "") -> list[Any]:
    places = query(compile_query(path), content, (notation,) if notation else ()).places
    return [value for _, value in places if isinstance(value, kind)]


# --- lines


def _most_lines(path: str, content: Any) -> int:
    return max((text.count("\n") for text in _values(path, content, str)), default=0)


def _line(text: str, keys: Sequence[int | str], content: Any) -> tuple[str, int] | None:
    """Return the line at these keys and the number of lines around it, or None if the value is no line of a text."""
    if not keys or not isinstance(keys[-1], int) or notation_at(text, place_of(keys[:-1])) != "lines":
        return None
    for whole in _values(path_text(keys[:-1]), content, str):
        lines, _ = read_lines(whole)
        if keys[-1] < len(lines):
            return lines[keys[-1]], len(lines)
    return None


def _of_line(path: str, line: str, lines: int) -> Iterator[Offer]:
    """Yield steps for lines like this one, which contain the same words, and steps for the ends of the text."""
    for words in _alike(line):
        quoted = words.replace("'", "\\'")
        for action in ("keep", "drop"):
            label = f"{action} lines with {shortened(words, _QUOTED // 2)}"
            yield Offer(label, path, action, [f"[?contains(@, '{quoted}')]"], "lines")
    limit = min(_MOST_ITEMS, max(1, lines // 2))
    yield Offer(f"limit {limit}", path, "limit", limit, "lines")
    if lines >= _MIN_LINES:
        yield _both_ends(path, lines, "limit", "lines")


def _alike(line: str) -> list[str]:
    """Return what lines like this one contain: the first word in capitals, and the longest part without digits."""
    capitals = _CAPITALS.search(line)
    longest = max(_WITHOUT_DIGITS.findall(line), key=len, default="").strip()[:_QUOTED].strip()
    found = [capitals[0] if capitals else "", longest]
    return list(dict.fromkeys(filter(None, found)))


def _both_ends(path: str, lines: int, label: str, notation: str) -> Offer:
    end = min(_MOST_ITEMS, lines // 4)
    return Offer(f"{label} {end} + {end}", path, "limit", {"head": end, "tail": end}, notation)


# --- tests


def expectation(keys: Sequence[int | str], content: Any, text: str) -> tuple[str, dict[str, Any]] | None:
    """Return the name of a test that the value at these keys stays, and what it expects, or None for lists and objects.

    A value in a list may have another index in the result, so the result contains it.
    """
    path = path_text(keys)
    line = _line(text, keys, content)
    found = [line[0]] if line else [value for _, value in query(compile_query(path), content).places]
    if not found or isinstance(found[0], (list, dict)) or found[0] in (None, ""):
        return None
    value = found[0]
    if isinstance(value, str):
        part = value[:_QUOTED] if line else value.split("\n")[0][:_QUOTED]
        return f"{shortened(part, _QUOTED)} stays", {"contains": [part]}
    if any(isinstance(key, int) for key in keys):
        return None
    return f"{path} stays", {"values": {path: value}}
