"""Where the values at some paths stand in a JSON text, and which paths lead to the values at some places."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from json.decoder import JSONDecodeError
from typing import Any

from reducer.errors import HistoryError
from reducer.stored.text import JsonText
from reducer.validate.finding import Path

_KEY = re.compile(r'[ \t\n\r]*+"([^"\\\x00-\x1f]*+)"[ \t\n\r]*+:[ \t\n\r]*+')
_END = object()


def locate(text: str, paths: Iterable[Path], starts: Sequence[int] = ()) -> dict[Path, int]:
    """Find the first character of the value at each path; for one that is not there that of the nearest place around it.

    One pass for all paths, which passes over what is on the way to none of them at C speed; `starts`, where each item of an outermost list starts,
    spares most of it. Of two members of the same name the last counts.
    """
    wanted: dict[Any, Any] = {_END: ()}
    asked = tuple(paths)
    for path in asked:
        inner = wanted
        for step in path:
            inner = inner.setdefault(step, {_END: (*inner[_END], step)})
    source = JsonText(text)
    found: dict[Path, int] = {}
    try:
        if starts:
            found[()] = source.white(0)
            for index in [step for step in wanted if isinstance(step, int) and step < len(starts)]:
                _walk(source, starts[index], wanted[index], found)
        else:
            _walk(source, source.white(0), wanted, found)
    except (HistoryError, JSONDecodeError, RecursionError):
        pass  # the text ends, or is too deep, behind what was found
    return {path: next(found[path[:end]] for end in range(len(path), -1, -1) if path[:end] in found) for path in asked if found}


def _walk(source: JsonText, at: int, wanted: dict[Any, Any], found: dict[Path, int]) -> int:
    """Note where the value at `at` and those in it stand, and give its end. As deep as the paths are."""
    found[wanted[_END]] = at
    text = source.text
    mark = text[at : at + 1]
    if len(wanted) == 1 or mark not in ("[", "{"):
        return source.value(at)[1]
    if mark == "[":
        for index, start in enumerate(source.items(at)):
            inner = wanted.get(index)
            source.at = source.value(start)[1] if inner is None else _walk(source, start, inner, found)
        return source.at
    at = source.white(at + 1)
    while text[at : at + 1] not in ("}", ""):
        match = _KEY.match(text, at)
        if match is None:  # a key with escapes
            key, at = source.value(at)
            at = source.white(source.white(at) + 1)
        else:
            key, at = match[1], match.end()
        inner = wanted.get(key)
        at = source.white(source.value(at)[1] if inner is None else _walk(source, at, inner, found))
        if text[at : at + 1] == ",":
            at = source.white(at + 1)
    return at + 1


def paths_at(text: str, starts: Iterable[int]) -> dict[int, Path]:
    """Find the path of each value that starts at one of some places of a JSON text; a place where none is found is left out."""
    source = JsonText(text)
    wanted = sorted(set(starts))
    found: dict[int, Path] = {}

    def walk(at: int, path: Path) -> None:
        """Note the paths of what is wanted in the value at `at`."""
        if wanted[bisect_left(wanted, at) : bisect_left(wanted, at) + 1] == [at]:
            found[at] = path
        elif text[at] == "[":
            for index, start in enumerate(source.items(at)):
                look(start, (*path, index))
        elif text[at] == "{":
            for key, start in source.members(at):
                look(start, (*path, key))

    def look(start: int, path: Path) -> None:
        end = source.value(start)[1]
        if bisect_left(wanted, start) < bisect_left(wanted, end):
            walk(start, path)
        source.at = end

    try:
        if wanted:
            look(source.white(0), ())
    except (HistoryError, JSONDecodeError, RecursionError):
        pass  # the text ends, or is too deep, behind what was found
    return found
