"""The report as JSON, for other programs: all the numbers, with keys that stay."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TextIO

from reducer.measures import Measures
from reducer.measures.cost import Prices
from reducer.report import Change, Report, ReturnReport, StepReport, ToolReport, tokens
from reducer.report.attention import Attention

VERSION = 1
"""Counts up when a key changes its meaning or goes; new keys may come at any time."""


def print_json(report: Report, needs: Sequence[Attention], stream: TextIO, prices: Prices) -> None:
    """Write the report as one JSON object, ASCII only.

    - `version`: 1 · `rules`: `{from, files}` · `histories`: the names of the histories that were read
    - `totals`: `{calls, reduced, characters: {before, after, saved}, tokens: {before, after, estimated}}`; `saved` is a share from 0 to 1
      (null when there was nothing), `estimated` says how: characters / 4
    - `references`: `{returns, characters}`, how much stays as later messages refer to it
    - `tools`: per tool, the largest first: `{tool, rule, untouched, …}` with the keys of `totals`; `rule` is `{file, tools}` or null
    - `returns`: per tool return in order: `{history, message, part, tool, call_id, nth, rule, status, why, characters, json_blanks,
      put_back, references, over_max_chars, lost, steps, returned}`. `message` and `part` count from 0, `nth` from 1 among returns with that call id.
      `rule` is a file or null. `status` is one of `reduced`, `unchanged`, `gated`, `fault`, `no rule`, `untouched`; `why` is empty when reduced.
      `json_blanks`: characters saved by writing JSON text without blanks; `put_back`: characters that preserve and marks added,
      `references`: characters that stay besides, as later messages refer to them
    - `steps` of a return: `{number, name, line, ran, places, characters, put_back, always_kept, missing, changes}`; `number` and `line` are null for
      the ladder of `max_chars`. `missing`: `{what, text, nearest, help}`, what the step names and the return has not
    - `changes` of a step, and `returned`: `{kind, path, places, items, of_items, before, after, keys, sample}`; `kind` is one of `removed`, `emptied`,
      `cut`, `changed`, and `returned` for what was put back
    - `lines`: per file of JSON lines: `{history, lines, blank, bad, long, first_bad}`; `bad` lines hold no history, `long` ones are too large to be
      read: they are written as they are; `first_bad`: `{line, why}`, `line` counts from 1. Their returns are in the sums, not in `returns`
    - `measures`: what the rules cost, null if that was not measured: `{references: {novel, kept, share, lost}, entities: {types, lost},
      cost: {prices, recorded, reduced}, asked_again: {calls, first}}`. `lost` has the first thousand: `{history, value, tool, found, path, used,
      kind, step}` of a reference, `{history, type, value, tool, found, step}` of an entity; `found` is a call id, `used` a message.
      `cost` is in characters of input: `{requests, new, again, changes, cached, uncached}`, the last two times the prices
    - `attention`: what needs it: `{kind, where, message, calls, characters, nearest}`; `kind` is one of `no rule`, `unused rule`, `no place`,
      `undone`, `lost`, `fault`, `too long`, `bad line`, `long line`, `warning`

    All sizes are characters: a text as it stands, anything else as compact JSON.
    """
    stream.write(json.dumps(as_json(report, needs, prices), indent=1) + "\n")


def as_json(report: Report, needs: Sequence[Attention], prices: Prices) -> dict[str, Any]:
    """Give the report as plain JSON values, with the keys that `print_json` tells of."""
    calls, reduced = sum(tool.calls for tool in report.tools), sum(tool.reduced for tool in report.tools)
    files = [rule.file for rule in report.ruleset.rules]
    return {
        "version": VERSION,
        "rules": {"from": report.rules, "files": files},
        "histories": list(report.histories),
        "totals": _totals(calls, reduced, report.before, report.after),
        "references": {"returns": report.tally.referring, "characters": report.tally.referred},
        "tools": [_tool(tool) for tool in report.tools],
        "returns": [_return(entry) for entry in report.returns],
        "lines": [
            {
                "history": total.history,
                "lines": total.lines,
                "blank": total.blank,
                "bad": total.bad,
                "long": total.long,
                "first_bad": [{"line": number, "why": why} for number, why in total.told],
            }
            for total in report.lines
        ],
        "measures": None if report.tally.measures is None else _measures(report.tally.measures, prices),
        "attention": [_attention(entry) for entry in needs],
    }


def _measures(found: Measures, prices: Prices) -> dict[str, Any]:
    retention = found.retention
    return {
        "references": {
            "novel": found.references,
            "kept": found.kept,
            "share": None if retention is None else round(retention, 4),
            "lost": [lost._asdict() for lost in found.lost_references],
        },
        "entities": {
            "types": {kind: recall._asdict() for kind, recall in found.entities.items()},
            "lost": [lost._asdict() for lost in found.lost_entities],
        },
        "cost": {
            "prices": prices._asdict(),
            **{
                name: {**cost._asdict(), "cached": round(cost.cached(prices)), "uncached": round(cost.uncached(prices))}
                for name, cost in (("recorded", found.recorded), ("reduced", found.reduced))
            },
        },
        "asked_again": {"calls": found.repeats, "first": [again._asdict() for again in found.again]},
    }


def _totals(calls: int, reduced: int, before: int, after: int) -> dict[str, Any]:
    return {
        "calls": calls,
        "reduced": reduced,
        "characters": _characters(before, after),
        "tokens": {"before": tokens(before), "after": tokens(after), "estimated": "characters / 4"},
    }


def _characters(before: int, after: int) -> dict[str, Any]:
    return {"before": before, "after": after, "saved": round((before - after) / before, 4) if before else None}


def _tool(tool: ToolReport) -> dict[str, Any]:
    rule = None if tool.rule is None else {"file": tool.rule.file, "tools": list(tool.rule.tools)}
    return {"tool": tool.tool, "rule": rule, "untouched": tool.untouched, **_totals(tool.calls, tool.reduced, tool.before, tool.after)}


def _return(entry: ReturnReport) -> dict[str, Any]:
    return {
        "history": entry.history,
        "message": entry.message,
        "part": entry.part,
        "tool": entry.tool,
        "call_id": entry.call_id,
        "nth": entry.nth,
        "rule": entry.rule.file if entry.rule else None,
        "status": entry.status,
        "why": entry.why,
        "characters": _characters(entry.before, entry.after),
        "json_blanks": entry.rewritten,
        "put_back": entry.put_back,
        "references": entry.referred,
        "over_max_chars": entry.over,
        "lost": entry.lost,
        "steps": [step_as_json(step) for step in entry.steps],
        "returned": [_change(change) for change in entry.returned],
    }


def step_as_json(step: StepReport) -> dict[str, Any]:
    """Give what one step did to one return: one of the `steps` of `print_json`."""
    return {
        "number": step.step.number if step.step else None,
        "name": step.step.name if step.step else "max_chars",
        "line": step.step.location.line if step.step else None,
        "ran": step.ran,
        "places": step.places,
        "characters": {"before": step.before, "after": step.after},
        "put_back": step.put_back,
        "always_kept": step.always_kept,
        "missing": [{"what": m.what, "text": m.text, "nearest": m.nearest, "help": m.help} for m in step.missing],
        "changes": [_change(change) for change in step.changes],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "path": change.path,
        "places": change.places,
        "items": change.items,
        "of_items": change.total,
        "before": change.before,
        "after": change.after,
        "keys": list(change.names),
        "sample": change.sample,
    }


def _attention(entry: Attention) -> dict[str, Any]:
    return {
        "kind": entry.kind,
        "where": entry.where,
        "message": entry.message,
        "calls": entry.calls,
        "characters": entry.characters,
        "nearest": entry.nearest,
    }
