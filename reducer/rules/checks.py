"""Static checks of the steps of a rule: whether a second pass changes nothing (law 5), and what is hardly intended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from reducer.operations.drop import Drop
from reducer.operations.keep import Keep
from reducer.paths import Chain, names_of
from reducer.rules.model import Step

Warned: TypeAlias = tuple[Step, str, str, str]
"""A warning about a step: code, message and help."""

_STRUCTURAL = frozenset({"limit", "keep", "drop"})
"""Actions that only select keys and items."""
_PARTIAL = frozenset({"filter", "index", "slice", "pick"})


class Conflict(NamedTuple):
    """Step `reader` depends on the keys `chain` of the return, and step `remover` changes what is there."""

    reader: Step
    chain: Chain
    remover: Step


def is_statically_idempotent(steps: tuple[Step, ...]) -> bool:
    """Return whether all steps only select keys and items, and none can change what a condition reads.

    It only decides whether the engine can skip the second pass: loading rejects no rule for it. `check` searches for
    counterexamples to other rules (`reducer.analysis.counterexamples`).
    """
    structural = all(
        step.op.verb() in _STRUCTURAL and not step.preserves and not (step.when and step.when.where) for step in steps
    )
    return structural and not any(conflicts(steps))


def conflicts(steps: tuple[Step, ...]) -> Iterator[Conflict]:
    """Yield each step that may choose otherwise in a second pass, with the step that changes what it depends on."""
    for number, step in enumerate(steps):
        for base, chain, whole in _reads(step):
            removers = (later for later in steps[number:] if _removes(later, base, chain, whole))
            yield from (Conflict(step, (*base, *chain), later) for later in removers)


def _reads(step: Step) -> Iterator[tuple[Chain, Chain, bool]]:
    """Yield what a step depends on: a chain below a base, of the whole return (true) or of one item after the other."""
    place = names_of(step.path.shape)
    for shape, expression in step.path.filters:
        yield from ((names_of(shape), chain, False) for chain in expression.reads)
    yield from (((*place, *base), chain, False) for base, chain in step.op.reads())
    yield from (((), chain, True) for chain in step.op.reads_return())


def _removes(step: Step, base: Chain, chain: Chain, whole: bool) -> bool:
    """Return whether a step can remove or change what another one reads."""
    place, full = names_of(step.path.shape), (*base, *chain)
    for below in step.op.shortens():
        items = (*place, *below)
        # Items of the list that is read one by one are removed as a whole: nothing depends on them any more.
        if (whole or len(items) > len(base)) and _overlap(items, full):
            return True
    if len(full) >= len(place):
        return _overlap(full, place) and step.op.takes(full[len(place) :])
    # Reading a value includes reading everything in it.
    return _overlap(place, full) and step.op.takes(())


def lint(steps: tuple[Step, ...]) -> Iterator[Warned]:
    """Return the warnings about steps in their order, at most one for each."""
    places = [names_of(step.path.shape) for step in steps]
    for number, step in enumerate(steps):
        earlier = zip(steps[:number], places, strict=False)
        after = (_after(before, place, step, places[number]) for before, place in earlier)
        found = _on_each_item(step) or next(filter(None, after), None)
        if found is not None:
            yield found


def _on_each_item(step: Step) -> Warned | None:
    if step.op.accepts != frozenset({list}) or not step.path.text.endswith("[*]"):
        return None
    action, whole = step.op.verb(), step.path.text.removesuffix("[*]") or "@"
    message = f"`{step.path.text}` selects each item, but `{action}` works on lists"
    return step, "W042", message, f"write `path: {whole}` for the list itself"


def _after(earlier: Step, before: Chain, step: Step, after: Chain) -> Warned | None:
    if not all(a == b or b == "*" for a, b in zip(after, before, strict=False)):
        return None
    name = f"step {earlier.number} (`{earlier.op.verb()}`)"
    always = earlier.when is None and not any(token[0] in _PARTIAL for token in earlier.path.shape)
    if always and len(after) > len(before):
        below = after[len(before) :]
        message = f"{name} already removes `{step.path.text}`"
        if isinstance(earlier.op, Keep) and not any(_overlap(below, key.chain) for key in earlier.op.keep):
            return step, "W040", message, f"move this step before it, or add `{'.'.join(below)}` to `keep`"
        targets = earlier.op.drop if isinstance(earlier.op, Drop) else ()
        if any(one.key and not one.lists and below[: len(one.key.chain)] == one.key.chain for one in targets):
            return step, "W040", message, "remove one of the two steps"
    if earlier.op.verb() == "truncate" and step.op.verb() == "limit" and len(before) >= len(after):
        return step, "W041", f"{name} truncates texts in items that this step removes", ""
    return None


def same_place(a: Chain, b: Chain) -> bool:
    """Return whether two chains of keys may lead to one place."""
    return len(a) == len(b) and _overlap(a, b)


def _overlap(a: Chain, b: Chain) -> bool:
    """Return whether one chain of keys may start with the other."""
    return all(x == y or "*" in (x, y) for x, y in zip(a, b, strict=False))
