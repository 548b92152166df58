"""Which keys of a tool's answers hold much and were never referred to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from reducer.codecs import decode
from reducer.learn.evidence import Seen
from reducer.references import searched, searcher
from reducer.values import is_media

_STATIC = re.compile(r"[A-Za-z_@$][A-Za-z_@$ -]*(?:\d{1,2}[A-Za-z_]*)?")
"""Names that somebody thought of: no ids, addresses or dates."""
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEEPEST = 8
_SHORTEST, _LONGEST = 2, 60
"""Characters of values of which every mention counts as a use."""
_SWITCHES = frozenset({"true", "false", "null", "None", "True", "False"})
_LEAST_RETURNS = 5
_LEAST_SHARE = 0.01
_STEADY = 0.6
"""Share of the objects at a place that have a key: others may name a thing and not a kind of thing."""


@dataclass(slots=True)
class _Place:
    """The objects at one place: how many, and of each of their keys the characters, uses, objects and returns."""

    objects: int = 0
    chars: dict[str, int] = field(default_factory=dict)
    uses: dict[str, int] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)
    returns: dict[str, set[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unused:
    """Keys of the objects at `path` that no reference stood in, and the characters that they hold."""

    path: str
    keys: tuple[str, ...]
    chars: int

    def step(self) -> dict[str, Any]:
        """Write the step that drops them."""
        return {**({"path": self.path} if self.path else {}), "drop": [_key(key) for key in self.keys]}


def unused(returns: Sequence[Seen]) -> list[Unused]:
    """Give the keys of a tool's returns that hold 1% of the characters and more, in five returns and more, and that were never used."""
    places: dict[str, _Place] = {}
    for number, seen in enumerate(returns):
        content = decode(seen.content) if type(seen.content) is str else seen.content
        if type(content) in (dict, list):
            _walk(content, "", number, places, _uses_in(seen), 0)
    least = _LEAST_SHARE * sum(seen.chars for seen in returns)
    found: list[Unused] = []
    for path, place in sorted(places.items()):
        keys = tuple(key for key in sorted(place.chars) if _is_unused(place, key, least))
        # An object whose keys are all of no use is dropped by the key that it stands under, or not at all.
        if keys and len(keys) < len(place.chars) and not any(_is_below(path, other) for other in found):
            found.append(Unused(path, keys, sum(place.chars[key] for key in keys)))
    return found


def _uses_in(seen: Seen) -> Callable[[str], set[str]]:
    """Give the function that finds what of a text was used: references, and short values that the agent wrote later, distinctive or not."""
    search = searcher(seen.wanted)

    def uses(text: str) -> set[str]:
        found = search(text)
        return {text} if not found and _SHORTEST <= len(text) <= _LONGEST and text not in _SWITCHES and seen.is_said(text) else found

    return uses


def _is_unused(place: _Place, key: str, least: float) -> bool:
    steady = place.held[key] >= _STEADY * place.objects and len(place.returns[key]) >= _LEAST_RETURNS
    return steady and not place.uses[key] and place.chars[key] >= least and _STATIC.fullmatch(key) is not None


def _is_below(path: str, other: Unused) -> bool:
    return any(path == inner or path.startswith((inner + ".", inner + "[")) for inner in (_join(other.path, key) for key in other.keys))


def _walk(value: Any, path: str, number: int, places: dict[str, _Place], uses_in: Callable[[str], set[str]], depth: int) -> tuple[int, set[str]]:
    """Note what is in a value; give its characters and the references in it."""
    if type(value) is str and depth < _DEEPEST and value[:1] in ("{", "[", "("):
        opened = decode(value)
        if opened is not value:
            return _walk(opened, path, number, places, uses_in, depth + 1)
    if depth >= _DEEPEST or type(value) not in (dict, list) or is_media(value):
        text = searched(value if type(value) in (str, dict, list) else [value])
        return len(text) + 2, uses_in(text)
    chars, found = 2, set[str]()
    if type(value) is list:
        for item in value:
            size, uses = _walk(item, f"{path}[*]", number, places, uses_in, depth + 1)
            chars += size + 1
            found |= uses
        return chars, found
    place = places.setdefault(path, _Place())
    place.objects += 1
    for key, item in value.items():
        size, uses = _walk(item, _join(path, key), number, places, uses_in, depth + 1)
        size += len(key) + 4
        place.chars[key] = place.chars.get(key, 0) + size
        place.uses[key] = place.uses.get(key, 0) + len(uses)
        place.held[key] = place.held.get(key, 0) + 1
        place.returns.setdefault(key, set()).add(number)
        chars += size
        found |= uses
    return chars, found


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else '"' + key + '"'


def _join(path: str, key: str) -> str:
    return f"{path}.{_key(key)}" if path else _key(key)
