"""What rules do to the returns of a stored history, one by one, with what later messages refer to protected and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from reducer.engine import Outcome, reduce_content, trace
from reducer.rule import Ruleset
from reducer.stored import InputFormat, Key, Return, protecting, returns
from reducer.stored.events import keyed
from reducer.stored.mentioned import Mentioned


class Traced(NamedTuple):
    """What rules did to a return: with what later messages refer to protected, and `alone` without; `reduce` does the first to its copies."""

    outcome: Outcome
    alone: Outcome
    reduce: Callable[[str, Any], Any]


def traced_returns(
    ruleset: Ruleset,
    data: bytes,
    chosen: Callable[[Return], bool] | None,
    references: bool,
    watch: Callable[[int], None] | None,
    input_format: InputFormat,
) -> Iterator[tuple[Key, Return, Traced | None]]:
    """Give the chosen returns of a history one by one, with what rules did to each; None for one that they never apply to."""
    mentioned = Mentioned(data, input_format) if references else None
    plainly = partial(reduce_content, ruleset)
    for key, found in keyed(returns(data, input_format)):
        if chosen is None or chosen(found):
            if found.untouched:
                yield key, found, None
            elif mentioned is None:
                outcome = trace(ruleset, found.tool, found.content)
                yield key, found, Traced(outcome, outcome, plainly)
            else:
                outcome = trace(ruleset, found.tool, found.content, mentioned.finder(key, found.content))
                alone = trace(ruleset, found.tool, found.content) if outcome.referred else outcome
                yield key, found, Traced(outcome, alone, protecting(plainly, mentioned, key))
        if watch is not None:
            watch(found.end)
