"""Rules and baselines side by side: what each saves and what it costs, on the same histories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from operator import add
from typing import Any, NamedTuple

from reducer.analysis.measures import CLEARED, cost, size
from reducer.analysis.prices import Cost, add_costs
from reducer.analysis.texts import entities, opened
from reducer.engine import reduce_content
from reducer.entities import TYPES, scanner
from reducer.formats.json_text import read_json
from reducer.histories.stored import events, returns
from reducer.references import Event, Response, Returned, references, searched, searcher
from reducer.rules import Ruleset
from reducer.values import Unreducible, dump, plain


@dataclass(frozen=True, slots=True)
class Contender:
    """A way to shorten returns: `left(tool, content)` returns what it leaves.

    `last` is how many requests send the returns before them in full, None for all; `rules` is True for rules.
    """

    name: str
    left: Callable[[str, Any], Any]
    last: int | None = None
    rules: bool = False


AS_RECORDED = Contender("as recorded", lambda _, content: content)


def of_rules(name: str, ruleset: Ruleset) -> Contender:
    """Return rules as a contender."""
    return Contender(name, lambda tool, content: reduce_content(ruleset, tool, content), rules=True)


def baseline(text: str) -> Contender:
    """Read `truncate:N` (the first N characters), `head:N` (the first N items of every list) or `keep-last:N`.

    The last keeps the returns of the last N requests. Raises `ValueError` that says what is expected.
    """
    name, _, number = text.partition(":")
    limit = int(number) if number.isdecimal() and len(number) < 10 else 0
    if limit and name in ("truncate", "head"):
        shorten = _truncated if name == "truncate" else _head
        return Contender(text, lambda _, content: shorten(content, limit))
    if limit and name == "keep-last":
        return Contender(text, AS_RECORDED.left, limit)
    raise ValueError(f"unknown baseline {text}: expected one such as truncate:2000, head:5 or keep-last:5")


def _truncated(content: Any, count: int) -> Any:
    try:
        text = content if type(content) is str else dump(plain(content))
    except (Unreducible, ValueError):
        return content
    return content if len(text) <= count else text[:count]


def _head(content: Any, count: int) -> Any:
    def first(value: Any) -> Any:
        if type(value) is list:
            return [first(item) for item in value[:count]]
        return {key: first(item) for key, item in value.items()} if type(value) is dict else value

    value = read_json(content) if type(content) is str else content
    try:
        short = first(value)
    except RecursionError:
        return content
    if type(content) is not str:
        return short
    return content if value is None or short == value else dump(short)


class Score(NamedTuple):
    """What one contender leaves: characters of returns, novel references, entities, and what the requests cost."""

    characters: int = 0
    references: int = 0
    entities: int = 0
    cost: Cost = Cost()


def add_scores(one: Score, other: Score) -> Score:
    """Add the scores of one contender on different histories."""
    characters, references, entities = map(add, one[:3], other[:3])
    return Score(characters, references, entities, add_costs(one.cost, other.cost))


def compare(data: bytes, contenders: Sequence[Contender]) -> list[Score]:
    """Score each contender on one stored history; none changes returns that rules never apply to.

    Raises `HistoryError`.
    """
    tools = {found.key: found.tool for found in returns(data) if not found.untouched}
    placed = events(data)
    happened = [place.event for place in placed]
    answers = [(tools.get(place.key), place.event.content) for place in placed if isinstance(place.event, Returned)]
    arrived = [_entities(content) for _, content in answers]
    novel = [reference for reference in references(happened) if reference.novel]
    search = searcher({reference.value for reference in novel})

    def score(one: Contender) -> Score:
        left = [content if tool is None else _left(one, tool, content) for tool, content in answers]
        values = [search(searched(new)) for new in left]
        cleared = _cleared(happened, one.last)
        characters = kept = 0
        for (_, content), new, known, start in zip(answers, left, arrived, cleared, strict=True):
            if start < inf:
                characters += len(CLEARED)
            else:
                characters += size(new)
                kept += len(known if new is content else known & _entities(new))
        is_kept = (any(each.event < cleared[at] and each.value in values[at] for at in each.sources) for each in novel)
        return Score(characters, sum(is_kept), kept, cost(happened, left, cleared))

    return list(map(score, contenders))


def _entities(content: Any) -> frozenset[tuple[str, str]]:
    return frozenset(entities(opened(content), scanner(frozenset(TYPES))))


def _left(one: Contender, tool: str, content: Any) -> Any:
    """Return what is left of a content: the content itself if it would get longer."""
    new = one.left(tool, content)
    return new if new is content or size(new) <= size(content) else content


def _cleared(happened: Sequence[Event], last: int | None) -> list[float]:
    """Return for each tool return the number of the event from which on it is cleared, infinity for never."""
    firsts: list[int] = []  # for each return, the response to the request that sends it first
    contents: list[Any] = []
    for number, event in enumerate((*happened, Response(()))):
        if isinstance(event, Returned):
            contents.append(event.content)
        elif isinstance(event, Response):
            firsts += [number] * (len(contents) - len(firsts))
    requests = sorted(set(firsts))
    starts = dict(zip(requests, requests[last:], strict=False)) if last is not None else {}
    returned = zip(firsts, contents, strict=True)
    return [starts.get(first, inf) if size(content) > len(CLEARED) else inf for first, content in returned]
