"""Reports as plain JSON values, for other programs, the HTML page and the workbench."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from reducer.analysis.costs import PRICES, Cost
from reducer.analysis.explanation import Explanation
from reducer.analysis.measures import Measures
from reducer.analysis.records import as_json, fields_of
from reducer.analysis.report import Attention, Report, ToolReport, tokens

VERSION = 7
"""Increases when a key is removed or changes its meaning; keys may be added at any time."""
_OMITTED = (
    "before",
    "after",
    "rule",
    "steps",
    "place",
    "unstable",
    "tree",
    "tried",
    "content",
    "entities",
    "lost_entities",
)
"""Fields of `Explanation` that have another form, or that only a single content has."""


def report_as_json(report: Report, needs: Sequence[Attention]) -> dict[str, Any]:
    """Return the report of `run` as plain JSON values.

    - `rules`: `{from, files, replaced}`; `histories`: the names of the inputs.
    - `totals`: `{calls, reduced, characters, tokens, unmarked, repeats}`; `characters` is
      `{before, after, removed, saved}`, where `saved` is a share from 0 to 1 or null; `tokens` are estimated as
      characters / 4; `unmarked` is `{items, keys}`, removed without a marker; `repeats` is
      `{returns, characters, dropped, dangling}`, left out because earlier returns show it.
    - `as_in_agent`: whether the rules also removed content that later messages reference, as an agent does.
    - `references`: `{returns, characters}`, kept because later messages reference them.
    - `tools`: for each tool, the largest first, `totals` with `tool`, `untouched`, and the `rules` that were
      chosen for its returns, the most frequent first.
    - `returns`: the fields of `Explanation` for each tool return, and `lost_references`, the number of values that the
      agent used later and the rules removed; `lost_entities` counts those in `measures.entities.lost`; JSON lines have
      sums in `lines` instead.
    - `measures`: what the rules cost, or null; sizes of `cost` are characters of input.
    - `attention`: the fields of `Attention`.

    All sizes are characters of texts, or of compact JSON for other values.
    """
    measures, total = report.tally.measures, report.total
    files = [rule.file for rule in report.ruleset.rules]
    return {
        "version": VERSION,
        "rules": {"from": report.rules, "files": files, "replaced": as_json(report.ruleset.replaced)},
        "histories": list(report.histories),
        "totals": _totals(total),
        "as_in_agent": not report.references,
        "references": {"returns": total.referencing, "characters": total.referenced},
        "tools": list(map(_tool, report.tools)),
        "returns": _returns(report),
        "lines": as_json(report.lines),
        "measures": None if measures is None else _measures(measures),
        "attention": list(map(_attention, needs)),
    }


def rule_texts(report: Report) -> dict[str, str]:
    """Return the texts of the rule files that were chosen for returns, by file."""
    used = {rule.file for tool in report.tools for rule, _ in tool.rules}
    found = {}
    for source in report.ruleset.texts.sources if report.ruleset.texts else ():
        for file, text in source:
            if file in used:
                found[file] = text if isinstance(text, str) else text.decode(errors="replace")
    return found


def return_as_json(entry: Explanation) -> dict[str, Any]:
    """Return what a rule did to one return as plain JSON values."""
    steps = []
    for step in entry.steps:
        run = step.run
        names = {"name": run.name, "line": run.line, "path": run.path, "removed": step.before - step.after}
        steps.append({**fields_of(run, "step"), **names, **fields_of(step, "run")})
    return {
        **fields_of(entry, *_OMITTED),
        "rule": entry.rule.file if entry.rule else None,
        "tried": [rule.file for rule in entry.tried],
        "characters": _characters(entry.before, entry.after),
        "steps": steps,
    }


def _tool(tool: ToolReport) -> dict[str, Any]:
    rules = [{"file": rule.file, "tools": list(rule.tools), "calls": calls} for rule, calls in tool.rules]
    return {"tool": tool.tool, "rules": rules, "untouched": tool.untouched, **_totals(tool)}


def _returns(report: Report) -> list[dict[str, Any]]:
    measures = report.tally.measures or Measures()
    lost = Counter[Any]((one.history, one.found) for one in measures.lost_references)
    gone = Counter[Any]((one.history, one.found) for one in measures.lost_entities)
    returns = []
    for entry in report.returns:
        place = {} if entry.place is None else entry.place._asdict()
        key = place.get("history"), place.get("call")
        returns.append({**place, **return_as_json(entry), "lost_references": lost[key], "lost_entities": gone[key]})
    return returns


def _attention(need: Attention) -> dict[str, Any]:
    return {**fields_of(need, "about"), "message": need.message}


def _totals(tool: ToolReport) -> dict[str, Any]:
    size = {"before": tokens(tool.before), "after": tokens(tool.after), "estimated": "characters / 4"}
    characters = _characters(tool.before, tool.after)
    unmarked = {"items": tool.unmarked, "keys": tool.removed_keys}
    sums = {"calls": tool.calls, "reduced": tool.reduced, "characters": characters, "tokens": size}
    repeats = {
        "returns": tool.repeating,
        "characters": tool.repeats,
        "dropped": tool.repeats_dropped,
        "dangling": tool.dangling,
    }
    return {**sums, "unmarked": unmarked, "repeats": repeats}


def _characters(before: int, after: int) -> dict[str, Any]:
    return {"before": before, "after": after, "removed": before - after, "saved": _share(before - after, before)}


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def _measures(measures: Measures) -> dict[str, Any]:
    found, kept = measures.recall
    return {
        "references": {
            "novel": measures.references,
            "kept": measures.kept,
            "missing": measures.references - measures.kept,
            "share": _share(measures.kept, measures.references),
            "lost": as_json(measures.lost_references),
        },
        "entities": {
            "total": found,
            "kept": kept,
            "missing": found - kept,
            "share": _share(kept, found),
            "types": as_json(measures.entities),
            "lost": as_json(measures.lost_entities),
        },
        "cost": _cost(measures),
    }


def _cost(measures: Measures) -> dict[str, Any]:
    recorded, reduced = _requests(measures.recorded), _requests(measures.reduced)
    saved = _share(recorded["cached"] - reduced["cached"], recorded["cached"])
    return {"prices": PRICES, "recorded": recorded, "reduced": reduced, "saved": saved}


def _requests(cost: Cost) -> dict[str, Any]:
    cached, uncached = round(cost.cached), round(cost.uncached)
    return {**cost._asdict(), "cached": cached, "uncached": uncached, "cached_tokens": tokens(cached)}
