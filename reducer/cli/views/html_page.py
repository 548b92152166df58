"""The report of `run` as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TextIO

from reducer.analysis.prices import Prices
from reducer.analysis.report import Attention, Report
from reducer.cli.views.table import COLUMNS, Section, head, notes, parts, tool_rows
from reducer.screen import visible

_MAX_OPEN = 30
"""Details that are shown without a click."""
_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>What the rules do to tool returns</title>
<style>
body {{ font: 15px/1.5 sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1c1f23 }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums }}
th, td {{ padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #e3e6ea; overflow-wrap: anywhere }}
th:nth-child(-n+2), td:nth-child(-n+2) {{ text-align: left }}
tr:last-child {{ font-weight: bold }}
</style>
<h1>What the rules do to tool returns</h1>
{body}
</html>
"""


def print_html(report: Report, needs: Sequence[Attention], stream: TextIO, prices: Prices) -> None:
    """Write the page: histories and rules, the tools, what the rules cost if measured, and what needs attention."""
    stream.write(_PAGE.format(body="\n".join(_body(report, needs, prices))))


def _body(report: Report, needs: Sequence[Attention], prices: Prices) -> Iterator[str]:
    yield from (f"<p>{title}: {_text(text)}</p>" for title, text in head(report))
    rows, total = tool_rows(report)
    yield "<table>"
    yield _row("th", COLUMNS)
    yield from (_row("td", row) for row in (*rows, total))
    yield "</table>"
    yield from (f"<p>{_text(note)}</p>" for note in notes(report))
    for heading, sections in parts(report, needs, prices):
        yield f"<h2>{heading}</h2>"
        yield from map(_section, sections)


def _row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_text(cell)}</{tag}>' for cell in cells)}</tr>"


def _section(section: Section) -> str:
    title = _text(f"{section.title}: {section.summary}" if section.summary else section.title)
    if not section.details:
        return f"<p>{title}</p>"
    items = "\n".join(f"<li>{_text(line)}</li>" for line in section.details)
    is_open = " open" if len(section.details) <= _MAX_OPEN else ""
    return f"<details{is_open}><summary>{title}</summary>\n<ul>\n{items}\n</ul>\n</details>"


def _text(text: str) -> str:
    return escape(visible(text, "\n"))
