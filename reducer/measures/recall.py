"""Entity recall: of the indicators and names in the returns that were reduced, which still stand in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from reducer.codecs import decode
from reducer.entities import TYPES, scanner
from reducer.measures.retention import taken_by
from reducer.values import is_media

if TYPE_CHECKING:
    from reducer.measures import Reduced


class Recall(NamedTuple):
    """How many entities of a type stood in returns, each counted once a return, and how many still do."""

    total: int
    kept: int


class LostEntity(NamedTuple):
    """An entity that a return does not show any more; `step` took it: `file:line` and the name of the step."""

    history: str
    type: str
    value: str
    tool: str
    found: str
    step: str


def recall(history: str, returns: Sequence[Reduced]) -> tuple[dict[str, Recall], tuple[LostEntity, ...]]:
    """Compare the entities of the returns that were reduced, by type and canonical value, own types among them."""
    found: dict[str, Recall] = {}
    lost: list[LostEntity] = []
    for entry in returns:
        if entry.outcome is None or entry.outcome.rule is None or entry.left is entry.content:
            continue
        scan = entry.outcome.rule.vocabulary.everything()
        before: dict[tuple[str, str], str] = {}
        for text in _texts(entry.content):
            for entity in scan(text):
                before.setdefault((entity.type, entity.canonical), entity.value)
        after = {(entity.type, entity.canonical) for text in _texts(entry.left) for entity in scan(text)}
        steps = taken_by(entry.outcome, [value for entity, value in before.items() if entity not in after])
        for (type, canonical), value in before.items():
            kept = (type, canonical) in after
            known = found.get(type, Recall(0, 0))
            found[type] = Recall(known.total + 1, known.kept + kept)
            if not kept:
                lost.append(LostEntity(history, type, value, entry.tool, entry.name, steps[value]))
    return dict(sorted(found.items())), tuple(lost)


def entities_of() -> Callable[[Any], frozenset[tuple[str, str]]]:
    """Give the function that finds the entities of all built-in types in a content, by type and canonical value."""
    scan = scanner(frozenset(TYPES))
    return lambda content: frozenset((entity.type, entity.canonical) for text in _texts(content) for entity in scan(text))


def _texts(content: Any) -> Iterator[str]:
    """Give every text and key, each once; without recursion, as contents may be deep."""
    seen: set[str] = set()
    waiting = [decode(content) if type(content) is str else content]
    while waiting:
        value = waiting.pop()
        if type(value) is str:
            if value not in seen:
                seen.add(value)
                yield value
        elif type(value) is list:
            waiting.extend(reversed(value))
        elif type(value) is dict and not is_media(value):
            for key, inner in reversed(value.items()):
                waiting += (inner, key)
