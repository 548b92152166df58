"""Numbers and sentences that several views share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from reducer.analysis.measures import Measures
from reducer.analysis.prices import Prices
from reducer.analysis.report import Report, ToolReport
from reducer.cli.messages import counted


def share(part: int, whole: int) -> str:
    """Return a share as a percentage; never 100% if something is missing."""
    return "100%" if part == whole else f"{min(part / whole, 0.999):.1%}"


def saved(before: int, after: int) -> str:
    """Return the share that was saved as a percentage."""
    return f"{(before - after) / before:.1%}" if before else "-"


def rule_name(tool: ToolReport) -> str:
    """Return the file name of a tool's rule, or why there is none."""
    if tool.rule is not None:
        return PurePath(tool.rule.file).name
    return "not reducible" if tool.untouched == tool.calls else "no rule"


def kept_for_references(report: Report) -> str:
    """Return how much was kept because of later messages."""
    characters, returns = (
        counted(report.tally.referenced, "character"),
        counted(report.tally.referencing, "tool return"),
    )
    return f"Kept {characters} in {returns} because later messages reference them"


def cost_lines(measures: Measures, prices: Prices) -> Iterator[str]:
    """Yield what the requests cost with a prompt cache and without, as recorded and as reduced."""
    recorded, reduced = measures.recorded, measures.reduced
    if not recorded.requests:
        return
    requests = counted(recorded.requests, "request")
    for name, before, after in (
        ("with prompt cache", recorded.cached(prices), reduced.cached(prices)),
        ("without", recorded.uncached(prices), reduced.uncached(prices)),
    ):
        less = f"{(before - after) / before:.1%} less" if before else "no cost"
        yield f"{name}: about {before / 4:,.0f} -> {after / 4:,.0f} tokens at input price in {requests}: {less}"
