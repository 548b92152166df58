"""Compare rules and baselines: what each saves and what it costs on the same histories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, NamedTuple

from reducer.analysis.costs import CLEARED, Cost, cost, size
from reducer.analysis.measures import Used, lost_references, removing_steps, used_values
from reducer.analysis.texts import entities, opened
from reducer.engine import Outcome, attempt
from reducer.entities import TYPES, scanner
from reducer.formats.json_text import read_json
from reducer.histories.repeats import Repeated, Repeats
from reducer.histories.stored import events, returns
from reducer.references import Event, Reference, Response, Returned
from reducer.rules import Ruleset
from reducer.values import Unreducible, dump, plain

Reduce = Callable[[str, str, Any], Repeated]
"""`reduce(tool, call_id, content)` reduces a return."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A way to shorten tool returns: `start()` returns a function that reduces the returns of one history in order.

    A request contains only the returns of the last `keep_last` requests, or all returns if it is None.
    """

    name: str
    start: Callable[[], Reduce]
    keep_last: int | None = None


def of_rules(name: str, ruleset: Ruleset) -> Contender:
    """Return a contender that applies rules."""

    def reduce(tool: str, call_id: str, content: Any) -> Repeated:
        outcome = attempt(ruleset, tool, content)
        return Repeated(outcome, outcome.content)

    return Contender(name, lambda: reduce)


def with_repeats(name: str, ruleset: Ruleset) -> Contender:
    """Return a contender that applies rules, and leaves out what earlier returns show."""
    return Contender(f"{name} --repeats", lambda: Repeats(partial(attempt, ruleset)).reduce)


def _shortening(name: str, shorten: Callable[[Any], Any], keep_last: int | None = None) -> Contender:
    """Return a contender that replaces contents with `shorten(content)`, unless it is longer."""

    def reduce(tool: str, call_id: str, content: Any) -> Repeated:
        new = shorten(content)
        is_shorter = new is content or size(new) <= size(content)
        return Repeated(Outcome(None, content), new if is_shorter else content)

    return Contender(name, lambda: reduce, keep_last)


AS_RECORDED = _shortening("as recorded", lambda content: content)


def baseline(text: str) -> Contender:
    """Parse a baseline. Raises `ValueError`.

    `truncate:N` keeps the first N characters, `head:N` the first N items of every list, and `keep-last:N` the returns
    of the last N requests. `minify` decodes JSON in texts and writes it compactly, `minify+cut:N` also truncates it.
    """
    name, _, number = text.partition(":")
    limit = int(number) if number.isdecimal() and len(number) < 10 else 0
    if text == "minify":
        return _shortening(text, lambda content: _decoded(content, unwraps=True))
    if limit and name == "minify+cut":
        return _shortening(text, lambda content: _truncated(_decoded(content, unwraps=True), limit))
    if limit and name == "truncate":
        return _shortening(text, lambda content: _truncated(content, limit))
    if limit and name == "head":
        return _shortening(text, lambda content: _decoded(content, limit, unwraps=False))
    if limit and name == "keep-last":
        return _shortening(text, lambda content: content, keep_last=limit)
    known = "truncate:2000, head:5, keep-last:5, minify or minify+cut:12000"
    raise ValueError(f"unknown baseline {text}: expected one such as {known}")


def _truncated(content: Any, count: int) -> Any:
    try:
        text = content if type(content) is str else dump(plain(content))
    except (Unreducible, ValueError):
        return content
    return content if len(text) <= count else text[:count]


def _decoded(content: Any, count: int | None = None, *, unwraps: bool) -> Any:
    """Cut every list after `count` items, also in JSON texts, which are written compactly.

    With `unwraps`, nested JSON texts become the values that they encode.
    """

    def shorter(value: Any) -> Any:
        if type(value) is str:
            inner = read_json(value)
            if inner is None:
                return value
            return shorter(inner) if unwraps else dump(shorter(inner))
        if type(value) is list:
            return list(map(shorter, value[:count]))
        return {key: shorter(item) for key, item in value.items()} if type(value) is dict else value

    with suppress(RecursionError):
        value = shorter(content)
        return dump(value) if type(content) is str and type(value) is not str else value
    return content


class Score(NamedTuple):
    """What a contender keeps: characters of returns, novel references and entities, and the cost of the requests.

    `lost` counts the novel references that rules lost, by the tool and the step that removed them.
    """

    characters: int = 0
    references: int = 0
    entities: int = 0
    cost: Cost = Cost()
    lost: Mapping[str, Mapping[str, int]] = {}


class _Recorded(NamedTuple):
    """A history: its events, its returns with their tools (None if rules never change one), and what they contain."""

    events: Sequence[Event]
    tools: Sequence[str | None]
    contents: Sequence[Any]
    entities: Sequence[Set[tuple[str, str]]]
    used: Used


def compare(data: bytes, contenders: Sequence[Contender]) -> list[Score]:
    """Score each contender on a stored history. Returns that rules never change stay unchanged.

    Raises `HistoryError`.
    """
    reducible = {found.key: found.tool for found in returns(data) if not found.untouched}
    placed = events(data)
    happened = [event for event, _ in placed]
    tools = [reducible.get(key) for event, key in placed if isinstance(event, Returned)]
    contents = [event.content for event in happened if isinstance(event, Returned)]
    recorded = _Recorded(happened, tools, contents, list(map(_entities, contents)), used_values(happened))
    return list(map(partial(_score, recorded), contenders))


def _reduced(recorded: _Recorded, contender: Contender) -> list[Repeated]:
    """Reduce all returns, except those that rules never change."""
    reduce = contender.start()
    returned = [event for event in recorded.events if isinstance(event, Returned)]
    results: list[Repeated] = []
    for tool, event in zip(recorded.tools, returned, strict=True):
        content = event.content
        unchanged = Repeated(Outcome(None, content), content)
        results.append(unchanged if tool is None else reduce(tool, event.call_id, content))
    return results


def _score(recorded: _Recorded, contender: Contender) -> Score:
    results = _reduced(recorded, contender)
    contents = [result.content for result in results]
    shown: set[tuple[str, str]] = set()
    cleared = _cleared(recorded, contender.keep_last)
    characters = kept = 0
    for old, result, known, start in zip(recorded.contents, results, recorded.entities, cleared, strict=True):
        if start < inf:
            characters += len(CLEARED)
            continue
        new = result.content
        characters += size(new)
        left = known if new is old else known & _entities(new)
        if result.saved:
            left |= known & shown
        shown |= left
        kept += len(left)
    lost = lost_references(recorded.used, recorded.contents, contents, cleared)
    return Score(
        characters,
        references=len(recorded.used.references) - len(lost),
        entities=kept,
        cost=cost(recorded.events, contents, cleared),
        lost=_by_step(recorded, results, lost),
    )


def _by_step(recorded: _Recorded, results: Sequence[Repeated], lost: Iterable[Reference]) -> dict[str, Counter[str]]:
    """Count the references that rules lost, by the tool of the first return with their value and by step."""
    counts: dict[str, Counter[str]] = {}
    for reference in lost:
        source = reference.sources[0]
        tool, outcome = recorded.tools[source], results[source].outcome
        if tool is not None and outcome.rule is not None:
            counts.setdefault(tool, Counter()).update(removing_steps(outcome, [reference.value]).values())
    return counts


def _entities(content: Any) -> frozenset[tuple[str, str]]:
    return frozenset(entities(opened(content), scanner(frozenset(TYPES))))


def _cleared(recorded: _Recorded, keep_last: int | None) -> list[float]:
    """Return the number of the event that clears each tool return, or infinity if none does."""
    requests: list[int] = []  # the responses to requests that send new returns
    sent: list[int] = []  # for each return, the number of the request that sends it first
    for number, event in enumerate((*recorded.events, Response(()))):
        if isinstance(event, Returned):
            sent.append(len(requests))
        elif isinstance(event, Response) and sent and sent[-1] == len(requests):
            requests.append(number)
    cleared: list[float] = []
    for first, content in zip(sent, recorded.contents, strict=True):
        is_small = size(content) <= len(CLEARED)
        later = [] if keep_last is None or is_small else requests[first + keep_last :]
        cleared.append(later[0] if later else inf)
    return cleared
