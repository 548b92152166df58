"""The report of `run` as JSON, for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reducer.analysis.explanation import Explanation, StepReport
from reducer.analysis.json_values import fields_of, plain
from reducer.analysis.measures import Measures
from reducer.analysis.prices import Prices
from reducer.analysis.report import Attention, Report, ToolReport, tokens

VERSION = 4
"""Increases when a key is removed or changes its meaning; keys may be added at any time."""
_OMITTED = ["before", "after", "rule", "steps", "place", "unstable", "tree", "content", "entities", "lost_entities"]
"""Fields of `Explanation` that have another form, or that only a single content has."""


def as_json(report: Report, needs: Sequence[Attention], prices: Prices) -> dict[str, Any]:
    """Return the report of `run` as plain JSON values.

    - `rules`: `{from, files, replaced}`; `histories`: the names of the inputs.
    - `totals`: `{calls, reduced, characters, tokens}`; `characters` is `{before, after, saved}`, where `saved` is a
      share from 0 to 1 or null; `tokens` are estimated as characters / 4.
    - `as_in_agent`: whether the rules also removed content that later messages reference, as an agent does.
    - `references`: `{returns, characters}`, kept because later messages reference them.
    - `tools`: for each tool, the largest first, `totals` with `tool`, `rule` and `untouched`.
    - `returns`: the fields of `Explanation` for each tool return; JSON lines have sums in `lines` instead.
    - `measures`: what the rules cost, or null; sizes of `cost` are characters of input.
    - `attention`: the fields of `Attention`.

    All sizes are characters of texts, or of compact JSON for other values.
    """
    measures = report.tally.measures
    return {
        "version": VERSION,
        "rules": {
            "from": report.rules,
            "files": [rule.file for rule in report.ruleset.rules],
            "replaced": list(map(plain, report.ruleset.replaced)),
        },
        "histories": list(report.histories),
        "totals": _totals(report.total),
        "as_in_agent": not report.references,
        "references": {"returns": report.tally.referencing, "characters": report.tally.referenced},
        "tools": [
            {
                "tool": tool.tool,
                "rule": None if tool.rule is None else {"file": tool.rule.file, "tools": list(tool.rule.tools)},
                "untouched": tool.untouched,
                **_totals(tool),
            }
            for tool in report.tools
        ],
        "returns": [{**plain(entry.place), **return_as_json(entry)} for entry in report.returns],
        "lines": [
            {**fields_of(total), "first_bad": [{"line": number, "why": why} for number, why in total.first_bad]}
            for total in report.lines
        ],
        "measures": None if measures is None else _measures(measures, prices),
        "attention": [{**fields_of(need, "about"), "message": need.message} for need in needs],
    }


def return_as_json(entry: Explanation) -> dict[str, Any]:
    """Return what a rule did to one return as plain JSON values."""
    return {
        **fields_of(entry, *_OMITTED),
        "rule": entry.rule.file if entry.rule else None,
        "characters": _characters(entry.before, entry.after),
        "steps": [_step(step) for step in entry.steps],
    }


def content_as_json(entry: Explanation) -> dict[str, Any]:
    """Return what a rule did to a single content, with the result, as plain JSON values."""
    entities = {"types": entry.entities, "lost": entry.lost_entities}
    return {**return_as_json(entry), "content": entry.content, "entities": plain(entities)}


def _step(step: StepReport) -> dict[str, Any]:
    """Return the effect of one step on one return; `number` and `line` are null for `max_chars`."""
    return {
        "number": step.step.number if step.step else None,
        "name": step.step.name if step.step else "max_chars",
        "line": step.step.location.line if step.step else None,
        **fields_of(step, "step", "before", "after"),
        "characters": {"before": step.before, "after": step.after},
    }


def _totals(tool: ToolReport) -> dict[str, Any]:
    size = {"before": tokens(tool.before), "after": tokens(tool.after), "estimated": "characters / 4"}
    characters = _characters(tool.before, tool.after)
    return {"calls": tool.calls, "reduced": tool.reduced, "characters": characters, "tokens": size}


def _characters(before: int, after: int) -> dict[str, Any]:
    return {"before": before, "after": after, "saved": round((before - after) / before, 4) if before else None}


def _measures(measures: Measures, prices: Prices) -> dict[str, Any]:
    recorded, reduced = (
        {**cost._asdict(), "cached": round(cost.cached(prices)), "uncached": round(cost.uncached(prices))}
        for cost in (measures.recorded, measures.reduced)
    )
    share = None if measures.retention is None else round(measures.retention, 4)
    references = {"novel": measures.references, "kept": measures.kept, "share": share, "lost": measures.lost_references}
    return {
        "references": plain(references),
        "entities": plain({"types": measures.entities, "lost": measures.lost_entities}),
        "cost": {"prices": plain(prices), "recorded": recorded, "reduced": reduced},
        "asked_again": plain({"calls": measures.repeats, "first": measures.again}),
    }
