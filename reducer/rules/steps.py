"""Analyses what the steps of a rule read, remove and open, without running them.

`is_statically_idempotent` decides whether a second pass is needed (law 5), `lint` finds errors and probable mistakes,
and `text_paths` determines which texts a rule reads as structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from reducer.operations.fields import Mark, When
from reducer.operations.op import Op
from reducer.paths import Chain, Shape, names_of, overlap
from reducer.rules.diagnostics import quoted
from reducer.rules.model import Step, TextPaths


class Problem(NamedTuple):
    """Code, message and help of a problem, and the key of the step that it is reported at."""

    code: str
    message: str
    help: str = ""
    key: str = "path"


class Conflict(NamedTuple):
    """Step `reader` depends on the value at `chain` in the return, and step `remover` can change it."""

    reader: Step
    chain: Chain
    remover: Step


def is_statically_idempotent(steps: tuple[Step, ...]) -> bool:
    """Return whether all steps only select keys and items, and no step can change what a condition reads.

    The engine skips the second pass for such rules. For other rules, `check` searches for counterexamples
    (`reducer.analysis.counterexamples`); loading never rejects them.
    """
    return all(map(_only_selects, steps)) and not any(conflicts(steps))


def _only_selects(step: Step) -> bool:
    reads_return = step.op.when is not None and step.op.when.where is not None
    return step.op.selects_only and not (step.preserves or step.op.notations or reads_return)


def conflicts(steps: tuple[Step, ...]) -> Iterator[Conflict]:
    """Yield the steps that may decide differently in a second pass, with the steps that change what they depend on."""
    for number, step in enumerate(steps):
        for base, chain, whole in _reads(step):
            for later in steps[number:]:
                if _removes(later, base, chain, whole):
                    yield Conflict(step, (*base, *chain), later)


def _reads(step: Step) -> Iterator[tuple[Chain, Chain, bool]]:
    """Yield what a step reads: a base, a chain below it, and whether it reads the whole return or single items."""
    place = names_of(step.path.shape)
    for shape, expression in step.path.filters:
        for chain in expression.reads:
            yield names_of(shape), chain, False
    for base, chain in step.op.reads():
        yield (*place, *base), chain, False
    for chain in step.op.reads_return():
        yield (), chain, True


def _removes(step: Step, base: Chain, chain: Chain, whole: bool) -> bool:
    """Return whether a step can remove or change what another step reads."""
    place, full = names_of(step.path.shape), (*base, *chain)
    for items in shortened_lists(step):
        # If items are read one by one, removing an item also removes what depends on it.
        if (whole or len(items) > len(base)) and overlap(items, full):
            return True
    # Reading a value includes reading everything in it.
    return overlap(full, place) and step.op.takes(full[len(place) :])


def shortened_lists(step: Step) -> list[Chain]:
    """Return the lists from which a step removes items."""
    return [(*names_of(step.path.shape), *below) for below in step.op.shortens()]


def marked_lists(steps: tuple[Step, ...], marks: Sequence[Mark], any_list: bool) -> tuple[Chain, ...] | None:
    """Return the lists that get markers, or None for all lists: `any_list`, because of `max_chars`."""
    marking = [step for step, mark in zip(steps, marks, strict=True) if mark is not False]
    if any_list or any(step.op.shortens_any for step in marking):
        return None
    lists: list[Chain] = []
    for step in marking:
        lists += shortened_lists(step)
    return tuple(dict.fromkeys(lists))


def reads_marked(steps: tuple[Step, ...], gate: When | None, marked: tuple[Chain, ...] | None) -> bool:
    """Return whether conditions can read one of the `marked` lists.

    The list whose items a step selects does not count, because the step leaves its marker out.
    """
    reads: list[tuple[Chain, Chain]] = []
    for when in (gate, *(step.op.when for step in steps)):
        where = None if when is None else when.where
        reads += [((), chain) for chain in where.reads] if where else []
    for step in steps:
        reads += [(base, chain) for base, chain, whole in _reads(step) if not whole]
    return any(_may_contain(base, chain, marked) for base, chain in reads)


def _may_contain(base: Chain, chain: Chain, marked: tuple[Chain, ...] | None) -> bool:
    """Return whether what is read at `chain` in the items at `base` can contain a marked list."""
    if marked is None:
        return True
    return any(len(items) > len(base) and overlap(items, (*base, *chain)) for items in marked)


def lint(steps: tuple[Step, ...]) -> Iterator[tuple[Step, Problem]]:
    """Yield errors and probable mistakes of steps, at most one for each step."""
    for step in steps:
        problem = _moving_index(step, steps) or _other_notation(step, steps) or _on_each_item(step)
        problem = problem or _without_effect(step) or _cut_before(step, steps)
        if problem is not None:
            yield step, problem


def _moving_index(step: Step, steps: tuple[Step, ...]) -> Problem | None:
    """Find an index that refers to a different item after one of the steps removes items from its list."""
    for number, (kind, *position) in enumerate(step.path.shape):
        if kind == "slice" or (kind == "index" and position[0] < 0):
            return Problem("E066", "a path cannot use a slice or an index from the end")
        if kind == "index" and _is_shortened(names_of(step.path.shape[:number]), steps):
            return Problem("E067", "a path cannot use an index in a list that a step shortens")
    return None


def _is_shortened(place: Chain, steps: tuple[Step, ...]) -> bool:
    for step in steps:
        for items in shortened_lists(step):
            if len(place) == len(items) and overlap(place, items):
                return True
    return False


def _other_notation(step: Step, steps: tuple[Step, ...]) -> Problem | None:
    """Find an earlier step that reads the texts at the same place in another notation."""
    for other in steps[: step.number - 1]:
        same_place = _along(other.path.shape) == _along(step.path.shape)
        if same_place and step.op.notations and other.op.notations not in ((), step.op.notations):
            read = ", ".join(other.op.notations)
            return Problem("E074", f"step {other.number} reads the texts at `{step.path.text}` as {read}")
    return None


def _on_each_item(step: Step) -> Problem | None:
    if not works_on_each_item(step.op):
        return None
    text = step.path.text
    message = f"`{text}` selects each item, but `{step.op.verb()}` works on lists"
    if step.path.shape[-1][0] == "filter":
        condition = quoted(text[text.rindex("[?") :])
        return Problem("W042", message, f"write the list as `path`, and a step before it: keep: {condition}")
    return Problem("W042", message, f"write `path: {text.removesuffix('[*]') or '@'}` for the list itself")


def works_on_each_item(op: Op) -> bool:
    """Return whether an operation on lists gets the items of a list, one by one."""
    is_item = op.path is not None and op.path.shape[-1:] and op.path.shape[-1][0] in ("each", "filter")
    return bool(is_item) and not op.notations and () in op.shortens()


def _without_effect(step: Step) -> Problem | None:
    """Find an order without a key to sort by, keys of lines, and a filter in a condition."""
    op, verb = step.op, step.op.verb()
    if "order" in op.model_fields_set and not op.sort_keys():
        return Problem("W015", "`order` has no effect without `sort_by`", "add sort_by: last_seen", "order")
    names = [chain for chain in op.names() if len(chain) == 1]
    if op.notations == ("lines",) and names and names[0] != ("*",):
        text = names[0][0].replace("'", "\\'")
        return Problem(
            "W016", f"lines have no keys such as `{text}`", f"write {verb}: \"[?contains(@, '{text}')]\"", verb
        )
    for condition in op.conditions():
        if condition.text.startswith("[?") and condition.text.endswith("]"):
            meant = condition.text[2:-1]
            key = "always_keep" if verb == "limit" else verb
            return Problem("W018", "a condition of an item needs no `[?` and `]`", f"write {meant}", key)
    return None


def _cut_before(step: Step, steps: tuple[Step, ...]) -> Problem | None:
    """Find an earlier step that cuts the texts from which a step extracts entities."""
    for other in steps[: step.number - 1] if step.op.entity_types() else ():
        if other.op.cuts_blindly and overlap(names_of(other.path.shape), names_of(step.path.shape)):
            message = f"step {other.number} cuts these texts before, and what it cuts is not extracted"
            return Problem("W019", message, "write this step before it")
    return None


Way: TypeAlias = tuple[str | int, ...]
"""Keys from the return downwards: `*` is any key, `ITEM` an item of a list."""
_Way: TypeAlias = tuple[str | int | tuple[str, ...], ...]
ITEM = 0
_TEXT, _NESTED = 1, 2
"""At the end of a way, `_TEXT` opens a text with structure, and `_NESTED` also every such text below the place.
A tuple of notations opens a plain text in one of them.
"""


def named(step: Step) -> Iterator[Way]:
    """Yield the ways to everything that a step names: its places, and what it reads, keeps or drops.

    Keys also pass through lists: `items`, `id` leads to the `id` of each item.
    """
    if step.op.when is not None and step.op.when.where is not None:
        yield from step.op.when.where.reads
    for shape, expression in step.path.filters:
        for chain in expression.reads:
            yield (*_along(shape), *chain)
    place = _along(step.path.shape)
    yield place
    for base, chain in step.op.reads():
        yield (*place, *base, *chain)
    for chain in step.op.names():
        yield (*place, *chain)
    yield from step.op.reads_return()


def text_paths(steps: tuple[Step, ...], gate: When | None, of_root: tuple[str, ...] = ()) -> TextPaths | None:
    """Return the texts that the steps and the gate of a rule read as structure, or None if they read only the root.

    `of_root` are the notations of a root text.
    """
    ways: set[_Way] = {(of_root,)} if of_root else set()
    if gate is not None and gate.where is not None:
        ways.update(gate.where.reads)
    for step in steps:
        place = _along(step.path.shape)
        ways.update(named(step))
        for chain in step.op.shortens():
            ways.add((*place, *chain, _TEXT))
        if str not in step.op.accepts:
            ways.add((*place, _TEXT))
        if step.op.notations:
            ways.add((*place, step.op.notations))
        if step.op.opens_texts:
            ways.add((*place, _NESTED))
    return _joined(frozenset(ways), inside=False)


@lru_cache(maxsize=1024)
def _joined(ways: frozenset[_Way], inside: bool) -> TextPaths | None:
    """Join ways into one, or return None if they open no text; `inside` is true for the items of a list."""
    if not any(ways):
        return None
    keys, named_items = frozenset(way for way in ways if way and type(way[0]) is str), _below(ways, ITEM)
    others = _below(keys, "*")
    names: dict[str, TextPaths] = {}
    for key in {str(way[0]) for way in keys}:
        paths = _joined(others | _below(keys, key), inside=False)
        if paths is not None and key != "*":
            names[key] = paths
    # `[*]` selects items; keys and conditions pass through lists.
    items = _joined(keys | named_items, inside=True) if named_items or not inside else None
    ends = {way[0] for way in ways if way}
    return TextPaths(
        MappingProxyType(names),
        _joined(others, inside=False),
        items,
        here=ends != {_NESTED},
        all=_NESTED in ends,
        notations=next((end for end in ends if isinstance(end, tuple)), ()),
    )


def _below(ways: frozenset[_Way], key: str | int) -> frozenset[_Way]:
    return frozenset(way[1:] for way in ways if way[:1] == (key,))


def _along(shape: Shape) -> Way:
    way: list[str | int] = []
    before = ""
    for kind, *arguments in shape:
        if kind == "field":
            way.append(arguments[0])
        elif kind == "values":
            way.append("*")
        elif kind != "only" and (kind, before) != ("flatten", "each"):  # these only select among the current places
            way.append(ITEM)
        before = kind
    return tuple(way)
