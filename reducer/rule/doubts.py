"""Steps that are valid together, but hardly meant: they work in vain, on what is gone or on another place than the list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reducer.ops.drop import Drop
from reducer.ops.keep import Keep
from reducer.path import Chain, names_of
from reducer.rule.model import Step

_PARTIAL = frozenset({"filter", "index", "slice", "pick"})


class Doubt(NamedTuple):
    """What is odd about a step."""

    step: Step
    code: str
    message: str
    help: str


def doubts(steps: tuple[Step, ...]) -> Iterator[Doubt]:
    """Give what is odd about steps, in their order, one thing for each at most."""
    places = [names_of(step.path.shape) for step in steps]
    for number, step in enumerate(steps):
        before = zip(steps[:number], places, strict=False)
        found = _of_each(step) or next(filter(None, (_after(earlier, place, step, places[number]) for earlier, place in before)), None)
        if found is not None:
            yield found


def _of_each(step: Step) -> Doubt | None:
    if step.op.accepts != frozenset({list}) or not step.path.shape or step.path.shape[-1] != ("each",) or not step.path.text.endswith("[*]"):
        return None
    verb, whole = step.op.verb(), step.path.text.removesuffix("[*]") or "@"
    return Doubt(step, "W042", f"`{step.path.text}` names each item, and `{verb}` works on lists", f"write `path: {whole}` for the list itself")


def _after(earlier: Step, before: Chain, step: Step, after: Chain) -> Doubt | None:
    if not _within(after, before):
        return None
    who = f"step {earlier.number} (`{earlier.op.verb()}`)"
    if len(after) > len(before) and _always(earlier):
        below = after[len(before) :]
        if isinstance(earlier.op, Keep) and not any(_meet(below, key.chain) for key in earlier.op.keep):
            return Doubt(step, "W040", f"`{step.path.text}` is gone: {who} takes it away", f"put this step before it, or add `{'.'.join(below)}` to `keep`")
        if isinstance(earlier.op, Drop) and any(len(key) <= len(below) and below[: len(key)] == key for key in _dropped(earlier.op)):
            return Doubt(step, "W040", f"`{step.path.text}` is gone: {who} takes it away", "take one of the two out")
    if earlier.op.verb() == "truncate" and step.op.verb() == "limit" and len(before) >= len(after):
        return Doubt(step, "W041", f"{who} cuts the texts of items that go here", "put `limit` before `truncate`")
    return None


def _always(step: Step) -> bool:
    """Tell whether a step works on all of its places in every return."""
    return step.when is None and not any(token[0] in _PARTIAL for token in step.path.shape)


def _dropped(op: Drop) -> Iterator[Chain]:
    return (target.key.chain for target in op.drop if target.key is not None and target.condition is None and target.lists is None)


def _meet(a: Chain, b: Chain) -> bool:
    return all(x == y or "*" in (x, y) for x, y in zip(a, b, strict=False))


def _within(chain: Chain, head: Chain) -> bool:
    return all(a == b or b == "*" for a, b in zip(chain, head, strict=False))
