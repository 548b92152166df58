"""What steps removed and what was restored, summed up for people: one line for each kind of place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal

from reducer.engine import Edit
from reducer.paths.written import Token, path_text
from reducer.values import dump

Kind = Literal["removed", "emptied", "cut", "unwrapped", "restored"]
Pattern = tuple[Token, ...]

_MANY_KEYS = 8
"""Changed keys of one object above which it counts as a map, whose keys are written as `*`."""
_MAX_NAMES = 6
"""Removed keys of alike objects that have a line each; more are named on one line."""
_SAMPLE = 64
_KINDS: dict[str, Kind] = {"key": "removed", "items": "removed", "emptied": "emptied", "cut": "cut"}


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was removed or restored, at one place or at several alike.

    `path` is JMESPath; removed items are `list[20..57]`, by their indices in the return as it arrived. `places` counts
    lists, keys or texts, `items` the items out of `total`, 0 for anything else; `before` and `after` are characters.
    `names` are keys that share a line, `sample` is the beginning of the first value.
    """

    kind: Kind
    path: str
    places: int
    items: int
    total: int
    before: int
    after: int
    names: tuple[str, ...]
    sample: str


def changes(edits: Iterable[Edit], restored: bool = False) -> tuple[Change, ...]:
    """Sum up edits of the same kind at places alike, in the order of the first of each; `restored` is what they are."""
    edits = tuple(edits)
    maps = _maps(edits)
    groups: dict[tuple[str, Pattern], list[Edit]] = {}
    for edit in edits:
        groups.setdefault((edit.kind, _pattern(edit, maps)), []).append(edit)
    return tuple(
        _change("restored" if restored else _KINDS.get(kind, "unwrapped"), pattern, found, names)
        for kind, pattern, found, names in _named_together(groups)
    )


def _maps(edits: Iterable[Edit]) -> Set[tuple[Any, ...]]:
    """Return the paths of objects with many changed values."""
    below: dict[tuple[Any, ...], set[str]] = {}
    for edit in edits:
        path = edit.path[:-1] if edit.kind == "key" else edit.path
        for depth, token in enumerate(path):
            if type(token) is str:
                below.setdefault(path[:depth], set()).add(token)
    return {path for path, keys in below.items() if len(keys) > _MANY_KEYS}


def _pattern(edit: Edit, maps: Set[tuple[Any, ...]]) -> Pattern:
    last = len(edit.path) - 1 if edit.kind == "key" else len(edit.path)
    return tuple(
        -1 if type(token) is int else None if depth < last and edit.path[:depth] in maps else token
        for depth, token in enumerate(edit.path)
    )


def _named_together(
    groups: dict[tuple[str, Pattern], list[Edit]],
) -> Iterator[tuple[str, Pattern, list[Edit], tuple[str, ...]]]:
    """Yield the groups; one for all keys of alike objects if they are many, with the names of the keys."""
    beside: dict[tuple[Any, ...], dict[Pattern, list[Edit]]] = {}
    for (kind, pattern), edits in groups.items():
        alike = pattern[:-1] if kind in ("key", "emptied") else (pattern,)
        beside.setdefault((kind, alike), {})[pattern] = edits
    for (kind, alike), found in beside.items():
        if len(found) <= _MAX_NAMES:
            for pattern, edits in found.items():
                yield kind, pattern, edits, ()
        else:
            largest = sorted(found, key=lambda pattern: -_characters(found[pattern]))
            together = [edit for edits in found.values() for edit in edits]
            yield kind, (*alike, None), together, tuple(str(pattern[-1]) for pattern in largest)


def _characters(edits: Iterable[Edit]) -> int:
    return sum(abs(edit.before - edit.after) for edit in edits)


def _change(kind: Kind, pattern: Pattern, edits: list[Edit], names: tuple[str, ...]) -> Change:
    first, places = edits[0], len(edits)
    items = sum(len(edit.indices) for edit in edits)
    value = first.value[0] if items else first.value
    tokens = first.path if places == (len(names) or 1) else pattern
    path = path_text(tokens[:-1] if names else tokens)
    if items:
        path = ("" if path == "@" else path) + (f"[{_ranges(first.indices)}]" if places == 1 else "[*]")
    return Change(
        kind=kind,
        path=path,
        places=places,
        items=items,
        total=sum(edit.total for edit in edits),
        before=sum(edit.before for edit in edits),
        after=sum(edit.after for edit in edits),
        names=names,
        sample="" if names else beginning(value),
    )


def _ranges(indices: Sequence[int]) -> str:
    """Write indices as `3, 20..57`; after four of those `…`."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    texts = [str(a) if a == b else f"{a}..{b}" for a, b in runs[:4]]
    return ", ".join([*texts, "…"] if len(runs) > 4 else texts)


def beginning(value: Any, width: int = _SAMPLE) -> str:
    """Return the beginning of a value on one line of at most `width` characters, and `…` if there is more."""
    text = value if type(value) is str else _beginning(value, width * 4)
    text = " ".join(text[: width * 4].split())
    return text if len(text) <= width else f"{text[:width]}…"


def _beginning(value: Any, room: int) -> str:
    """Write about `room` characters of a value, which may have megabytes."""
    if room <= 0 or type(value) not in (dict, list):
        return dump(value if type(value) is not str else value[: _SAMPLE * 4])
    parts: list[str] = []
    for key in value:
        inner = _beginning(value[key] if type(value) is dict else key, room // 2)
        parts.append(f"{dump(key)}: {inner}" if type(value) is dict else inner)
        room -= len(parts[-1])
        if room <= 0:
            break
    inside = ", ".join(parts)
    return f"{{{inside}}}" if type(value) is dict else f"[{inside}]"
