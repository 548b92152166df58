"""What an author should look at: tools without a rule, rules without a tool, steps that found nothing or were undone, returns that stayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from reducer.report import Report, ReturnReport, StepReport
from reducer.rule import Rule

Kind = Literal["no rule", "unused rule", "no place", "undone", "lost", "fault", "too long", "warning"]


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing that needs attention: `where` is the tool, or `file:line` of a rule; `calls` the returns that it is about.

    `characters` are those of the returns for `no rule` and `fault`, those put back for `undone`, those above `max_chars` in the worst
    return for `too long`, else 0.
    """

    kind: Kind
    where: str
    message: str
    calls: int = 0
    characters: int = 0
    nearest: str = ""


def attention(report: Report) -> tuple[Attention, ...]:
    """List what needs attention, the kinds in their order, the largest first."""
    return (
        *_without_rule(report),
        *_unused(report),
        *_no_place(report),
        *_undone(report),
        *_lost(report),
        *_faults(report),
        *_too_long(report),
        *(Attention("warning", f"{problem.location}", problem.message) for problem in report.ruleset.warnings),
    )


def _without_rule(report: Report) -> Iterator[Attention]:
    # `tools` has the largest first.
    for tool in report.tools:
        if tool.rule is None and tool.calls > tool.untouched:
            calls = tool.calls - tool.untouched
            size = sum(entry.before for entry in report.returns if entry.tool == tool.tool and entry.status == "no rule")
            yield Attention("no rule", tool.tool, f"{calls:,} {plural(calls, 'call')}, {size:,} characters", calls, size)


def _unused(report: Report) -> Iterator[Attention]:
    if not report.whole:
        return
    used = {id(entry.rule) for entry in report.returns if entry.rule is not None}
    for rule in report.ruleset.rules:
        if id(rule) not in used:
            yield Attention("unused rule", rule.file, ", ".join(rule.tools))


def _of_rules(report: Report) -> Iterator[tuple[Rule, list[ReturnReport]]]:
    returns: dict[int, list[ReturnReport]] = {}
    for entry in report.returns:
        returns.setdefault(id(entry.rule), []).append(entry)
    for rule in report.ruleset.rules:
        if id(rule) in returns:
            yield rule, returns[id(rule)]


def _of_steps(report: Report) -> Iterator[tuple[str, str, list[tuple[ReturnReport, StepReport]]]]:
    """Give each step that ran: its `file:line`, its name, and what it did to which return."""
    for rule, entries in _of_rules(report):
        ran: dict[int, list[tuple[ReturnReport, StepReport]]] = {}
        for entry in entries:
            for step in entry.steps:
                if step.ran:
                    ran.setdefault(step.step.number if step.step else len(rule.steps) + 1, []).append((entry, step))
        for _, done in sorted(ran.items()):
            first = done[0][1].step
            yield (f"{rule.file}:{first.location.line}", first.name, done) if first else (rule.file, "max_chars", done)


def _no_place(report: Report) -> Iterator[Attention]:
    for where, name, done in _of_steps(report):
        found = Counter(item for _, step in done for item in step.missing)
        seen = frozenset[str]().union(*(step.seen for _, step in done))
        told = set()
        # Of several reasons why nothing was found the commonest is told. What some calls have is no mistake.
        for item, _ in found.most_common():
            calls = sum(count for other, count in found.items() if (other.what, other.text) == (item.what, item.text))
            there = any(step.places for _, step in done) if item.what == "place" else item.text in seen
            if not there and (item.what, item.text) not in told:
                told.add((item.what, item.text))
                yield Attention("no place", where, f"`{name}`: {item}", calls, 0, item.nearest)


def _undone(report: Report) -> Iterator[Attention]:
    for where, name, done in _of_steps(report):
        undone = [(step.put_back, step.before - step.after) for _, step in done if step.put_back * 2 >= step.before - step.after > 0]
        if undone:
            back, took = sum(pair[0] for pair in undone), sum(pair[1] for pair in undone)
            message = f"preserve put back {back:,} of the {took:,} characters that `{name}` took: `preserve: []` on the step lets them go"
            message += ", `preserve: {ioc: 200}` keeps the first 200"
            yield Attention("undone", where, message, len(undone), back)


def _lost(report: Report) -> Iterator[Attention]:
    for rule, entries in _of_rules(report):
        lost = [entry.lost for entry in entries if entry.lost]
        if lost:
            message = f"{sum(lost):,} entities went, as `preserve` has no room for them"
            yield Attention("lost", rule.file, message, len(lost))


def _faults(report: Report) -> Iterator[Attention]:
    returns: dict[tuple[str, str], list[ReturnReport]] = {}
    for entry in report.returns:
        if entry.status == "fault":
            returns.setdefault((entry.tool, entry.why), []).append(entry)
    for (tool, why), entries in returns.items():
        size = sum(entry.before for entry in entries)
        yield Attention("fault", tool, f"{_which(entries)} stayed as it was, {size:,} characters: {why}", len(entries), size)


def _too_long(report: Report) -> Iterator[Attention]:
    for rule, entries in _of_rules(report):
        over = [entry for entry in entries if entry.over]
        if over:
            worst = max(over, key=lambda entry: entry.over)
            more = f" ({len(over):,} calls are)" if len(over) > 1 else ""
            message = f"{worst.name} is {worst.over:,} characters above `max_chars` {rule.max_chars:,}{more}"
            yield Attention("too long", rule.file, message, len(over), worst.over)


def _which(entries: list[ReturnReport]) -> str:
    more = f" and {len(entries) - 1:,} more" if len(entries) > 1 else ""
    return entries[0].name + more


def plural(count: int, noun: str) -> str:
    """Give `noun` as it stands for one, with an s for any other number."""
    return noun if count == 1 else f"{noun}s"


def by_kind(entries: Iterable[Attention]) -> dict[Kind, list[Attention]]:
    """Group by kind, in order."""
    groups: dict[Kind, list[Attention]] = {}
    for entry in entries:
        groups.setdefault(entry.kind, []).append(entry)
    return groups
