"""A reduction as a plan of what to leave out: a sparse tree next to the return, and one function that builds the
result.

Every action removes something and none adds anything, so the result is a subset of the return, in order, with its types
kept. `Place` adds to the plan, `restore` lays over it what must not vanish.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import islice
from operator import is_
from typing import Any

from reducer.engine.cuts import Cut
from reducer.formats import Atom, Bracketed, Format, parse
from reducer.markers import Marker
from reducer.values import MAX_DEPTH, PLAIN, chars, is_media, shown

LAST = sys.maxsize
"""The number of a step after all others."""
_EMPTY = frozenset({str, list, dict})
_TEXT = frozenset({str})
_SCALARS = frozenset({str, int, float, bool, type(None)})


@dataclass(slots=True, eq=False)
class Omission:
    """What a list or an object leaves out.

    `kept`: the indices of a list in order, or the names of the keys; None keeps all of them. `versions`: what was kept
    after each step that removed something, with the number of the step. `inside`: the plans of children that are cut
    further. `earlier`: the marker that an earlier pass left as the last item, which step 0 removes.

    The overlay: `restored` has removed and emptied children that stay all the same, each with its plan; `marker` is
    appended.
    """

    kept: Collection[Any] | None = None
    versions: tuple[tuple[int, Collection[Any]], ...] = ()
    inside: dict[Any, Node] = field(default_factory=dict)
    earlier: Marker | None = None
    restored: dict[Any, Node | None] | None = None
    marker: str = ""

    def keep(self, kept: Collection[Any], step: int) -> None:
        """Keep no more than these indices or keys from step `step` on."""
        self.kept = kept
        self.versions += ((step, kept),)

    def kept_after(self, step: int) -> Collection[Any] | None:
        """Return what is kept after a step."""
        return next((kept for number, kept in reversed(self.versions) if number <= step), None)


@dataclass(slots=True, eq=False)
class Opened:
    """A text, tuple or live object that contains structure: its `value`, and how to write it back.

    The plan of `value` is `inside[0]`. If nothing of it is omitted, the result is the original. `is_json`: the original
    is JSON text, which `unwrap` replaces with its value. `least`: items that a list must keep to be read back as one.
    `unwrapped`: the step that replaces it with its value, or 0.
    """

    value: Any
    write: Callable[[Any], Any]
    is_json: bool = False
    least: int = 0
    unwrapped: int = 0
    inside: dict[Any, Node] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Emptied:
    """A text, list or object under a key that stays; `before` is its plan when step `step` emptied it."""

    step: int
    empty: Any
    before: Node | None = None


Node = Omission | Opened | Emptied | Cut


def build(value: Any, node: Node | None, step: int | None = None, seen: bool = False) -> Any:
    """Return the value without what the plan leaves out; the same object if that is nothing.

    With `step`, return it as that step left it (0: as it arrived), without the overlay. With `seen`, texts that contain
    structure are what they contain.
    """
    if type(node) is Omission:
        built = _build_object if type(value) is dict else _build_list
        return built(value, node, step, seen)
    if type(node) is Cut:
        return node.left(step)
    if type(node) is Opened:
        return _build_opened(value, node, step, seen)
    if type(node) is Emptied:
        if step is not None and step < node.step:
            return build(value, node.before, step, seen)
        return () if type(value) is tuple and not seen else type(node.empty)()
    return value


def _build_object(value: dict[str, Any], node: Omission, step: int | None, seen: bool) -> dict[str, Any]:
    kept = node.kept if step is None else node.kept_after(step)
    inside, restored = node.inside, node.restored if step is None else None
    if not inside and not restored:
        return value if kept is None else {key: item for key, item in value.items() if key in kept}
    restored = restored or {}
    new = {
        key: build(item, restored[key] if key in restored else inside.get(key), step, seen)
        for key, item in value.items()
        if kept is None or key in kept or key in restored
    }
    return value if len(new) == len(value) and all(map(is_, new.values(), value.values())) else new


def _build_list(value: list[Any], node: Omission, step: int | None, seen: bool) -> list[Any]:
    kept = node.kept if step is None else node.kept_after(step)
    inside: dict[Any, Node | None] = node.inside  # type: ignore[assignment]
    indices: Collection[int] = range(len(value)) if kept is None else kept
    if node.restored and step is None:
        inside = {**inside, **node.restored}
        indices = sorted({*indices, *node.restored})
    items = [build(value[i], inside[i], step, seen) if i in inside else value[i] for i in indices]
    if node.marker and step is None:
        items.append(node.marker)
    return value if len(items) == len(value) and all(map(is_, items, value)) else items


def _build_opened(value: Any, node: Opened, step: int | None, seen: bool) -> Any:
    left = build(node.value, node.inside.get(0), step, seen)
    if seen:
        return left
    if node.unwrapped and (step is None or node.unwrapped <= step) and chars(left, most := chars(value)) <= most:
        return left
    if left is node.value:
        return value
    new = node.write(left)
    if type(value) is not str or type(new) is not str:
        return new
    # Every text around it escapes quotes and backslashes once more.
    fewer = new.count('"') + new.count("\\") <= value.count('"') + value.count("\\")
    return new if len(new) < len(value) and fewer else value


# --- values with structure


def open_return(content: Any) -> Opened | None:
    """Open a content as a whole; None for one that rules never change. Raises `Unreducible`."""
    if type(content) is str:
        parsed = parse(content)
        return Opened(content, as_it_is) if parsed is None else open_parsed(*parsed)
    if is_media(content):
        return None
    top = open_live(content)
    return top if type(top.value) in _EMPTY else None


def open_parsed(value: Any, format: Format) -> Opened:
    """Open a text that was read as a value in a format."""
    if type(value) is list or type(value) is dict:
        return Opened(value, format.write, format.is_json, format.least)
    inner = open_live(value)
    return Opened(inner.value, lambda new: format.write(inner.write(new)), least=inner.least)


def open_live(value: Any) -> Opened:
    """Open a tuple, a node of a Python literal or a live object. Raises `Unreducible` for one without a JSON form."""
    if type(value) is tuple:
        return Opened([*value], tuple)
    if type(value) is Bracketed:
        return Opened(value.value, value.with_value, least=value.least)
    return Opened(shown(value), as_it_is)


def as_it_is(value: Any) -> Any:
    """Write a live object back: as the plain value that stands for it."""
    return value


def has_structure(value: Any) -> bool:
    """Return whether a value is neither plain nor atomic, so that it must be opened before a step can look into it.

    An object is plain if all its keys are texts.
    """
    if type(value) is dict:
        return not _TEXT.issuperset(map(type, value)) and not is_media(value)
    return type(value) not in PLAIN and type(value) is not Atom and not is_media(value)


def text_of(item: Any) -> Any:
    """Return an item as it is stored if it is a live object such as an enum; any other item as it is."""
    return open_live(item).value if type(item) is not str and has_structure(item) else item


def empty_of(value: Any) -> Any:
    """Return the empty value of the type of a text, list or object; None for anything else and for what is empty."""
    value = text_of(value)
    return type(value)() if type(value) in _EMPTY and value and not is_media(value) else None


def holds_texts(value: Any, node: Node | None) -> bool:
    """Return whether this is a list of texts, none of which contains structure that was opened."""
    inside = node.inside.values() if type(node) is Omission else ()
    return (
        type(value) is list
        and bool(value)
        and all(type(text_of(item)) is str for item in value)
        and not any(type(inner) is Opened and type(inner.value) is not str for inner in inside)
    )


def fits(value: Any, depth: int = MAX_DEPTH, media: bool = False) -> bool:
    """Return whether a value has at most `depth` levels, and no media items unless they may be there."""
    if type(value) is not dict and type(value) is not list:
        return True
    if depth < 0 or (not media and is_media(value)):
        return False
    items = value.values() if type(value) is dict else value
    return _SCALARS.issuperset(map(type, items)) or all(fits(item, depth - 1, media) for item in items)


def at_least(least: int, kept: Collection[int], size: int) -> list[int]:
    """Return the kept positions in a list of `size` items, with the first others added until there are `least`."""
    others = (position for position in range(size) if position not in kept)
    return sorted([*kept, *islice(others, max(0, least - len(kept)))])
