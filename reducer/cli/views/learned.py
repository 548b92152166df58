"""The results of `learn` as tables."""

from __future__ import annotations

from typing import TextIO

from reducer.analysis.drafting import Learned, Score, is_writable, total
from reducer.cli.messages import counted
from reducer.screen import console, print_indented, table

_COLUMNS = ("Tool", "returns", "characters", "saved", "kept", "held out", "saved", "kept")


def print_learned(learned: Learned, skipped: int, stream: TextIO) -> None:
    """Print what the rule of each tool does, what all rules do per source, and why other tools have no rule."""
    screen = console(stream)
    histories = counted(len(learned.training) + len(learned.held), "history", "histories")
    screen.print(f"Read {histories}{f', skipped {skipped:,} other files or lines' if skipped else ''}.")
    split = f"Learned from {len(learned.training):,}, measured on the other {len(learned.held):,} (held-out tasks)."
    screen.print(split if learned.held else "Learned from all of them; none are left to measure on.")
    *rows, last = _tool_rows(learned)
    screen.print(table(_COLUMNS, rows, last))
    if learned.price is None:
        screen.print(f"Nothing that was tried keeps {100 * learned.keep:.4g}% of the values that were used later.")
    if learned.held:
        sources = [[name, *_numbers(score)] for name, score in learned.measured.sources.items()]
        screen.print(table(("Source", "held out", "saved", "kept"), sources))
    if reasons := _without_rule(learned):
        screen.print("\nTools without a rule of their own", style="bold")
        print_indented((f"{', '.join(tools)}: {why}" for why, tools in reasons.items()), 2, screen)


def _tool_rows(learned: Learned) -> list[list[str]]:
    """Return a row for each tool with a rule, one for all others, and one with the sums."""
    trained, measured = learned.trained.tools, learned.measured.tools
    ruled = [one.tool for one in learned.tools if one.rule is not None]
    found = [(tool, trained.get(tool, Score()), measured.get(tool, Score())) for tool in ruled]
    others = [total(score for tool, score in scores.items() if tool not in ruled) for scores in (trained, measured)]
    found.append(("* (all others)", others[0], others[1]))
    found.append(("together", learned.trained.total, learned.measured.total))
    return [
        [tool, f"{old.returns:,}", f"{old.before:,}", *_numbers(old)[1:], *_numbers(new)] for tool, old, new in found
    ]


def _numbers(score: Score) -> list[str]:
    """Return the number of returns and the shares saved and kept."""
    kept = f"{score.retention:.1%} of {score.references:,}" if score.references else "-"
    return [f"{score.returns:,}", f"{score.saved:.1%}", kept]


def _without_rule(learned: Learned) -> dict[str, list[str]]:
    """Return the tools without a rule of their own by the reason."""
    reasons: dict[str, list[str]] = {}
    for one in (*learned.tools, learned.default):
        if one.rule is None:
            reasons.setdefault(one.why, []).append(one.tool)
        elif one is not learned.default and not is_writable(one.tool):
            reasons.setdefault("its name cannot be used in a rule", []).append(one.tool)
    return reasons
