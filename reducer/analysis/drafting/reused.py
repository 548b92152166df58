"""Values that agents use in several tasks: names of tables, columns and tools, which rules keep by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from reducer.analysis.drafting.evidence import RecordedReturn, Recording, Task
from reducer.analysis.drafting.scores import Effect
from reducer.entities.words import word_error
from reducer.references import NUMBER, searched, searcher

Uses = Mapping[str, frozenset[Task]]
"""For each value the tasks in which it was used."""
MAX_VALUES = 200
"""Values that a rule names."""
_MIN_LENGTH, _MAX_LENGTH = 4, 60
_MARKER_CHARS = 4
"""Characters that a mention takes in a marker besides its own."""
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


def uses(histories: Iterable[Recording], tool: str) -> Uses:
    """Return the values that a tool showed and agents used later, as far as name lists can hold them."""
    found: dict[str, set[Task]] = {}
    for history in histories:
        for value, places in history.references:
            is_word = (
                _MIN_LENGTH <= len(value) <= _MAX_LENGTH and not value.startswith(NUMBER) and not word_error(value)
            )
            if is_word and any(history.returns[place].tool == tool for place in places):
                found.setdefault(value, set()).add(history.task)
    return {value: frozenset(tasks) for value, tasks in found.items()}


def reused_values(used: Uses, returns: Sequence[RecordedReturn]) -> tuple[str, ...]:
    """Return the used values that a tool shows in two tasks or more, at most those that were used in most tasks."""
    search = searcher(used)
    shown: dict[str, set[Task]] = {}
    for one in returns if used else ():
        for value in search(searched(one.content)):
            shown.setdefault(value, set()).add(one.task)
    again = [value for value, tasks in shown.items() if len(tasks) > 1]
    return tuple(sorted(sorted(again, key=lambda value: (-len(used[value]), value))[:MAX_VALUES]))


def with_reused(effect: Effect, one: RecordedReturn, used: Uses) -> Effect:
    """Return an effect with the absent values kept that were used in other tasks, and the characters they take."""
    kept = frozenset(value for value in effect.absent if used.get(value, frozenset()) - {one.task})
    chars = sum(len(value) + _MARKER_CHARS for value in kept)
    return Effect(min(one.chars, effect.chars + chars), effect.lost - kept, effect.absent - kept) if kept else effect


def entity_type(tool: str) -> str:
    """Return the name of the entity type for the reused values of a tool."""
    name = _NOT_IN_NAMES.sub("_", tool.lower()).strip("_")[:24]
    digest = blake2b(tool.encode("utf-8", "replace"), digest_size=2).hexdigest()
    return f"used_{name}" if name == tool else f"used_{name or 'tool'}_{digest}"


def as_entities(tool: str, values: Sequence[str]) -> dict[str, Any]:
    """Return the values as `entities` of a rule."""
    return {entity_type(tool): {"words": list(values), "case_sensitive": True}}
