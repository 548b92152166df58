"""Entity recall: how many of the entities in reduced returns are still in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from reducer.analysis.retention import removed_by
from reducer.analysis.texts import entities, opened

if TYPE_CHECKING:
    from reducer.analysis.measures import Reduced


class Recall(NamedTuple):
    """How many entities of a type were in returns, each counted once per return, and how many still are."""

    total: int
    kept: int


class LostEntity(NamedTuple):
    """An entity that a return no longer contains; `step` removed it: `file:line` and the name of the step."""

    history: str
    type: str
    value: str
    tool: str
    found: str
    step: str


def recall(history: str, returns: Sequence[Reduced]) -> tuple[dict[str, Recall], tuple[LostEntity, ...]]:
    """Compare the entities of returns before and after they were reduced, by type and canonical value."""
    found: dict[str, Recall] = {}
    lost: list[LostEntity] = []
    for entry in returns:
        if entry.outcome is None or entry.outcome.rule is None or entry.left is entry.content:
            continue
        scan = entry.outcome.rule.vocabulary.everything()
        before, after = (entities(opened(content), scan) for content in (entry.content, entry.left))
        gone = [entity for key, entity in before.items() if key not in after]
        steps = removed_by(entry.outcome, [entity.value for entity in gone])
        for kind, canonical in before:
            total, kept = found.get(kind, (0, 0))
            found[kind] = Recall(total + 1, kept + ((kind, canonical) in after))
        lost += (LostEntity(history, e.type, e.value, entry.tool, entry.name, steps[e.value]) for e in gone)
    return dict(sorted(found.items())), tuple(lost)
