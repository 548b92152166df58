"""Analyses what the steps of a rule read, remove and open, without running them.

`is_statically_idempotent` decides whether a second pass is needed (law 5), `lint` finds errors and probable mistakes,
and `text_paths` determines which texts a rule reads as structure.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from reducer.operations.fields import When
from reducer.paths import Chain, Shape, names_of, overlap
from reducer.rules.model import Step, TextPaths

Problem: TypeAlias = tuple[str, str, str]
"""Code, message and help."""

_PARTIAL = frozenset({"filter", "index", "slice"})


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
    structural = all(
        step.op.selects_only and not (step.preserves or step.op.lines or (step.op.when and step.op.when.where))
        for step in steps
    )
    return structural and not any(conflicts(steps))


def conflicts(steps: tuple[Step, ...]) -> Iterator[Conflict]:
    """Yield the steps that may decide differently in a second pass, with the steps that change what they depend on."""
    for number, step in enumerate(steps):
        for base, chain, whole in _reads(step):
            removers = (later for later in steps[number:] if _removes(later, base, chain, whole))
            yield from (Conflict(step, (*base, *chain), later) for later in removers)


def _reads(step: Step) -> Iterator[tuple[Chain, Chain, bool]]:
    """Yield what a step reads: a base, a chain below it, and whether it reads the whole return or single items."""
    place = names_of(step.path.shape)
    for shape, expression in step.path.filters:
        yield from ((names_of(shape), chain, False) for chain in expression.reads)
    yield from (((*place, *base), chain, False) for base, chain in step.op.reads())
    yield from (((), chain, True) for chain in step.op.reads_return())


def _removes(step: Step, base: Chain, chain: Chain, whole: bool) -> bool:
    """Return whether a step can remove or change what another step reads."""
    place, full = names_of(step.path.shape), (*base, *chain)
    # If items are read one by one, removing an item also removes what depends on it.
    if any((whole or len(items) > len(base)) and overlap(items, full) for items in _shortened(step)):
        return True
    # Reading a value includes reading everything in it.
    return overlap(full, place) and step.op.takes(full[len(place) :])


def _shortened(step: Step) -> list[Chain]:
    """Return the lists from which a step removes items."""
    return [(*names_of(step.path.shape), *below) for below in step.op.shortens()]


def lint(steps: tuple[Step, ...]) -> Iterator[tuple[Step, Problem]]:
    """Yield errors and probable mistakes of steps, at most one for each step."""
    shortened = [items for step in steps for items in _shortened(step)]
    for number, step in enumerate(steps):
        after = (_after(before, step) for before in steps[:number])
        problem = _moving_index(step, shortened) or _on_each_item(step) or next(filter(None, after), None)
        if problem is not None:
            yield step, problem


def _moving_index(step: Step, shortened: list[Chain]) -> Problem | None:
    """Find an index that refers to a different item after a step removes items from one of the `shortened` lists."""
    for number, token in enumerate(step.path.shape):
        place = names_of(step.path.shape[:number])
        if token[0] == "slice" or (token[0] == "index" and token[1] < 0):
            return "E066", "a path cannot use a slice or an index from the end", ""
        if token[0] == "index" and any(len(place) == len(items) and overlap(place, items) for items in shortened):
            return "E067", "a path cannot use an index in a list that a step shortens", ""
    return None


def _on_each_item(step: Step) -> Problem | None:
    if step.op.lines or () not in step.op.shortens() or not step.path.text.endswith("[*]"):
        return None
    message = f"`{step.path.text}` selects each item, but `{step.op.verb()}` works on lists"
    return "W042", message, f"write `path: {step.path.text.removesuffix('[*]') or '@'}` for the list itself"


def _after(earlier: Step, step: Step) -> Problem | None:
    """Find a step that works on what an earlier step removes."""
    before, after = _along(earlier.path.shape), _along(step.path.shape)
    if not all(a == b or b == "*" for a, b in zip(after, before, strict=False)):
        return None
    name = f"step {earlier.number} (`{earlier.op.verb()}`)"
    below = tuple(str(key) for key in after[len(before) :] if key != _ITEM)
    is_partial = any(token[0] in _PARTIAL for token in earlier.path.shape)
    if below and earlier.op.when is None and not is_partial:
        advice = earlier.op.removes_before(below)
        if advice:
            return "W040", f"{name} already removes `{step.path.text}`", advice
    return None


_Way: TypeAlias = tuple[str | int, ...]
"""Keys from a value downwards: `*` is any key, and the integers have the meanings below."""
_ITEM, _HERE, _LINES, _ALL = 0, 1, 2, 3
"""`_ITEM` is an item of a list. At the end of a way, `_HERE` opens a text with structure, `_LINES` any text, and `_ALL`
also every text with structure below.
"""


def text_paths(steps: tuple[Step, ...], gate: When | None) -> TextPaths | None:
    """Return the texts that the steps and the gate of a rule read as structure, or None if they read only the root."""

    @cache
    def joined(ways: frozenset[_Way], inside: bool = False) -> TextPaths | None:
        """Join ways into one, or return None if they open no text; `inside` is true for the items of a list."""
        if not any(ways):
            return None
        steps_on = frozenset(way for way in ways if way and type(way[0]) is str)
        named = frozenset(way[1:] for way in ways if way[:1] == (_ITEM,))
        others = frozenset(way[1:] for way in steps_on if way[0] == "*")
        names: dict[str, TextPaths] = {}
        for key in {str(way[0]) for way in steps_on}:
            below = joined(others | {way[1:] for way in steps_on if way[0] == key})
            if below is not None and key != "*":
                names[key] = below
        # `[*]` selects items; keys and conditions pass through lists.
        items = joined(steps_on | named, inside=True) if named or not inside else None
        here = any(way[:1] != (_ALL,) for way in ways if way)
        return TextPaths(
            MappingProxyType(names), joined(others), items, here=here, lines=(_LINES,) in ways, all=(_ALL,) in ways
        )

    return joined(frozenset(_ways(steps, gate)))


def _ways(steps: tuple[Step, ...], gate: When | None) -> Iterator[_Way]:
    for when in (gate, *(step.op.when for step in steps)):
        if when is not None and when.where is not None:
            yield from when.where.reads
    for step in steps:
        for shape, expression in step.path.filters:
            yield from (_along(shape) + chain for chain in expression.reads)
        place, op = _along(step.path.shape), step.op
        yield place
        if str not in op.accepts:
            yield (*place, _HERE)
        if step.op.lines:
            yield (*place, _LINES)
        if op.opens_texts:
            yield (*place, _ALL)
        yield from ((*place, *chain, _HERE) for chain in op.shortens())
        yield from (place + base + chain for base, chain in op.reads())
        yield from (place + chain for chain in op.names())
        yield from op.reads_return()


def _along(shape: Shape) -> _Way:
    way: list[str | int] = []
    for before, token in pairwise((("root",), *shape)):
        if token[0] == "only" or (token[0] == "flatten" and before[0] == "each"):
            continue  # it only selects among the current places
        way.append(str(token[1]) if token[0] == "field" else "*" if token[0] == "values" else _ITEM)
    return tuple(way)
