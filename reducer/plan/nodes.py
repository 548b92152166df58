"""A plan is a sparse tree next to a return that records what to leave out; `build` applies it.

Every action removes something and none adds anything, so the result is an ordered subset of the return and keeps its
types. `Place` adds omissions to the plan, and `restore` adds an overlay with everything that must not vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import filterfalse, islice
from operator import is_
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reducer.formats import Atom, Block, Bracketed, Format, is_error, parse, read_as, read_mcp
from reducer.markers import Marker
from reducer.plan.cuts import RESULT, Cut
from reducer.values import MAX_DEPTH, PLAIN, chars, is_media, shown

NEVER = RESULT + 1
"""A step number that no step reaches."""
LAST = RESULT - 1
"""A step number after those of all steps, before restoring."""
_EMPTY = frozenset({str, list, dict})
LEAVES = PLAIN - {dict, list}
TEXT = frozenset({str})


def keys_of(value: list[Any] | dict[Any, Any]) -> Collection[Any]:
    """Return the keys of an object or the indices of a list."""
    return range(len(value)) if type(value) is list else value


# A plan is a tree, so the garbage collector need not read it: it would stop all threads for as long as it reads.
class Version(Struct, frozen=True, gc=False, eq=False):
    """The indices (in order) or keys that are kept after step `step`, which removed something."""

    step: int
    kept: Collection[Any]
    """For an object a dict with these keys or a shared set: the garbage collector reads each set, but no such dict."""


class Omission(Struct, gc=False, eq=False):
    """The items or keys that a list or an object leaves out."""

    versions: tuple[Version, ...] = ()
    inside: dict[Any, Node | None] = {}
    """The plans of children."""
    each: Version | None = None
    """The version that all kept objects of a list without a plan in `inside` share."""
    earlier: Marker | None = None
    """The marker of an earlier pass, which is the last item of the list; step 0 removes it."""
    repeats: tuple[int, ...] = ()
    """The markers of repeats, which stay; step 0 hides them."""
    restored: dict[Any, Node | None] | None = None
    """The overlay: removed or emptied children that are restored, each with its plan."""
    marker: str = ""
    """The overlay: the marker that is appended to the list."""

    def keep(self, kept: Collection[Any], step: int) -> None:
        """Keep only these indices or keys from step `step` on."""
        self.versions += (Version(step, kept),)

    def kept(self, step: int = LAST) -> Collection[Any] | None:
        """Return the indices or keys that are kept after a step, or None if all are kept."""
        for version in reversed(self.versions):
            if version.step <= step:
                return version.kept
        return None

    def leaves_nothing(self) -> bool:
        """Return whether no item or key is left."""
        kept = self.kept()
        return kept is not None and not kept

    def remaining(self, step: int = RESULT) -> tuple[Collection[Any] | None, dict[Any, Node | None]]:
        """Return the indices or keys that are left after a step, or None for all, and the plans of children."""
        kept, inside = self.kept(step), self.inside
        if step != RESULT:
            return kept, inside
        restored = self.restored or {}
        if kept is not None and (restored or self.repeats):
            kept = {*kept, *restored, *self.repeats}
        return kept, inside | restored if restored else inside

    def child(self, key: Any, value: Any) -> Node | None:
        """Return the plan of a kept child, which no longer shares its version."""
        if self.each is not None and key not in self.inside and type(value) is dict:
            self.inside[key] = Omission((self.each,))
        return self.inside.get(key)

    def separate(self, value: Any) -> dict[Any, Node | None]:
        """Return the plans of children, none of which shares its version any more."""
        if self.each is not None:
            kept = self.kept(self.each.step)
            for key in keys_of(value) if kept is None else kept:
                self.child(key, value[key])
            self.each = None
        return self.inside

    def removed(self, value: Any) -> dict[Any, int]:
        """Return the removed indices or keys of a list or an object in order, each with the step that removed it."""
        removed: dict[Any, int] = {}
        left: Collection[Any] = keys_of(value)
        for version in self.versions:
            names = frozenset(version.kept)
            removed.update(dict.fromkeys(filterfalse(names.__contains__, left), version.step))
            left = [*filter(names.__contains__, left)]
        return removed


class Opened(Struct, gc=False, eq=False):
    """A text, tuple or live object that contains structure. If nothing in it is omitted, the result is the original."""

    value: Any
    """The structure."""
    write: Callable[[Any], Any]
    """Returns the text, tuple or object for the reduced structure."""
    is_json: bool = False
    """The original is JSON text, which `unwrap` can replace with its value."""
    least: int = 0
    """The number of items that a list must keep so that its text is read as a list again."""
    notation: str = ""
    """The original is a plain text, which is read in this notation."""
    wraps: bool = False
    """The original is a wrapper of MCP around the value."""
    unwrapped: int = NEVER
    """The step that replaces the text with its value."""
    inside: dict[Any, Node | None] = {}
    """The plan of `value`, under the key 0."""
    size_before: int = -1
    """The characters of the content as it arrived, or -1 before they are first counted."""

    @property
    def plan(self) -> Node | None:
        """The plan of `value`."""
        return self.inside.get(0)

    def built(self, step: int = RESULT, seen: bool = False) -> Any:
        """Return the structure as its plan leaves it after a step; with `seen`, as steps see it."""
        return build(self.value, self.plan, step, seen)

    def size(self, value: Any) -> int:
        """Count the characters of the content with a reduced structure."""
        if value is self.value and self.size_before >= 0:
            return self.size_before
        size = chars(value if self.is_json else self.write(value))
        if value is self.value:
            self.size_before = size
        return size


class Emptied(Struct, gc=False, eq=False):
    """A text, list or object that step `step` replaced with an empty value; `before` is its plan before this step."""

    step: int
    empty: Any
    before: Node | None = None


Node = Omission | Opened | Emptied | Cut


def copied(node: Node | None) -> Node | None:
    """Return a copy of a plan that has no overlay; a step that extends the copy leaves the plan alone."""
    if type(node) is not Omission and type(node) is not Opened:
        return node
    return replace(node, inside={key: copied(child) for key, child in node.inside.items()})


def build(value: Any, node: Node | None, step: int = RESULT, seen: bool = False) -> Any:
    """Return a value as its plan leaves it after a step (0: as it arrived). Return the same object if nothing changes.

    With `seen`, return the value as steps see it, with the structure that texts contain in place of the texts.
    """
    if type(node) is Omission:
        built = _build_object if type(value) is dict else _build_list
        return built(value, node, step, seen)
    if type(node) is Cut:
        return node.after(step)
    if type(node) is Opened:
        return _build_opened(value, node, step, seen)
    if type(node) is Emptied:
        if step < node.step:
            return build(value, node.before, step, seen)
        return () if type(value) is tuple and not seen else type(node.empty)()
    return value


def _build_object(value: dict[str, Any], node: Omission, step: int, seen: bool) -> dict[str, Any]:
    kept, inside = node.remaining(step)
    new = value if kept is None else _with_keys(value, kept)
    if not inside:
        return new
    new = new.copy()
    for key in inside.keys() & new.keys():
        new[key] = build(value[key], inside[key], step, seen)
    return value if len(new) == len(value) and all(map(is_, new.values(), value.values())) else new


def _with_keys(value: Any, kept: Collection[Any]) -> Any:
    """Return an object with only the kept keys, or any other value unchanged."""
    if type(value) is not dict:
        return value
    new = {key: item for key, item in value.items() if key in kept}
    return new if len(new) < len(value) else value


def _build_list(value: list[Any], node: Omission, step: int, seen: bool) -> list[Any]:
    kept, inside = node.remaining(step)
    indices = range(len(value)) if kept is None else kept
    if type(kept) is set:
        indices = sorted(kept)  # with restored items
    items = [*map(value.__getitem__, indices)]
    if node.each is not None and node.each.step <= step:
        keys = node.each.kept
        items = [_with_keys(item, keys) for item in items]
    for position, index in enumerate(indices if inside else ()):
        if index in inside:
            items[position] = build(value[index], inside[index], step, seen)
    if node.marker and step == RESULT:
        items.append(node.marker)
    return value if len(items) == len(value) and all(map(is_, items, value)) else items


def _build_opened(value: Any, node: Opened, step: int, seen: bool) -> Any:
    inner = node.built(step, seen)
    if seen:
        return inner
    if node.unwrapped <= step and chars(inner) <= chars(value):
        return inner
    if inner is node.value:
        return value
    new = node.write(inner)
    text = text_of(value) if type(new) is str else None
    if type(text) is not str:
        return new
    # An enclosing JSON text escapes quotes and backslashes.
    is_shorter = len(new) < len(text) and _escaped_chars(new) < _escaped_chars(text)
    return new if is_shorter else value


def _escaped_chars(text: str) -> int:
    return len(text) + text.count('"') + text.count("\\") + text.count("\n")


def left_of(items: list[Any], node: Omission, index: int, step: int) -> Any:
    """Return the item at an index of a list as its plan leaves it after a step, as steps see it."""
    item = items[index]
    if index in node.inside:
        return build(item, node.inside[index], step, seen=True)
    return item if node.each is None or node.each.step > step else _with_keys(item, node.each.kept)


def shortened_lists(value: Any, node: Node | None) -> Iterator[tuple[list[Any], Omission]]:
    """Yield the remaining lists that lost items in this pass or an earlier one, each with its plan."""
    if type(node) is Opened:
        yield from shortened_lists(node.value, node.plan)
    elif type(node) is Omission:
        if type(value) is list and node.versions:
            yield value, node
        kept = node.kept()
        left = node.inside if kept is None else node.inside.keys() & set(kept)
        for key in left:
            yield from shortened_lists(value[key], node.inside[key])


# --- values with structure


def open_return(content: Any) -> Opened | None:
    """Open a whole content, or return None if rules never change it. Raises `Unreducible`."""
    if type(content) is str:
        parsed = parse(content)
        top = Opened(content, as_it_is) if parsed is None else open_parsed(*parsed)
        return open_wrapped(top) if top.is_json else top
    if is_media(content):
        return None
    top = open_live(content)
    return open_wrapped(top) if type(top.value) in _EMPTY else None


def open_wrapped(top: Opened) -> Opened | None:
    """Return an opened content, or what it contains if it is a wrapper of MCP: None if the tool call failed."""
    found = read_mcp(top.value)
    if found is None:
        return top
    value, notation = found
    inner = None
    if not is_error(top.value):
        inner = Opened(value, as_it_is) if notation.least else open_return(value)
    if inner is None:
        return None
    write_inner = inner.write

    def write(new: Any) -> Any:
        return top.write(notation.write(write_inner(new)))

    return Opened(inner.value, write, least=max(inner.least, notation.least), wraps=True)


def opened_again(top: Opened, notations: Sequence[str] = ()) -> Opened:
    """Return an opened content with a new plan, a plain text in the first of some notations that can read it."""
    inner = open_text(top.value, notations) if notations and type(top.value) is str else None
    if inner is None:
        return replace(top, inside={})
    return replace(inner, write=lambda new: top.write(inner.write(new)), wraps=top.wraps)


def open_parsed(value: Any, notation: Format) -> Opened:
    """Open a text that was parsed as a value in a notation."""
    if type(value) is list or type(value) is dict:
        return Opened(value, notation.write, notation.is_json, notation.least)
    inner = open_live(value)
    return Opened(inner.value, lambda new: notation.write(inner.write(new)), least=inner.least)


def open_text(text: str, notations: Sequence[str], nested: bool = False) -> Opened | None:
    """Open a plain text in the first of some notations that can read it, or return None if none can.

    It stays if nothing remains of it, or if what remains has another structure.
    """
    found = read_as(text, notations) if text else None
    if found is None:
        return None
    value, form = found

    def write(new: Any) -> str:
        written: str = form.write(new)
        return written if parse(written, nested) is None else text

    return Opened(value, write, least=form.least, notation=form.name)


def open_live(value: Any) -> Opened:
    """Open a tuple, a Python literal or a live object. Raises `Unreducible` if it has no JSON form."""
    if type(value) is tuple:
        return Opened([*value], tuple)
    if type(value) is Bracketed or type(value) is Block:
        return Opened(value.value, value.with_value, least=value.least)
    return Opened(shown(value), as_it_is)


def as_it_is(value: Any) -> Any:
    """Write a reduced value without a conversion: a live object becomes the JSON types that it is stored as."""
    return value


def has_structure(value: Any) -> bool:
    """Return whether a value must be opened before steps see its content.

    Plain JSON values, atoms and media need no opening; an object with keys that are not texts does.
    """
    if type(value) is dict:
        return not TEXT.issuperset(map(type, value)) and not is_media(value)
    return type(value) not in PLAIN and type(value) is not Atom and not is_media(value)


def _stored(value: Any) -> Any:
    return open_live(value).value if has_structure(value) else value


def text_of(item: Any) -> Any:
    """Return the text of a live object that is stored as a text, such as an enum, or any other item unchanged."""
    stored = _stored(item)
    return stored if type(stored) is str else item


def empty_of(value: Any) -> Any:
    """Return the empty value of the same type for a text, list or object that is not empty, otherwise None."""
    value = _stored(value)
    return type(value)() if type(value) in _EMPTY and value and not is_media(value) else None


def holds_texts(value: Any, node: Node | None) -> bool:
    """Return whether a value is a list of which only texts without opened structure are kept."""
    if not value or type(value) is not list:
        return False
    plan = node if type(node) is Omission else Omission()
    kept = plan.kept()
    indices = keys_of(value) if kept is None else kept
    return all(is_text(value[index], plan.inside.get(index)) for index in indices)


def is_text(value: Any, node: Node | None) -> bool:
    """Return whether a value is a text, or a live object that is stored as one, without opened structure."""
    return type(node.value if type(node) is Opened else text_of(value)) is str


def fits(value: Any, depth: int = MAX_DEPTH, media: bool = False) -> bool:
    """Return whether a value has at most `depth` levels and, unless `media` is true, no media items."""
    if type(value) is not dict and type(value) is not list:
        return True
    if depth < 0 or (not media and is_media(value)):
        return False
    items = value.values() if type(value) is dict else value
    return LEAVES.issuperset(map(type, items)) or all(fits(item, depth - 1, media) for item in items)


def at_least(least: int, kept: Collection[int], size: int) -> list[int]:
    """Return the kept positions of a list of `size` items, plus the first other positions until there are `least`."""
    others = filterfalse(kept.__contains__, range(size))
    return sorted([*kept, *islice(others, max(0, least - len(kept)))])
