"""The report of `run` as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TextIO

from reducer.analysis.attention import TITLES, Attention, by_kind
from reducer.analysis.measures import Measures
from reducer.analysis.prices import Prices
from reducer.analysis.report import Report, tokens
from reducer.cli.messages import counted
from reducer.cli.views.text import cost_lines, kept_for_references, rule_name, saved, share
from reducer.screen import visible

_TITLE = "What the rules do to tool returns"
_STYLE = """\
body { font: 15px/1.5 sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1c1f23 }
h2 { margin-top: 2.5rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #e3e6ea; overflow-wrap: anywhere }
th { background: #f5f6f8 }
th:first-child, td:first-child, td.text { text-align: left }
tfoot td { font-weight: bold }
"""


def print_html(report: Report, needs: Sequence[Attention], stream: TextIO, prices: Prices) -> None:
    """Write the page: histories and rules, the tools, what the rules cost if measured, and what needs attention."""
    head = f'<meta charset="utf-8">\n<title>{_TITLE}</title>\n<style>\n{_STYLE}</style>'
    body = "\n".join(_body(report, needs, prices))
    stream.write(f'<!doctype html>\n<html lang="en">\n{head}\n<h1>{_TITLE}</h1>\n{body}\n</html>\n')


def _body(report: Report, needs: Sequence[Attention], prices: Prices) -> Iterator[str]:
    histories = report.histories[0] if len(report.histories) == 1 else f"{len(report.histories):,} histories"
    yield f"<p>{_text(histories)}, with {_text(report.rules)} ({counted(len(report.ruleset.rules), 'rule')}).</p>"
    yield _tools(report)
    yield (
        f"<p>About {tokens(report.before):,} tokens before, {tokens(report.after):,} after "
        "(estimate: characters / 4).</p>"
    )
    if report.tally.referenced:
        yield f"<p>{kept_for_references(report)}.</p>"
    if report.tally.measures is not None:
        yield from _measures(report.tally.measures, prices)
    yield "<h2>What needs attention</h2>"
    if not needs:
        yield "<p>Nothing.</p>"
    for kind, entries in by_kind(needs).items():
        yield f"<h3>{escape(TITLES[kind])}</h3>"
        yield _table(("Where", "What"), ((entry.where, entry.message) for entry in entries), texts=2)


def _tools(report: Report) -> str:
    def cells(name: str, rule: str, *numbers: int) -> tuple[str, ...]:
        _, before, after = numbers
        return name, rule, *(f"{number:,}" for number in numbers), saved(before, after)

    rows = [cells(tool.tool, rule_name(tool), tool.calls, tool.before, tool.after) for tool in report.tools]
    total = cells("Total", "", sum(tool.calls for tool in report.tools), report.before, report.after)
    return _table(("Tool", "Rule", "Calls", "Characters before", "after", "Saved"), rows, total, texts=2)


def _measures(found: Measures, prices: Prices) -> Iterator[str]:
    yield "<h2>What the rules cost</h2>"
    if found.references:
        kept = share(found.kept, found.references)
        yield f"<p>{kept} of {found.references:,} values that the agent used later are kept.</p>"
    if found.lost_references:
        lost = (
            (one.value, f"{one.tool} {one.found}", one.path, f"message {one.used}", one.step or "several steps")
            for one in found.lost_references
        )
        yield _table(("Lost value", "from", "at", "used in", "removed by"), lost, texts=5)
    if found.entities:
        rows = [
            (kind, f"{one.total:,}", f"{one.kept:,}", share(one.kept, one.total))
            for kind, one in found.entities.items()
        ]
        yield _table(("Entities", "before", "after", "Kept"), rows)
    if found.lost_entities:
        gone = (
            (one.value, one.type, f"{one.tool} {one.found}", one.step or "several steps") for one in found.lost_entities
        )
        table = _table(("Entity", "type", "from", "removed by"), gone, texts=4)
        yield f"<details><summary>Lost entities</summary>\n{table}\n</details>"
    if found.repeats:
        again = ((one.tool, f"message {one.first}", f"message {one.again}") for one in found.again)
        yield _table(("Repeated call", "first", "again"), again)
    yield from (f"<p>Cost {_text(line)}.</p>" for line in cost_lines(found, prices))


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]], total: Sequence[str] = (), texts: int = 1) -> str:
    """Return a table; the first `texts` columns are aligned to the left."""

    def row(cells: Sequence[str]) -> str:
        styles = (" class=text" if 0 < number < texts else "" for number in range(len(cells)))
        return (
            f"<tr>{''.join(f'<td{style}>{_text(cell)}</td>' for style, cell in zip(styles, cells, strict=True))}</tr>"
        )

    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    foot = f"\n<tfoot>{row(total)}</tfoot>" if total else ""
    return f"<table>\n<tr>{head}</tr>\n" + "\n".join(map(row, rows)) + f"{foot}\n</table>"


def _text(text: str) -> str:
    return escape(visible(text))
