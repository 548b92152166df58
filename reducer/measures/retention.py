"""Reference retention: of the values that the agent used and had from tool returns alone, which it would still have seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from reducer.codecs import decode
from reducer.path.written import path_text
from reducer.references import Event, references, searched, searcher

if TYPE_CHECKING:
    from reducer.engine import Outcome
    from reducer.measures import Reduced


class LostReference(NamedTuple):
    """A value that the agent used and would not have seen.

    `tool`, `found` and `path`: the return that it stood in, by tool and call id, and where; `used`: the message that used it, counted
    from 0; `kind`: in a text or in the arguments of a call; `step` took it: `file:line` and the name of the step.
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


def retention(history: str, happened: Sequence[Event], where: Sequence[int], returns: Sequence[Reduced | None]) -> Retention:
    """Look for every novel reference in what rules leave of the returns that it was had from."""
    own = [reference for reference in references(happened) if reference.novel]
    wanted: dict[int, list[str]] = {}
    for reference in own:
        for source in reference.sources:
            wanted.setdefault(source, []).append(reference.value)
    still: dict[int, set[str]] = {}
    for source, values in wanted.items():
        entry = returns[source]
        changed = entry is not None and entry.left is not entry.content
        still[source] = searcher(values)(searched(entry.left)) if entry is not None and changed else set(values)
    gone = [reference for reference in own if not any(reference.value in still[source] for source in reference.sources)]
    missing: dict[int, list[str]] = {}
    for reference in gone:
        missing.setdefault(reference.sources[0], []).append(reference.value)
    lost = []
    steps: dict[int, dict[str, str]] = {}
    for reference in gone:
        source = reference.sources[0]
        entry = returns[source]
        assert entry is not None
        assert entry.outcome is not None
        if source not in steps:
            steps[source] = taken_by(entry.outcome, missing[source])
        place, step = _place(reference.value, entry.content), steps[source][reference.value]
        lost.append(LostReference(history, reference.shown, entry.tool, entry.name, place, where[reference.event], reference.kind, step))
    return Retention(len(own), len(own) - len(lost), tuple(lost))


def taken_by(outcome: Outcome, values: Iterable[str]) -> dict[str, str]:
    """Name for each of some values the step after which it is gone from a return, by its file, line and own name; empty where no step took all of it.

    All at once: what each step left is read once, and not for every value.
    """
    steps = dict.fromkeys(values, "")
    waiting = set(steps)
    for trace in outcome.steps:
        if waiting and trace.after is not trace.before:
            still = searcher(sorted(waiting))(searched(trace.after))
            if trace.step is None:
                name = f"{PurePath(outcome.rule.file).name} max_chars" if outcome.rule else "max_chars"
            else:
                name = f"{PurePath(trace.step.location.file).name}:{trace.step.location.line} {trace.step.name}"
            steps.update(dict.fromkeys(waiting - still, name))
            waiting = still
    return steps


def _place(value: str, content: Any) -> str:
    """Name the first place in a content whose key or text holds a value; `@` for a content that is a text."""
    search = searcher([value])
    opened = decode(content) if type(content) is str else content
    return next((path_text(path) for path, leaf in _leaves(opened) if search(searched(leaf))), "@")


def _leaves(content: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Give every key and every leaf with its path, in order; without recursion, as contents may be deep."""
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
