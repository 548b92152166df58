"""What rules cost, for people: the measures below the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from reducer.measures import Measures
from reducer.measures.cost import Prices
from reducer.report import Report
from reducer.report.attention import plural
from reducer.screen import print_indented, visible

if TYPE_CHECKING:
    from rich.console import Console

_MOST = 8


def print_measures(report: Report, measures: Measures, prices: Prices, screen: Console) -> None:
    """Print what rules cost: what was kept, what was lost and which step took it, and what the requests cost."""
    from rich.text import Text

    screen.print()
    screen.print(Text("What the rules cost", "bold"))
    for title, what, lost in (*_sections(measures), *_always_kept(report)):
        screen.print(Text.assemble("  ", (title, "dim"), " ", what))
        for line in lost[:_MOST]:
            print_indented(Text(line), 4, screen)
        if len(lost) > _MOST:
            print_indented(Text(f"and {len(lost) - _MOST:,} more: `--format json` has them", "dim"), 4, screen)
    for line in cost_lines(measures, prices):
        screen.print(Text.assemble("  ", ("Cost      ", "dim"), " ", line))


def _sections(measures: Measures) -> Iterator[tuple[str, str, list[str]]]:
    if measures.retention is None:
        yield "References", "the agent used nothing later that it had from tool returns alone", []
    else:
        what = f"{share(measures.kept, measures.references)} kept: {measures.kept:,} of {measures.references:,} values that the agent used later"
        yield (
            "References",
            what,
            [
                f"{visible(lost.value)}: from {visible(lost.tool)} {visible(lost.found)} at {visible(lost.path)}, used in message {lost.used}, "
                f"taken by {visible(lost.step) or 'no single step'}"
                for lost in measures.lost_references
            ],
        )
    total = sum(found.total for found in measures.entities.values())
    kept = sum(found.kept for found in measures.entities.values())
    if total:
        kinds = ", ".join(f"{kind} {found.kept:,}/{found.total:,}" for kind, found in measures.entities.items())
        steps = Counter((lost.step, lost.type) for lost in measures.lost_entities)
        yield (
            "Entities  ",
            f"{share(kept, total)} kept in the returns that got shorter: {kinds}",
            [f"{count:,} {kind} {plural(count, 'value')} taken by {visible(step) or 'several steps'}" for (step, kind), count in steps.most_common()],
        )
    if measures.repeats:
        calls = Counter((again.tool, again.recorded) for again in measures.again)
        yield (
            "Repeats   ",
            f"{measures.repeats:,} {plural(measures.repeats, 'call')} made again after the first answer",
            [
                f"{visible(tool)}: {count:,} {plural(count, 'time')}, {'cut when it was recorded' if recorded else 'which the rules cut'}"
                for (tool, recorded), count in calls.most_common()
            ],
        )


def _always_kept(report: Report) -> Iterator[tuple[str, str, list[str]]]:
    saved = [
        f"{visible(PurePath(rule.file).name)}:{step.location.line} {visible(step.name)}: {sums.always_kept:,} {plural(sums.always_kept, 'item')}, "
        f"for `{visible(step.op.spared())}`"
        for rule in report.ruleset.rules
        for step in rule.steps
        if rule.file in report.tally.rules and (sums := report.tally.rules[rule.file].steps.get(step.number)) and sums.always_kept
    ]
    if saved:
        yield "Spared    ", "items that stayed for `always_keep` alone", saved


def cost_lines(measures: Measures, prices: Prices) -> Iterator[str]:
    """Say what the requests cost with a prompt cache and without, recorded and reduced."""
    was, now = measures.recorded, measures.reduced
    if not was.requests:
        return
    for name, before, after in (
        ("with prompt caching", was.cached(prices), now.cached(prices)),
        ("without", was.uncached(prices), now.uncached(prices)),
    ):
        saved = f"{(before - after) / before:.1%} less" if before else "nothing"
        yield f"{name}: {before / 4:,.0f} -> {after / 4:,.0f} tokens of plain input, about, in {was.requests:,} {plural(was.requests, 'request')}: {saved}"


def share(part: int, whole: int) -> str:
    """Write a share, never 100% where something is missing."""
    if part == whole:
        return "100%"
    return f"{min(part / whole, 0.999):.1%}"
