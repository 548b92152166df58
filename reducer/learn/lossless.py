"""What may be done to a tool's returns at no cost: the steps that take nothing anyone needed, tried on the returns themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reducer.learn.cuts import NOTHING, Told, Way
from reducer.learn.evidence import Seen
from reducer.learn.rows import endings
from reducer.learn.trial import compiled, outcome

_LEAST_SAVED = 0.01
"""Share of a tool's characters that a step must save: few choices generalise."""
UNWRAP: Told = ("JSON in texts is shown as what it says", {"unwrap": True})
COMPACT: Told = ("Keys without a value go", {"compact": True})


def ways(returns: Sequence[Seen]) -> tuple[Way, ...]:
    """Give the ways to make a tool's returns shorter at no cost; the first is to do nothing, the last one to open JSON in texts besides.

    Opened texts are cut leaf by leaf, and texts as a whole: which is better only trying tells.
    """
    chars = sum(seen.chars for seen in returns)
    least = _LEAST_SAVED * chars
    compact = (COMPACT,) if _saves(returns, COMPACT[1]) >= max(1, least) else ()
    ends = tuple((one.told(chars), one.step()) for one in endings(returns))
    ends = tuple(end for end in ends if _saves(returns, end[1]) >= max(1, least))
    found = [NOTHING]
    if compact or ends:
        found.append(Way(compact, ends))
    if _saves(returns, UNWRAP[1]) >= max(1, least):
        found.append(Way((UNWRAP, COMPACT), ends))
    return tuple(found)


def _saves(returns: Sequence[Seen], step: dict[str, Any]) -> int:
    """Give how many characters a step saves; none if it is not sound, or loses something after all."""
    try:
        ruleset = compiled({"version": 1, "tool": "*", "steps": [step]})
    except ValueError:
        return 0
    left = [outcome(ruleset, seen) for seen in returns]
    return 0 if any(one.gone for one in left) else sum(seen.chars - one.chars for seen, one in zip(returns, left, strict=True))
