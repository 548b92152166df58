"""The report of `run` as JSON, for other programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any, TextIO

from reducer.analysis.attention import Attention
from reducer.analysis.measures import Measures
from reducer.analysis.prices import Cost, Prices
from reducer.analysis.report import Report, ReturnReport, ToolReport, tokens
from reducer.analysis.steps import Change, StepReport
from reducer.analysis.tally import LineSum

VERSION = 3
"""Increases when a key changes its meaning or is removed; keys may be added at any time."""


def print_json(report: Report, needs: Sequence[Attention], stream: TextIO, prices: Prices) -> None:
    """Write the report as one JSON object, ASCII only.

    - `rules`: `{from, files}`; `histories`: the names of what was read.
    - `totals`: `{calls, reduced, characters, tokens}`; `characters` is `{before, after, saved}`, where `saved` is a
      share from 0 to 1 or null; `tokens` are estimated as characters / 4.
    - `references`: `{returns, characters}`, how much was kept because later messages reference it.
    - `tools`: per tool, the largest first, `totals` with `tool`, `rule` and `untouched`.
    - `returns`: per tool return in order, the fields of `ReturnReport`; none for JSON lines, whose sums are in `lines`.
    - `measures`: what the rules cost, or null; sizes of `cost` are characters of input.
    - `attention`: the fields of `Attention`.

    All sizes are characters: a text as it is, anything else as compact JSON.
    """
    stream.write(json.dumps(as_json(report, needs, prices), indent=1) + "\n")


def as_json(report: Report, needs: Sequence[Attention], prices: Prices) -> dict[str, Any]:
    """Return the report as plain JSON values, with the keys that `print_json` describes."""
    calls, reduced = sum(tool.calls for tool in report.tools), sum(tool.reduced for tool in report.tools)
    return {
        "version": VERSION,
        "rules": {"from": report.rules, "files": [rule.file for rule in report.ruleset.rules]},
        "histories": list(report.histories),
        "totals": _totals(calls, reduced, report.before, report.after),
        "references": {"returns": report.tally.referencing, "characters": report.tally.referenced},
        "tools": [_tool(tool) for tool in report.tools],
        "returns": [_return(entry) for entry in report.returns],
        "lines": [_lines(total) for total in report.lines],
        "measures": None if report.tally.measures is None else _measures(report.tally.measures, prices),
        "attention": [asdict(entry) for entry in needs],
    }


def fields_of(value: Any, *without: str) -> dict[str, Any]:
    """Return the fields of a dataclass by name, except those in `without`."""
    return {field.name: getattr(value, field.name) for field in fields(value) if field.name not in without}


def step_as_json(step: StepReport) -> dict[str, Any]:
    """Return what one step did to one return; `number` and `line` are null for `max_chars`."""
    return {
        "number": step.step.number if step.step else None,
        "name": step.step.name if step.step else "max_chars",
        "line": step.step.location.line if step.step else None,
        **fields_of(step, "step", "before", "after", "seen"),
        "characters": {"before": step.before, "after": step.after},
        "missing": [asdict(missing) for missing in step.missing],
        "changes": [_change(change) for change in step.changes],
    }


def _change(change: Change) -> dict[str, Any]:
    return {**fields_of(change), "names": list(change.names)}


def _return(entry: ReturnReport) -> dict[str, Any]:
    return {
        **fields_of(entry, "before", "after"),
        "rule": entry.rule.file if entry.rule else None,
        "characters": _characters(entry.before, entry.after),
        "steps": [step_as_json(step) for step in entry.steps],
        "restorations": [_change(change) for change in entry.restorations],
    }


def _tool(tool: ToolReport) -> dict[str, Any]:
    return {
        "tool": tool.tool,
        "rule": None if tool.rule is None else {"file": tool.rule.file, "tools": list(tool.rule.tools)},
        "untouched": tool.untouched,
        **_totals(tool.calls, tool.reduced, tool.before, tool.after),
    }


def _lines(total: LineSum) -> dict[str, Any]:
    first_bad = [{"line": number, "why": why} for number, why in total.first_bad]
    return {**fields_of(total), "first_bad": first_bad}


def _totals(calls: int, reduced: int, before: int, after: int) -> dict[str, Any]:
    return {
        "calls": calls,
        "reduced": reduced,
        "characters": _characters(before, after),
        "tokens": {"before": tokens(before), "after": tokens(after), "estimated": "characters / 4"},
    }


def _characters(before: int, after: int) -> dict[str, Any]:
    return {"before": before, "after": after, "saved": round((before - after) / before, 4) if before else None}


def _measures(found: Measures, prices: Prices) -> dict[str, Any]:
    def cost(cost: Cost) -> dict[str, Any]:
        return {**cost._asdict(), "cached": round(cost.cached(prices)), "uncached": round(cost.uncached(prices))}

    return {
        "references": {
            "novel": found.references,
            "kept": found.kept,
            "share": None if found.retention is None else round(found.retention, 4),
            "lost": [lost._asdict() for lost in found.lost_references],
        },
        "entities": {
            "types": {kind: recall._asdict() for kind, recall in found.entities.items()},
            "lost": [lost._asdict() for lost in found.lost_entities],
        },
        "cost": {"prices": prices._asdict(), "recorded": cost(found.recorded), "reduced": cost(found.reduced)},
        "asked_again": {"calls": found.repeats, "first": [again._asdict() for again in found.again]},
    }
