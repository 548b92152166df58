"""A reduction as a plan of what to leave out: a sparse tree next to the return, and one function that builds the
result.

Every action removes something and none adds anything, so the result is a subset of the return, in order, with its types
kept. `Place` adds to the plan, `restore` lays over it what must not vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from reducer.engine.cuts import Cut
from reducer.formats import Atom, Bracketed
from reducer.markers import Marker
from reducer.values import MAX_DEPTH, PLAIN, chars, is_media, shown

_EMPTY = frozenset({str, list, dict})
_TEXT = frozenset({str})


class Omission:
    """What a list or an object leaves out.

    `kept`: the indices of a list in order, or the names of the keys; None keeps all of them. `inside`: the plans of
    children that are cut further. `versions`: what was kept after each step that removed something, with the number of
    the step. `earlier`: the marker that an earlier pass left as the last item, which is never among those kept.

    The overlay: `restored` has removed children that stay all the same, each with its plan; `marker` is appended.
    """

    # Defaults of the class and not of each node: there is one for every record of a list.
    kept: Collection[Any] | None = None
    versions: tuple[tuple[int, Collection[Any]], ...] = ()
    earlier: Marker | None = None
    restored: dict[Any, Node | None] | None = None
    marker: str = ""

    def __init__(self) -> None:
        self.inside: dict[Any, Node] = {}

    def keep(self, kept: Collection[Any], step: int) -> None:
        """Keep no more than these indices or keys from step `step` on."""
        self.kept = kept
        self.versions += ((step, kept),)


class Opened:
    """A text, tuple or live object that contains structure: its `value`, and how to write it back.

    The plan of `value` is `inside[0]`. If nothing of it is omitted, the result is the original. `is_json`: the original
    is JSON text, which `unwrap` replaces with its value. `least`: items that a list must keep to be read back as one.
    `unwrapped`: the step that replaces it with its value, or 0.
    """

    __slots__ = ("inside", "is_json", "least", "unwrapped", "value", "write")

    def __init__(self, value: Any, write: Callable[[Any], Any], is_json: bool = False, least: int = 0) -> None:
        self.value = value
        self.write = write
        self.inside: dict[Any, Node] = {}
        self.is_json = is_json
        self.least = least
        self.unwrapped = 0

    def without_plan(self) -> Opened:
        """Return the same with an empty plan."""
        return Opened(self.value, self.write, self.is_json, self.least)


class Emptied:
    """A text, list or object under a key that stays; `before` is its plan when step `step` emptied it.

    The overlay: `restored` is the plan of what is restored of it.
    """

    __slots__ = ("before", "empty", "restored", "step")

    def __init__(self, step: int, empty: Any, before: Node | None) -> None:
        self.step = step
        self.empty = empty
        self.before = before
        self.restored: Node | None = None


Node = Omission | Opened | Emptied | Cut
WHOLE = Omission()
"""The plan of an emptied value of which all is restored."""


def empty_of(value: Any) -> Any:
    """Return the empty value of the type of a text, list or object; None for anything else and for what is empty."""
    if has_structure(value):
        value = open_live(value).value
    return type(value)() if type(value) in _EMPTY and value and not is_media(value) else None


def as_it_is(value: Any) -> Any:
    """Write a live object back: as the plain value that stands for it."""
    return value


def open_live(value: Any) -> Opened:
    """Open a tuple, a node of a Python literal or a live object. Raises `Unreducible` for one without a JSON form."""
    if type(value) is tuple:
        return Opened([*value], tuple)
    if type(value) is Bracketed:
        return Opened(value.value, value.with_value, least=value.least)
    return Opened(shown(value), as_it_is)


def has_structure(value: Any) -> bool:
    """Return whether a value is neither plain nor atomic, so that it must be opened before a step can look into it.

    An object is plain if all its keys are texts.
    """
    if type(value) is dict:
        return not _TEXT.issuperset(map(type, value)) and not is_media(value)
    return type(value) not in PLAIN and type(value) is not Atom and not is_media(value)


def build(value: Any, node: Node | None, seen: bool = False) -> Any:
    """Return the value without what the plan leaves out; the same object if that is nothing.

    With `seen`, return it as steps see it: texts with structure as what they contain, and without the overlay.
    """
    kind = type(node)
    if kind is Omission:
        built = _build_object if type(value) is dict else _build_list
        return built(value, node, seen)  # type: ignore[arg-type]
    if kind is Cut:
        return node.written if seen or node.restored is None else node.restored  # type: ignore[union-attr]
    if kind is Opened:
        result = build(node.value, node.inside.get(0), seen)  # type: ignore[union-attr]
        if seen or (node.unwrapped and chars(result, most := chars(value)) <= most):  # type: ignore[union-attr]
            return result
        return value if result is node.value else write_back(value, node, result)  # type: ignore[union-attr, arg-type]
    if kind is Emptied:
        if not seen and node.restored is not None:  # type: ignore[union-attr]
            return value if node.restored is WHOLE else build(value, node.restored)  # type: ignore[union-attr, arg-type]
        return () if type(value) is tuple and not seen else type(node.empty)()  # type: ignore[union-attr]
    return value


def _build_object(value: dict[str, Any], node: Omission, seen: bool) -> dict[str, Any]:
    kept, inside, restored = node.kept, node.inside, None if seen else node.restored
    if not inside and not restored:
        return value if kept is None else {key: item for key, item in value.items() if key in kept}
    restored = restored or {}
    new = {
        key: build(item, restored[key] if key in restored else inside.get(key), seen)
        for key, item in value.items()
        if kept is None or key in kept or key in restored
    }
    return value if len(new) == len(value) and all(new[key] is item for key, item in value.items()) else new


def _build_list(value: list[Any], node: Omission, seen: bool) -> list[Any]:
    kept, inside, restored = node.kept, node.inside, None if seen else node.restored
    indices: Collection[int] = range(len(value)) if kept is None else kept
    if restored:
        inside = {**inside, **restored}  # type: ignore[dict-item]
        indices = sorted({*indices, *restored})
    items = [build(value[i], inside[i], seen) if i in inside else value[i] for i in indices]
    if node.marker and not seen:
        items.append(node.marker)
    return value if len(items) == len(value) and all(map(_is, items, value)) else items


def _is(a: object, b: object) -> bool:
    return a is b


def holds_texts(value: Any, node: Node | None) -> bool:
    """Return whether this is a list of texts, none of which contains structure that was opened."""
    return (
        type(value) is list
        and bool(value)
        and type(text_of(value[0])) is str
        and all(type(text_of(item)) is str for item in value)
        and not (
            type(node) is Omission
            and any(type(inner) is Opened and type(inner.value) is not str for inner in node.inside.values())
        )
    )


def text_of(item: Any) -> Any:
    """Return an item as it is stored if it is a live object such as an enum; any other item as it is."""
    return open_live(item).value if type(item) is not str and has_structure(item) else item


def write_back(old: Any, opened: Opened, left: Any) -> Any:
    """Write what is left of an opened text or live object; a text only if it is shorter, also inside another text."""
    new = opened.write(left)
    if type(old) is not str or type(new) is not str:
        return new
    # Every text around it escapes quotes and backslashes once more.
    fewer = new.count('"') + new.count("\\") <= old.count('"') + old.count("\\")
    return new if len(new) < len(old) and fewer else old


def contains_media(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Return whether a value of lists and objects has media in it, or more levels than that."""
    if type(value) not in (dict, list):
        return False
    if depth < 0 or is_media(value):
        return True
    items = value.values() if type(value) is dict else value
    return any(contains_media(item, depth - 1) for item in items)
