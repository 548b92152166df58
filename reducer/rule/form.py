"""Whether a rule is a fixed point by its form: no step takes away what an earlier one, or itself, decides by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reducer.op import Op
from reducer.path import Chain, names_of
from reducer.rule.model import Step


@dataclass(frozen=True, slots=True)
class Read:
    """What a step decides by: `name` at `chain` below `base`; `whole` when it looks at the return and not at items one by one."""

    base: Chain
    chain: Chain
    whole: bool


@dataclass(frozen=True, slots=True)
class Conflict:
    """Step `taker` takes away what step `reader` reads, `read` as it may be written in a rule; `fix` says what to do."""

    reader: Step
    taker: Step
    read: str
    fix: str


def conflicts(steps: tuple[Step, ...]) -> Iterator[Conflict]:
    """Give every pair of steps of which the second, which is the first itself or a later one, takes away what the first reads."""
    for number, reader in enumerate(steps):
        for read in _reads(reader):
            for taker in steps if read.whole and reader.when else steps[number:]:
                if _takes(taker, read):
                    yield Conflict(reader, taker, ".".join(read.chain or read.base) or "@", _fix(reader, taker, read))
                    break


def _reads(step: Step) -> Iterator[Read]:
    place = names_of(step.path.shape)
    for shape, expression in step.path.filters:
        for chain in expression.reads:
            yield Read(names_of(shape), chain, False)
    for base, chain in step.op.reads():
        yield Read((*place, *base), chain, False)
    for chain in step.op.reads_return():
        yield Read((), chain, True)
    if step.when and step.when.where:
        for chain in step.when.where.reads:
            yield Read((), chain, True)


def _takes(taker: Step, read: Read) -> bool:
    place, full = names_of(taker.path.shape), (*read.base, *read.chain)
    for below in taker.op.shortens():
        items = (*place, *below)
        # Items of the list that is read one by one go as a whole: nothing is decided about them any more.
        if (read.whole or len(items) > len(read.base)) and _on_one_way(items, full):
            return True
    if _starts(full, place):
        return taker.op.takes(full[len(place) :])
    # Reading all of a value means reading what is further in.
    return _starts(place, full) and taker.op.takes(())


def same_place(a: Chain, b: Chain) -> bool:
    """Tell whether two chains of keys may lead to one place."""
    return len(a) == len(b) and _starts(a, b)


def _on_one_way(a: Chain, b: Chain) -> bool:
    return _starts(a, b) or _starts(b, a)


def _starts(chain: Chain, head: Chain) -> bool:
    return len(chain) >= len(head) and all(a == b or "*" in (a, b) for a, b in zip(chain, head, strict=False))


def _fix(reader: Step, taker: Step, read: Read) -> str:
    keep = taker.op.verb() == "keep"
    if keep and read.chain and not read.whole:
        return f"add `{read.chain[-1] if len(read.chain) == 1 else '.'.join(read.chain)}` to `keep`"
    if reader is taker:
        return "choose by something that stays"
    return f"put `{reader.op.verb()}` after `{taker.op.verb()}`"


def is_proven(steps: tuple[Step, ...], structural: frozenset[type[Op]]) -> bool:
    """Tell whether the form alone makes a rule a fixed point: its steps only choose keys and items, and owe nothing for them."""
    return all(type(step.op) in structural and not step.owes and not (step.when and step.when.where) for step in steps)
