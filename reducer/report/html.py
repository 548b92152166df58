"""The report as one HTML page that needs nothing else: the numbers of the table, and all that was lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import PurePath
from typing import TextIO

from reducer.measures import Measures
from reducer.measures.cost import Prices
from reducer.report import Report, ToolReport, tokens
from reducer.report.attention import TITLES, Attention, by_kind, plural
from reducer.report.measured import cost_lines, share
from reducer.report.table import referred, saved
from reducer.screen import visible

STYLE = """\
body { font: 15px/1.5 sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1c1f23; background: #fff }
h2 { margin-top: 2.5rem }
svg { max-width: 100%; height: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #e3e6ea; vertical-align: top; overflow-wrap: anywhere }
th { background: #f5f6f8 }
th:first-child, td:first-child, td.text { text-align: left }
tfoot td { font-weight: bold }
.none { color: #666 }
"""


def print_html(report: Report, needs: Sequence[Attention], stream: TextIO, prices: Prices) -> None:
    """Write the page: what was read, the tools, what the rules cost if that was measured, and what needs attention."""
    names = report.histories[0] if len(report.histories) == 1 else f"{len(report.histories):,} histories"
    pieces = [
        f"<p>{_text(names)}, with {_text(report.rules)} ({len(report.ruleset.rules):,} {plural(len(report.ruleset.rules), 'rule')}).</p>",
        _tools(report),
        f"<p>About {tokens(report.before):,} tokens before, {tokens(report.after):,} after: an estimate, characters / 4.</p>",
    ]
    if report.tally.referred:
        pieces.append(f"<p>{referred(report)}.</p>")
    if report.tally.measures is not None:
        pieces += _measures(report.tally.measures, prices)
    pieces += ["<h2>What needs attention</h2>", *_attention(needs)]
    stream.write(page("What the rules do to tool returns", pieces))


def page(title: str, pieces: Iterable[str]) -> str:
    """Write a page of HTML pieces."""
    head = f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n<style>\n{STYLE}</style>\n<h1>{escape(title)}</h1>'
    return "\n".join([head, *pieces, "</html>", ""])


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], last: Sequence[str] = (), texts: int = 1) -> str:
    """Write a table of texts, the first `texts` columns to the left, with a `last` row of sums."""

    def row(cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<td{' class=text' if 0 < number < texts else ''}>{_text(cell)}</td>" for number, cell in enumerate(cells)) + "</tr>"

    head = "".join(f"<th>{escape(title).replace(chr(10), '<br>')}</th>" for title in titles)
    foot = f"\n<tfoot>{row(last)}</tfoot>" if last else ""
    return f"<table>\n<tr>{head}</tr>\n" + "\n".join(map(row, rows)) + f"{foot}\n</table>"


def _text(text: str) -> str:
    return escape(visible(text))


def _tools(report: Report) -> str:
    def rule(tool: ToolReport) -> str:
        return PurePath(tool.rule.file).name if tool.rule else "never touched" if tool.untouched == tool.calls else "no rule"

    def cells(name: str, rule: str, calls: int, before: int, after: int) -> tuple[str, ...]:
        return name, rule, f"{calls:,}", f"{before:,}", f"{after:,}", saved(before, after)

    rows = [cells(tool.tool, rule(tool), tool.calls, tool.before, tool.after) for tool in report.tools]
    last = cells("Total", "", sum(tool.calls for tool in report.tools), report.before, report.after)
    return table(("Tool", "Rule", "Calls", "Characters before", "after", "Saved"), rows, last, 2)


def _measures(found: Measures, prices: Prices) -> list[str]:
    pieces = ["<h2>What the rules cost</h2>"]
    if found.references:
        pieces.append(f"<p>{share(found.kept, found.references)} of {found.references:,} values that the agent used later are kept.</p>")
    if found.lost_references:
        lost = ((one.value, f"{one.tool} {one.found}", one.path, f"message {one.used}", one.step or "no single step") for one in found.lost_references)
        pieces.append(table(("Lost value", "from", "at", "used in", "taken by"), lost, texts=5))
    if found.entities:
        rows = [(kind, f"{one.total:,}", f"{one.kept:,}", share(one.kept, one.total)) for kind, one in found.entities.items()]
        pieces.append(table(("Entities", "before", "after", "Kept"), rows))
    if found.lost_entities:
        gone = ((one.value, one.type, f"{one.tool} {one.found}", one.step or "several steps") for one in found.lost_entities)
        pieces.append(f"<details><summary>Lost entities</summary>\n{table(('Entity', 'type', 'from', 'taken by'), gone, texts=4)}\n</details>")
    if found.repeats:
        again = ((one.tool, f"message {one.first}", f"message {one.again}") for one in found.again)
        pieces.append(table(("Asked again", "first", "again"), again))
    return [*pieces, *(f"<p>Cost {_text(line)}.</p>" for line in cost_lines(found, prices))]


def _attention(needs: Sequence[Attention]) -> Iterable[str]:
    if not needs:
        yield '<p class="none">Nothing.</p>'
    for kind, entries in by_kind(needs).items():
        yield f"<h3>{escape(TITLES[kind])}</h3>"
        yield table(("Where", "What"), ((entry.where, entry.message) for entry in entries), texts=2)
