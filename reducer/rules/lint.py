"""Warnings about steps that are valid together, but probably not intended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reducer.operations.drop import Drop
from reducer.operations.keep import Keep
from reducer.paths import Chain, names_of
from reducer.rules.model import Step

_PARTIAL = frozenset({"filter", "index", "slice", "pick"})


class Warned(NamedTuple):
    """A warning about a step."""

    step: Step
    code: str
    message: str
    help: str = ""


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
    return Warned(step, "W042", message, f"write `path: {whole}` for the list itself")


def _after(earlier: Step, before: Chain, step: Step, after: Chain) -> Warned | None:
    if not all(a == b or b == "*" for a, b in zip(after, before, strict=False)):
        return None
    name = f"step {earlier.number} (`{earlier.op.verb()}`)"
    always = earlier.when is None and not any(token[0] in _PARTIAL for token in earlier.path.shape)
    if always and len(after) > len(before):
        below = after[len(before) :]
        message = f"{name} already removes `{step.path.text}`"
        if isinstance(earlier.op, Keep) and not any(_overlap(below, key.chain) for key in earlier.op.keep):
            help = f"move this step before it, or add `{'.'.join(below)}` to `keep`"
            return Warned(step, "W040", message, help)
        if isinstance(earlier.op, Drop) and any(below[: len(key)] == key for key in _dropped(earlier.op)):
            return Warned(step, "W040", message, "remove one of the two steps")
    if earlier.op.verb() == "truncate" and step.op.verb() == "limit" and len(before) >= len(after):
        return Warned(step, "W041", f"{name} truncates texts in items that this step removes")
    return None


def _dropped(op: Drop) -> Iterator[Chain]:
    for target in op.drop:
        if target.key is not None and target.condition is None and target.lists is None:
            yield target.key.chain


def _overlap(a: Chain, b: Chain) -> bool:
    return all(x == y or "*" in (x, y) for x, y in zip(a, b, strict=False))
