"""Calls that an agent made once more after the answer to the first had been cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from reducer import marks
from reducer.reading import loads
from reducer.references import Event, Returned, Written

if TYPE_CHECKING:
    from reducer.measures import Reduced


class AskedAgain(NamedTuple):
    """A call with the same tool and arguments as an earlier one: `first` and `again` are the messages of the two, counted from 0.

    `recorded`: what was recorded of the first answer had been cut already; else the rules would cut it now.
    """

    history: str
    tool: str
    first: int
    again: int
    recorded: bool


def asked_again(history: str, happened: Sequence[Event], where: Sequence[int], returns: Sequence[Reduced | None]) -> tuple[AskedAgain, ...]:
    """List the calls that repeat an earlier one whose answer is cut, in what was recorded or by the rules."""
    found = []
    asked: dict[str, tuple[str, int]] = {}
    answered: dict[str, tuple[int, Reduced]] = {}
    number = 0
    for place, event in enumerate(happened):
        if isinstance(event, Written):
            for call in event.calls:
                key = f"{call.tool} {_arguments(call.arguments)}"
                first, entry = answered.pop(key, (0, None))
                if entry is not None:
                    recorded = _cut(entry.content)
                    if recorded or entry.left is not entry.content:
                        found.append(AskedAgain(history, call.tool, first, where[place], recorded))
                asked[call.id] = (key, where[place])
        elif isinstance(event, Returned):
            entry = returns[number]
            number += 1
            key, first = asked.pop(event.call_id, ("", 0))
            if key and entry is not None:
                answered[key] = (first, entry)
    return tuple(found)


def _cut(content: Any) -> bool:
    return marks.OPENING in (content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))


def _arguments(arguments: Any) -> str:
    try:
        return json.dumps(loads(arguments) if isinstance(arguments, str) else arguments, sort_keys=True)
    except (ValueError, RecursionError):
        return str(arguments) if isinstance(arguments, str) else "?"
