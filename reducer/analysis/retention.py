"""Reference retention: the values from tool returns that the agent used later, and would still have seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from reducer.analysis.texts import opened
from reducer.paths.written import path_text
from reducer.references import Event, references, searched, searcher

if TYPE_CHECKING:
    from reducer.analysis.measures import Reduced
    from reducer.engine import Outcome


class LostReference(NamedTuple):
    """A value that the agent used and would not have seen.

    It was in the return `found` (a call id) of `tool`, at `path`. `used` is the message that used it, counted from 0,
    and `kind` whether in a text or in the arguments of a call. `step` removed it: `file:line` and the name of the step.
    """

    history: str
    value: str
    tool: str
    found: str
    path: str
    used: int
    kind: str
    step: str


class Retention(NamedTuple):
    """How many novel references there are, how many were kept, and the others."""

    references: int
    kept: int
    lost: tuple[LostReference, ...]


def retention(
    history: str, happened: Sequence[Event], where: Sequence[int], returns: Sequence[Reduced | None]
) -> Retention:
    """Look for every novel reference in what the rules leave of the returns that contained it."""
    novel = [reference for reference in references(happened) if reference.novel]
    wanted: dict[int, list[str]] = {}
    for reference in novel:
        for source in reference.sources:
            wanted.setdefault(source, []).append(reference.value)
    kept: dict[int, set[str]] = {}
    for source, values in wanted.items():
        entry = returns[source]
        is_reduced = entry is not None and entry.left is not entry.content
        kept[source] = searcher(values)(searched(entry.left)) if entry is not None and is_reduced else set(values)
    gone = [reference for reference in novel if not any(reference.value in kept[each] for each in reference.sources)]
    missing: dict[int, list[str]] = {}
    for reference in gone:
        missing.setdefault(reference.sources[0], []).append(reference.value)
    steps: dict[int, dict[str, str]] = {}
    lost = []
    for reference in gone:
        source = reference.sources[0]
        entry = returns[source]
        assert entry is not None
        assert entry.outcome is not None
        if source not in steps:
            steps[source] = removed_by(entry.outcome, missing[source])
        lost.append(
            LostReference(
                history=history,
                value=reference.shown,
                tool=entry.tool,
                found=entry.name,
                path=_path(reference.value, entry.content),
                used=where[reference.event],
                kind=reference.kind,
                step=steps[source][reference.value],
            )
        )
    return Retention(len(novel), len(novel) - len(lost), tuple(lost))


def removed_by(outcome: Outcome, values: Iterable[str]) -> dict[str, str]:
    """Name for each value the step that removed its last occurrence: file, line and name; "" if no step did."""
    steps = dict.fromkeys(values, "")
    waiting = set(steps)
    for run in outcome.steps:
        if waiting and run.changed:
            left = searcher(sorted(waiting))(searched(outcome.left_after(run.number)))
            if run.step is None:
                name = f"{PurePath(outcome.rule.file).name} max_chars" if outcome.rule else "max_chars"
            else:
                name = f"{PurePath(run.step.location.file).name}:{run.step.location.line} {run.step.name}"
            steps.update(dict.fromkeys(waiting - left, name))
            waiting = left
    return steps


def _path(value: str, content: Any) -> str:
    """Return the path of the first place in a content whose key or text contains a value; `@` for a text."""
    search = searcher([value])
    return next((path_text(path) for path, leaf in _leaves(opened(content)) if search(searched(leaf))), "@")


def _leaves(content: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield every key and every leaf with its path, in order; without recursion, as contents may be deep."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), content)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            for key, inner in reversed(value.items()):
                waiting += (((*path, key), inner), ((*path, key), str(key)))
        elif isinstance(value, list):
            waiting.extend(((*path, index), inner) for index, inner in reversed(list(enumerate(value))))
        else:
            yield path, str(value) if isinstance(value, (int, float)) else value
