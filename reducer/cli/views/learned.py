"""The results of `learn` as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from reducer.analysis.drafting import Learned, Score, ToolDraft, is_writable, total
from reducer.cli.messages import counted
from reducer.cli.views.table import fitting
from reducer.screen import print_indented, visible

if TYPE_CHECKING:
    from rich.table import Table

_MAX_POINTS = 7
"""Points of a curve in the table."""
_MAX_TOOLS = 12


def print_learned(learned: Learned, skipped: int, stream: TextIO) -> None:
    """Print what the rule of each tool does, what all rules do per source, and why other tools have no rule."""
    from rich.text import Text

    table = _tools(learned)
    screen = fitting(table, stream)
    histories = counted(len(learned.training) + len(learned.held), "history", "histories")
    screen.print(f"Read {histories}{f', skipped {skipped:,} other files or lines' if skipped else ''}.")
    split = f"Learned from {len(learned.training):,}, measured on the other {len(learned.held):,} (held-out tasks)."
    screen.print(split if learned.held else "Learned from all of them; none are left to measure on.")
    screen.print(table)
    if learned.price is None:
        screen.print(f"Nothing that was tried keeps {100 * learned.keep:.4g}% of the values that were used later.")
    elif learned.points:
        enough = f"enough to keep {100 * learned.keep:.4g}% in cross-validation on the training half"
        screen.print(f"A lost value counts {learned.price:,} characters: {enough}.")
    if learned.held:
        screen.print(_sources(learned))
        screen.print(
            Text(
                "Saved/kept at other prices of a lost value, on the held-out histories. The lowest price saves most.",
                "dim",
            )
        )
    lines = list(_without(learned))
    if lines:
        screen.print()
        screen.print(Text("Tools without a rule of their own", "bold"))
        for line in lines:
            print_indented(Text(visible(line)), 2, screen)


def _tools(learned: Learned) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Tool")
    for title in ("returns", "characters", "saved", "kept", "held out", "saved", "kept"):
        table.add_column(title, justify="right", no_wrap=True)
    rows = [
        (one.tool, learned.trained.tools.get(one.tool, Score()), learned.measured.tools.get(one.tool, Score()))
        for one in learned.tools
        if one.rule
    ]
    ruled = {one.tool for one in learned.tools if one.rule is not None}
    others = [
        total(score for tool, score in scores.tools.items() if tool not in ruled)
        for scores in (learned.trained, learned.measured)
    ]
    rows.append(("* (all others)", others[0], others[1]))
    rows.append(("together", learned.trained.total, learned.measured.total))
    for number, (name, trained, held) in enumerate(rows):
        if number == len(rows) - 1:
            table.add_section()
        table.add_row(
            visible(name),
            f"{trained.returns:,}",
            f"{trained.before:,}",
            *_shown(trained),
            f"{held.returns:,}",
            *_shown(held),
        )
    return table


def _shown(score: Score) -> tuple[str, str]:
    return f"{score.saved:.1%}", f"{score.retention:.1%} of {score.references:,}" if score.references else "-"


def _sources(learned: Learned) -> Table:
    from rich import box
    from rich.table import Table

    points = _points(learned)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Source")
    table.add_column("the rules", justify="right", no_wrap=True)
    for price, _ in points:
        table.add_column(f"{price:,}", justify="right", no_wrap=True)
    for source, score in {**learned.measured.sources, "together": learned.measured.total}.items():
        curve = [scores[source] if source in scores else total(scores.values()) for _, scores in points]
        table.add_row(visible(source), _pair(score), *map(_pair, curve))
    return table


def _points(learned: Learned) -> list[tuple[int, Mapping[str, Score]]]:
    """Return a few different points of the curve, from the first to the last."""
    different: list[tuple[int, Mapping[str, Score]]] = []
    for point in learned.curves:
        if not different or different[-1][1] != point[1]:
            different.append(point)
    step = max(1, -(-(len(different) - 1) // (_MAX_POINTS - 1)))
    return different[::step]


def _pair(score: Score) -> str:
    return f"{100 * score.saved:.0f}/{100 * score.retention:.0f}"


def _without(learned: Learned) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for one in learned.tools:
        why = _why(one)
        if why:
            reasons.setdefault(why, []).append(one.tool)
    for why, tools in reasons.items():
        more = f" and {len(tools) - _MAX_TOOLS:,} more" if len(tools) > _MAX_TOOLS else ""
        yield f"{', '.join(tools[:_MAX_TOOLS])}{more}: {why}"
    if learned.default.rule is None:
        yield f"*: {learned.default.why}"


def _why(one: ToolDraft) -> str:
    return (
        "its name cannot be used in a rule"
        if one.rule is not None and not is_writable(one.tool)
        else one.why
        if one.rule is None
        else ""
    )


def as_json(learned: Learned, skipped: int, written: list[str]) -> str:
    """Return what was learned as JSON."""
    tools = {
        one.tool: {
            "rule": one.rule and one.rule.as_data(),
            "why": one.why,
            "learned_from": _numbers(learned.trained.tools.get(one.tool, Score())),
            "measured": _numbers(learned.measured.tools.get(one.tool, Score())),
        }
        for one in learned.tools
    }
    report: dict[str, Any] = {
        "version": 1,
        "histories": {"learned_from": len(learned.training), "measured": len(learned.held), "skipped": skipped},
        "keep": learned.keep,
        "price": learned.price,
        "tools": tools,
        "default": {
            "rule": learned.default.rule and learned.default.rule.as_data(),
            "why": learned.default.why,
            "alone": _numbers(learned.unseen),
        },
        "learned_from": {**_each(learned.trained.sources), "together": _numbers(learned.trained.total)},
        "measured": {**_each(learned.measured.sources), "together": _numbers(learned.measured.total)},
        "curves": [
            {"price": price, "sources": _each(scores), "together": _numbers(total(scores.values()))}
            for price, scores in learned.curves
        ],
        "written": written,
    }
    return json.dumps(report, indent=1)


def _each(scores: Mapping[str, Score]) -> dict[str, Any]:
    return {name: _numbers(score) for name, score in scores.items()}


def _numbers(score: Score) -> dict[str, Any]:
    return {**score._asdict(), "saved": round(score.saved, 4), "retention": round(score.retention, 4)}
