"""Choose the rule that applies to a content, and open the content for its steps.

The candidates are tried in order. The first whose `when.where` holds applies, unless the content is too small for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from reducer import markers
from reducer.engine.outcome import Outcome, StepRun
from reducer.formats import parse_nested
from reducer.plan.nodes import LEAVES, Opened, fits, open_parsed, open_return, open_text, opened_again
from reducer.plan.place import Place, Work
from reducer.plan.protected import References, Scans
from reducer.rules import Rule
from reducer.rules.model import TextPaths
from reducer.values import MAX_DEPTH, PLAIN, is_media

_FLAT = PLAIN - {str, list}
_EVERY_TEXT = TextPaths({}, None, None, here=False, all=True)


class Chosen(NamedTuple):
    """The rule that applies to a content, and the content opened for it.

    `number` is that of the rule among the candidates. `work` is None if no step runs, because the gate of the rule does
    not hold or rules never change the content. `tried` are the other rules whose `where` does not hold.
    """

    number: int
    rule: Rule
    work: Work | None = None
    gated: bool = False
    tried: tuple[Rule, ...] = ()


@dataclass(slots=True, eq=False)
class Candidates:
    """The rules to try for one return in order, and what all passes over the return share."""

    rules: Sequence[Rule]
    references: References
    repeats: frozenset[str] = frozenset()
    _scans: dict[int, Scans] = field(default_factory=dict)

    def choose(self, content: Any, top: Opened | None = None) -> Chosen:
        """Return the rule for a content, which may already be opened. Raises `Unreducible`."""
        top = top or open_return(content)
        if top is None:
            return Chosen(0, self.rules[0])
        tried: list[Rule] = []
        for number, rule in enumerate(self.rules):
            if is_too_small(rule, content):
                return Chosen(number, rule, gated=True, tried=tuple(tried))
            work = self._work(number, opened_again(top, notations_of(rule.text_paths)))
            open_texts(work, rule.text_paths)
            if self.repeats or (rule.reads_marked and _may_hold_markers(content)):
                work.root().hide_markers()  # conditions must decide as if there were none (law 5)
            when = rule.when
            if when is not None and when.where is not None and not when.where.holds(work.arrived()):
                tried.append(rule)
                continue
            gated = when is not None and when.min_chars is not None and work.top.size(work.top.value) < when.min_chars
            return Chosen(number, rule, None if gated else work, gated=gated, tried=tuple(tried))
        first, *others = tried
        return Chosen(0, first, gated=True, tried=tuple(others))

    def _work(self, number: int, top: Opened) -> Work:
        rule = self.rules[number]
        if number not in self._scans:
            self._scans[number] = Scans(rule.vocabulary, rule.types)
        return Work(top, rule.settings, self._scans[number], self.references, self.repeats)


def is_too_small(rule: Rule, content: Any) -> bool:
    """Return whether a content is a text that is too small for a rule without `where`, which needs not be parsed."""
    when = rule.when
    if when is None or when.min_chars is None or rule.has_where or type(content) is not str:
        return False
    return len(content) < when.min_chars


def _may_hold_markers(content: Any) -> bool:
    """Return whether a content can contain markers of an earlier pass, also in a text that encodes them."""
    if type(content) is str:
        return markers.PREFIX in content or markers.ESCAPED in content
    try:
        stored = msgspec.json.encode(content)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return True
    return markers.PREFIX.encode() in stored or markers.ESCAPED.encode() in stored


def breaks_where(rule: Rule, outcome: Outcome) -> StepRun | None:
    """Return the first step of a rule after which its own `where` does not hold."""
    where = None if rule.when is None else rule.when.where
    if where is None:
        return None
    for run in outcome.steps:
        if run.changed and not where.holds(outcome.left_after(run.number)):
            return run
    return None


# --- opened texts


def open_texts(work: Work, paths: TextPaths | None) -> None:
    """Open the texts of a return that a rule with these paths reads as structure."""
    if paths is None:
        return
    if paths.notations and not work.top.notation and type(work.top.value) is str and work.top.value:
        work.unread += 1
    if work.top.notation != "lines":  # a line is a text, whatever it contains
        _open_texts(work.root(), paths)


def notations_of(paths: TextPaths | None) -> tuple[str, ...]:
    """Return the notations in which a rule with these paths reads a plain text."""
    return () if paths is None else paths.notations


def _open_texts(place: Place, paths: TextPaths, every_text: bool = False) -> None:
    """Open the texts on the paths below a place, or with `every_text` all JSON texts below it."""
    value, every_text = place.value, every_text or paths.all
    if type(value) is list:
        below = paths.of_items()
        if every_text or (below is not None and not _is_flat(value, below)):
            for index in range(len(value)):
                _open_child(place, index, below or _EVERY_TEXT, every_text)
    elif type(value) is dict and not is_media(value):
        for key in value if paths.every is not None or every_text else paths.names.keys() & value.keys():
            _open_child(place, key, paths.names.get(key) or paths.every or _EVERY_TEXT, every_text)


def _open_child(place: Place, key: Any, paths: TextPaths, every_text: bool) -> None:
    value = place.value[key]
    if type(value) is not str and type(value) not in LEAVES:
        value = place.child(key).value  # an enum is read as its text
    if type(value) is str and (every_text or paths.here or paths.all):
        parsed = parse_nested(value)
        if parsed is None and paths.notations and value:
            _open_notation(place, key, value, paths)
            return
        if parsed is None or not (paths.here or parsed[1].is_json):  # `unwrap` replaces JSON texts only
            return
        if not fits(parsed[0], MAX_DEPTH - place.depth - 1, paths.here):  # it must not turn data into media items
            return
        place.inside[key] = open_parsed(*parsed)
    elif type(value) in LEAVES:
        return
    _open_texts(place.child(key), paths, every_text)


def _open_notation(place: Place, key: Any, text: str, paths: TextPaths) -> None:
    """Open the plain text at a key in a notation, and the texts below it, except lines."""
    opened = open_text(text, paths.notations, nested=True)
    if opened is None:
        place.work.unread += 1
        return
    if fits(opened.value, MAX_DEPTH - place.depth - 1):
        place.inside[key] = opened
        if opened.notation != "lines":
            _open_texts(place.child(key), paths)


def _is_flat(items: list[Any], paths: TextPaths) -> bool:
    """Return whether a list contains only objects and numbers without a text to open. This check runs at C speed."""
    return not paths.names and paths.every is None and not paths.all and _FLAT.issuperset(map(type, items))
