"""What needs the attention of an author, such as tools without a rule and steps that find nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from reducer.analysis.report import Report
from reducer.analysis.tally import Kind, LineSum, Need

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
"""The heading of each kind, in the order in which they are listed."""


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing that needs attention: `where` is the tool, or `file:line` of a rule; `calls` counts returns or lines.

    `characters` are those of the returns for `no rule` and `fault`, those restored for `undone`, those above
    `max_chars` for `too long`, else 0. `nearest` is the path or key that was probably meant.
    """

    kind: Kind
    where: str
    message: str
    calls: int = 0
    characters: int = 0
    nearest: str = ""


def attention(report: Report) -> tuple[Attention, ...]:
    """List what needs attention, the kinds in their order, the largest first."""
    rules, tally = report.ruleset.rules, report.tally
    unused = [rule for rule in rules if rule.file not in tally.used] if report.whole else []
    entries = [
        *(Attention("unused rule", rule.file, ", ".join(rule.tools)) for rule in unused),
        *(_of_returns(need) for key, need in tally.needs.items() if key[1:] not in tally.found),
        *(entry for total in report.lines for entry in _of_lines(total)),
        *(Attention("warning", f"{problem.location}", problem.message) for problem in report.ruleset.warnings),
    ]
    kinds = list(TITLES)
    return tuple(sorted(entries, key=lambda entry: (kinds.index(entry.kind), -entry.characters)))


def _of_returns(need: Need) -> Attention:
    size, about = f"{need.size:,}", need.about
    more = f" and {need.calls - 1:,} more" if need.calls > 1 else ""
    message = {
        "no rule": f"{need.calls:,} {plural(need.calls, 'call')}, {size} characters",
        "no place": about,
        "undone": f"preserve restored {size} characters that `{about}` removed; "
        "`preserve: []` on the step restores nothing, `preserve: {ioc: 200}` at most 200",
        "lost": f"{size} entities are lost because `preserve` limits their number",
        "fault": f"{need.first}{more} unchanged, {size} characters: {about}",
        "too long": f"{need.first}{more} {'are' if more else 'is'} {size} characters above `max_chars` {about}",
    }[need.kind]
    return Attention(need.kind, need.where, message, need.calls, 0 if need.kind == "lost" else need.size, need.nearest)


def _of_lines(total: LineSum) -> Iterator[Attention]:
    of_all = f"of {total.lines:,} lines"
    if total.bad:
        numbers = ", ".join(f"{number:,}" for number, _ in total.first_bad)
        more = ", …" if total.bad > len(total.first_bad) else ""
        yield Attention("bad line", total.history, f"{total.bad:,} {of_all}: {numbers}{more}", total.bad)
    if total.long:
        yield Attention("long line", total.history, f"{total.long:,} {of_all}", total.long)


def plural(count: int, noun: str) -> str:
    """Return the singular of a noun for one, otherwise the plural with an s."""
    return noun if count == 1 else f"{noun}s"


def by_kind(entries: Iterable[Attention]) -> dict[Kind, list[Attention]]:
    """Group what `attention` returned by kind, in order."""
    return {kind: list(group) for kind, group in groupby(entries, key=lambda entry: entry.kind)}
