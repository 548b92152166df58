"""Calls that an agent repeated after the answer to the first had been cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from reducer import markers
from reducer.references import Event, Response, Returned
from reducer.strict_json import loads

if TYPE_CHECKING:
    from reducer.analysis.measures import Reduced


class Repeat(NamedTuple):
    """A call with the tool and arguments of an earlier one; `first` and `again` are their messages, counted from 0.

    `recorded`: the first answer was already cut when it was recorded; otherwise the rules would cut it.
    """

    history: str
    tool: str
    first: int
    again: int
    recorded: bool


def repeats(
    history: str, happened: Sequence[Event], where: Sequence[int], returns: Sequence[Reduced | None]
) -> tuple[Repeat, ...]:
    """List the calls that repeat an earlier one whose answer is cut, as recorded or by the rules."""
    found = []
    asked: dict[str, tuple[str, int]] = {}
    answered: dict[str, tuple[int, Reduced]] = {}
    answers = iter(returns)
    for place, event in zip(where, happened, strict=True):
        if isinstance(event, Response):
            for call in event.calls:
                key = f"{call.tool} {_arguments(call.arguments)}"
                first, entry = answered.pop(key, (0, None))
                if entry is not None:
                    recorded = _is_cut(entry.content)
                    if recorded or entry.left is not entry.content:
                        found.append(Repeat(history, call.tool, first, place, recorded))
                asked[call.id] = (key, place)
        elif isinstance(event, Returned):
            entry = next(answers)
            key, first = asked.pop(event.call_id, ("", 0))
            if key and entry is not None:
                answered[key] = (first, entry)
    return tuple(found)


def _is_cut(content: Any) -> bool:
    return markers.PREFIX in (content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))


def _arguments(arguments: Any) -> str:
    try:
        return json.dumps(loads(arguments) if isinstance(arguments, str) else arguments, sort_keys=True)
    except (ValueError, RecursionError):
        return str(arguments) if isinstance(arguments, str) else "?"
