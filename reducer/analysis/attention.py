"""What needs the attention of an author, such as tools without a rule and steps that find nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from reducer.analysis.report import Report
from reducer.analysis.tally import RuleSum, StepSum, item_name
from reducer.rules import Rule

Kind = Literal[
    "no rule", "unused rule", "no place", "undone", "lost", "fault", "too long", "bad line", "long line", "warning"
]
TITLES: dict[Kind, str] = {
    "no rule": "Tools without a rule",
    "unused rule": "Unused rules",
    "no place": "Steps that found nothing",
    "undone": "Steps that preserve largely undoes",
    "lost": "Entities beyond the limits of preserve",
    "fault": "Returns left unchanged because of a fault",
    "too long": "Returns still above max_chars",
    "bad line": "Lines without a history, kept unchanged",
    "long line": "Lines that are too large, kept unchanged",
    "warning": "Warnings of the rules",
}
"""The heading of each kind."""


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing that needs attention: `where` is the tool, or `file:line` of a rule; `calls` counts returns or lines.

    `characters` are those of the returns for `no rule` and `fault`, those restored for `undone`, those above
    `max_chars` in the worst return for `too long`, else 0.
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
        *_passed_through(report),
        *(Attention("warning", f"{problem.location}", problem.message) for problem in report.ruleset.warnings),
    )


def _without_rule(report: Report) -> Iterator[Attention]:
    # `tools` has the largest first.
    for tool in report.tools:
        if tool.rule is None and tool.calls > tool.untouched:
            calls = tool.calls - tool.untouched
            size = report.tally.tools[tool.tool].without_rule
            yield Attention(
                "no rule", tool.tool, f"{calls:,} {plural(calls, 'call')}, {size:,} characters", calls, size
            )


def _unused(report: Report) -> Iterator[Attention]:
    if not report.whole:
        return
    for rule in report.ruleset.rules:
        if rule.file not in report.tally.rules:
            yield Attention("unused rule", rule.file, ", ".join(rule.tools))


def _of_rules(report: Report) -> Iterator[tuple[Rule, RuleSum]]:
    for rule in report.ruleset.rules:
        if rule.file in report.tally.rules:
            yield rule, report.tally.rules[rule.file]


def _of_steps(report: Report) -> Iterator[tuple[str, str, StepSum]]:
    """Yield each step that ran: its `file:line`, its name, and what it did."""
    for rule, total in _of_rules(report):
        for number, done in sorted(total.steps.items()):
            step = rule.steps[number - 1] if number <= len(rule.steps) else None
            yield (f"{rule.file}:{step.location.line}", step.name, done) if step else (rule.file, "max_chars", done)


def _no_place(report: Report) -> Iterator[Attention]:
    for where, name, done in _of_steps(report):
        reported = set()
        # Of several reasons why nothing was found, the most frequent one. What some calls have is no mistake.
        for reason in sorted(done.reasons.values(), key=lambda reason: -reason.calls):
            item = reason.item
            there = done.placed if item.what == "place" else item.text in done.seen
            if not there and item_name(item) not in reported:
                reported.add(item_name(item))
                yield Attention("no place", where, f"`{name}`: {item}", done.missed[item_name(item)], 0, item.nearest)


def _undone(report: Report) -> Iterator[Attention]:
    for where, name, done in _of_steps(report):
        if done.undone:
            message = f"preserve restored {done.restored:,} of the {done.removed:,} characters that `{name}` removed; "
            message += "`preserve: []` on the step restores nothing, `preserve: {ioc: 200}` at most 200"
            yield Attention("undone", where, message, done.undone, done.restored)


def _lost(report: Report) -> Iterator[Attention]:
    for rule, total in _of_rules(report):
        if total.losing:
            message = f"{total.lost:,} entities are lost because `preserve` limits their number"
            yield Attention("lost", rule.file, message, total.losing)


def _faults(report: Report) -> Iterator[Attention]:
    for tool, total in report.tally.tools.items():
        for why, fault in total.faults.items():
            more = f" and {fault.calls - 1:,} more" if fault.calls > 1 else ""
            message = f"{fault.first}{more} unchanged, {fault.characters:,} characters: {why}"
            yield Attention("fault", tool, message, fault.calls, fault.characters)


def _too_long(report: Report) -> Iterator[Attention]:
    for rule, total in _of_rules(report):
        if total.over:
            more = f" ({total.over:,} calls are)" if total.over > 1 else ""
            message = f"{total.worst_name} is {total.worst:,} characters above `max_chars` {rule.max_chars:,}{more}"
            yield Attention("too long", rule.file, message, total.over, total.worst)


def _passed_through(report: Report) -> Iterator[Attention]:
    for total in report.lines:
        if total.bad:
            numbers = ", ".join(f"{number:,}" for number, _ in total.first_bad)
            more = ", …" if total.bad > len(total.first_bad) else ""
            message = f"{total.bad:,} of {total.lines:,} lines: {numbers}{more}"
            yield Attention("bad line", total.history, message, total.bad)
        if total.long:
            yield Attention("long line", total.history, f"{total.long:,} of {total.lines:,} lines", total.long)


def plural(count: int, noun: str) -> str:
    """Return the singular of a noun for one, otherwise the plural with an s."""
    return noun if count == 1 else f"{noun}s"


def by_kind(entries: Iterable[Attention]) -> dict[Kind, list[Attention]]:
    """Group by kind, in order."""
    groups: dict[Kind, list[Attention]] = {}
    for entry in entries:
        groups.setdefault(entry.kind, []).append(entry)
    return groups
