"""Values that agents use again and again: names of tables, columns and tools, which one task teaches for the next."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from reducer.entities.words import fault
from reducer.learn.evidence import Recorded, Seen
from reducer.references import NUMBER, searched, searcher

Task = tuple[str, str]
Uses = Mapping[str, frozenset[Task]]
"""For each value the tasks in which it was used."""
MOST = 200
"""Values that a rule names."""
_SHORTEST, _LONGEST = 4, 60
_AROUND = 4
"""Characters that a value takes in a mark besides its own, or about so many in a thin item."""
_UNFIT = re.compile(r"[^a-z0-9]+")


def tasks_of(histories: Iterable[Recorded]) -> dict[int, Task]:
    """Give the task of every return, by its id."""
    return {id(seen): (history.source, history.task) for history in histories for seen in history.returns}


def uses(histories: Iterable[Recorded], tool: str) -> Uses:
    """Give the values that a tool showed and agents used later, with the tasks in which they did; those that can stand in a list of words."""
    found: dict[str, set[Task]] = {}
    for history in histories:
        for value, places in history.references:
            if _is_word(value) and any(history.returns[place].tool == tool for place in places):
                found.setdefault(value, set()).add((history.source, history.task))
    return {value: frozenset(tasks) for value, tasks in found.items()}


def _is_word(value: str) -> bool:
    return _SHORTEST <= len(value) <= _LONGEST and not value.startswith(NUMBER) and not fault(value)


def lasting(used: Uses, returns: Sequence[Seen], tasks: Mapping[int, Task]) -> tuple[str, ...]:
    """Give the values that were used and that a tool shows in two tasks or more: first those that were used in most. Others were of one day."""
    search = searcher(used)
    shown: dict[str, set[Task]] = {}
    for seen in returns if used else ():
        for value in search(searched(seen.content)):
            shown.setdefault(value, set()).add(tasks[id(seen)])
    again = [value for value, where in shown.items() if len(where) > 1]
    return tuple(sorted(sorted(again, key=lambda value: (-len(used[value]), value))[:MOST]))


def shown_in(values: Sequence[str]) -> Callable[[Seen], frozenset[str]]:
    """Give the function that tells which of the values a return shows."""
    search = searcher(values)
    known: dict[int, tuple[Seen, frozenset[str]]] = {}

    def shown(seen: Seen) -> frozenset[str]:
        if not values:
            return frozenset()
        found = known.get(id(seen))
        if found is None:
            found = known[id(seen)] = (seen, frozenset(search(searched(seen.content))))
        return found[1]

    return shown


def brought_back(absent: Iterable[str], used: Uses, task: Task) -> tuple[int, frozenset[str]]:
    """Give which of the values that are gone would be kept as they were used in another task, and about the characters that this takes."""
    back = frozenset(value for value in absent if used.get(value, frozenset()) - {task})
    return sum(len(value) + _AROUND for value in back), back


def entity(tool: str) -> str:
    """Name the entity type of a tool's familiar values."""
    name = _UNFIT.sub("_", tool.lower()).strip("_")[:24]
    return f"used_{name}" if name == tool else f"used_{name or 'tool'}_{blake2b(tool.encode('utf-8', 'replace'), digest_size=2).hexdigest()}"


def described(tool: str, values: Sequence[str]) -> dict[str, Any]:
    """Write what the values are, as `entities` of a rule."""
    return {entity(tool): {"words": list(values), "case_sensitive": True}}
