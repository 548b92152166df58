"""The report of `run` as rows and sections, printed as a table or as one self-contained HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple, TextIO

from reducer.analysis.measures import Measures
from reducer.analysis.prices import Prices
from reducer.analysis.report import TITLES, Attention, Report, by_kind, tokens
from reducer.cli.screen import console, counted, make_table, print_indented, visible
from reducer.operations.limit import Limit

if TYPE_CHECKING:
    from rich.console import Console

_COLUMNS = ("Tool", "Rule", "Calls", "Characters\nbefore", "after", "Saved", "Tokens, about\nbefore", "after")
_MAX_DETAILS = 8
_MAX_OPEN = 30
"""Details that the page shows without a click."""
_SEVERAL = "several steps"
_NARROW = 110
"""Columns of a terminal below which the table leaves out tokens, which are in a line below it."""
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


class _Section(NamedTuple):
    title: str
    summary: str
    details: Sequence[str]


def print_table(report: Report, needs: Sequence[Attention], stream: TextIO, prices: Prices) -> None:
    """Print the table, its sums, what the rules cost if that was measured, and what needs attention."""
    screen = console(stream)
    print_head(report, screen)
    if report.tools:
        shown = len(_COLUMNS) if screen.width >= _NARROW else len(_COLUMNS) - 2
        rows, total = _tool_rows(report)
        sums = total[:shown] if len(rows) > 1 else ()
        screen.print(make_table(_COLUMNS[:shown], [row[:shown] for row in rows], sums, texts=(0, 1)))
        for note in _notes(report):
            screen.print(note, style="dim")
    else:
        screen.print("No tool returns.")
    for heading, sections in _parts(report, needs, prices):
        _print_part(heading, sections, screen)


def print_head(report: Report, screen: Console) -> None:
    """Print which histories and rules the report is about."""
    for title, text in _head(report):
        screen.print(f"{title:<8} {visible(text)}")
    screen.print()


def print_end(report: Report, needs: Sequence[Attention], stream: TextIO, _: Prices) -> None:
    """Print what follows a diff: the totals, then what needs attention."""
    screen = console(stream)
    total = f"Total: {sizes(report.before, report.after)}" if report.tools else "No tool returns."
    screen.print(total, style="bold")
    _print_part(*_attention(needs), screen)


def _print_part(heading: str, sections: Iterable[_Section], screen: Console) -> None:
    screen.print(f"\n{heading}", style="bold")
    for section in sections:
        title = f"{section.title:<10} {visible(section.summary)}" if section.summary else section.title
        screen.print(f"  {title}")
        print_indented(section.details[:_MAX_DETAILS], 4, screen)
        if len(section.details) > _MAX_DETAILS:
            screen.print(f"    and {len(section.details) - _MAX_DETAILS:,} more; `--format json` lists them")


def print_html(report: Report, needs: Sequence[Attention], stream: TextIO, prices: Prices) -> None:
    """Write the page: histories and rules, the tools, what the rules cost if measured, and what needs attention."""
    stream.write(_PAGE.format(body="\n".join(_body(report, needs, prices))))


def _body(report: Report, needs: Sequence[Attention], prices: Prices) -> Iterator[str]:
    yield from (f"<p>{title}: {_text(text)}</p>" for title, text in _head(report))
    rows, total = _tool_rows(report)
    yield "<table>"
    yield _row("th", _COLUMNS)
    yield from (_row("td", row) for row in (*rows, total))
    yield "</table>"
    yield from (f"<p>{_text(note)}</p>" for note in _notes(report))
    for heading, sections in _parts(report, needs, prices):
        yield f"<h2>{heading}</h2>"
        yield from map(_section, sections)


def _row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_text(cell)}</{tag}>' for cell in cells)}</tr>"


def _section(section: _Section) -> str:
    title = _text(f"{section.title}: {section.summary}" if section.summary else section.title)
    if not section.details:
        return f"<p>{title}</p>"
    items = "\n".join(f"<li>{_text(line)}</li>" for line in section.details)
    is_open = " open" if len(section.details) <= _MAX_OPEN else ""
    return f"<details{is_open}><summary>{title}</summary>\n<ul>\n{items}\n</ul>\n</details>"


def _text(text: str) -> str:
    return escape(visible(text, "\n"))


def share(part: int, whole: int) -> str:
    """Return a share as a percentage, `-` of nothing; never 100% if something is missing."""
    if not whole:
        return "-"
    return "100%" if part == whole else f"{min(part / whole, 0.999):.1%}"


def saved(before: float, after: float) -> str:
    """Return the share that was saved as a percentage."""
    return f"{(before - after) / before:.1%}" if before else "-"


def sizes(before: int, after: int) -> str:
    """Return the characters before and after, and the share that was saved."""
    return f"{before:,} -> {after:,} characters, {saved(before, after)} saved"


def _head(report: Report) -> Iterator[tuple[str, str]]:
    count = len(report.histories)
    lines = f", {counted(sum(total.lines for total in report.lines), 'line')}" if report.lines else ""
    if count == 1:
        yield "History", f"{report.histories[0]}{lines}"
    else:
        yield "Read", f"{counted(count, 'file') if lines else counted(count, 'history', 'histories')}{lines}"
    yield "Rules", f"{report.rules} ({counted(len(report.ruleset.rules), 'rule')})"


def _tool_rows(report: Report) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the tools and the row with the sums; their titles are `_COLUMNS`."""

    def numbers(calls: int, before: int, after: int) -> list[str]:
        sizes = [f"{number:,}" for number in (calls, before, after, tokens(before), tokens(after))]
        return [*sizes[:3], saved(before, after), *sizes[3:]]

    rows = []
    for tool in report.tools:
        no_rule = "not reducible" if tool.untouched == tool.calls else "no rule"
        name = PurePath(tool.rule.file).name if tool.rule else no_rule
        rows.append([tool.tool, name, *numbers(tool.calls, tool.before, tool.after)])
    return rows, ["Total", "", *numbers(sum(tool.calls for tool in report.tools), report.before, report.after)]


def _notes(report: Report) -> Iterator[str]:
    """Yield sentences about all returns: estimated tokens, and what was kept because of later messages."""
    yield f"About {tokens(report.before):,} tokens before, {tokens(report.after):,} after (estimate: characters / 4)."
    if report.tally.referenced:
        characters = counted(report.tally.referenced, "character")
        returns = counted(report.tally.referencing, "tool return")
        reason = "because later messages reference them (--no-references removes them)"
        yield f"Kept {characters} in {returns} {reason}."


def _parts(report: Report, needs: Sequence[Attention], prices: Prices) -> Iterator[tuple[str, list[_Section]]]:
    """Yield headings with their sections: what the rules cost if that was measured, and what needs attention."""
    measures = report.tally.measures
    if measures is not None and report.tools:
        yield "What the rules cost", [*_losses(measures), *_always_kept(report), *_requests(measures, prices)]
    yield _attention(needs)


def _attention(needs: Sequence[Attention]) -> tuple[str, list[_Section]]:
    """Return a heading, and what needs attention kind by kind."""
    sections = []
    for kind, entries in by_kind(needs).items():
        details = [f"{entry.where}: {entry.message}" for entry in entries]
        if kind == "unused rule":
            details = [", ".join(PurePath(entry.where).name for entry in entries)]
        elif kind in ("no place", "undone"):
            details = [f"{entry.where}: {entry.message} ({counted(entry.calls, 'call')})" for entry in entries]
        sections.append(_Section(TITLES[kind], "", details))
    return "What needs attention" if needs else "Nothing needs attention.", sections


def _losses(found: Measures) -> Iterator[_Section]:
    """Yield the references and entities that were kept and lost, and the calls that were repeated."""
    if not found.references:
        yield _Section("References", "the agent later used no value that only tool returns contain", [])
    else:
        lost = [
            f"{one.value}: from {one.tool} {one.found} at {one.path}, "
            f"used in message {one.used}, removed by {one.step or _SEVERAL}"
            for one in found.lost_references
        ]
        kept = f"{found.kept:,} of {found.references:,} values that the agent used later"
        yield _Section("References", f"{share(found.kept, found.references)} kept: {kept}", lost)
    if total := sum(one.total for one in found.entities.values()):
        kinds = ", ".join(f"{kind} {one.kept:,}/{one.total:,}" for kind, one in found.entities.items())
        kept = share(sum(one.kept for one in found.entities.values()), total)
        steps = Counter((one.step, one.type) for one in found.lost_entities).most_common()
        lost = [f"{counted(count, f'{kind} value')} removed by {step or _SEVERAL}" for (step, kind), count in steps]
        lost += [
            f"{one.value}: {one.type} from {one.tool} {one.found}, removed by {one.step or _SEVERAL}"
            for one in found.lost_entities
        ]
        yield _Section("Entities", f"{kept} kept in reduced returns: {kinds}", lost)
    if found.repeats:
        again = [
            f"{one.tool}: message {one.first}, again in message {one.again}, "
            f"{'already cut when recorded' if one.recorded else 'cut by the rules'}"
            for one in found.again
        ]
        yield _Section("Repeats", f"{counted(found.repeats, 'call')} repeated after the first answer", again)


def _always_kept(report: Report) -> Iterator[_Section]:
    kept = []
    for rule in report.ruleset.rules:
        for step in rule.steps:
            count = report.tally.always_kept[rule.file, step.number]
            if count and isinstance(step.op, Limit) and step.op.always_keep is not None:
                where = f"{PurePath(rule.file).name}:{step.location.line} {step.name}"
                kept.append(f"{where}: {counted(count, 'item')} for `{step.op.always_keep.text}`")
    if kept:
        yield _Section("Kept", "only by `always_keep`", kept)


def _requests(found: Measures, prices: Prices) -> Iterator[_Section]:
    """Yield what the requests cost with a prompt cache and without, as recorded and as reduced."""
    recorded, reduced = found.recorded, found.reduced
    requests = counted(recorded.requests, "request")
    cached = ("with prompt cache", recorded.cached(prices), reduced.cached(prices))
    uncached = ("without", recorded.uncached(prices), reduced.uncached(prices))
    for name, before, after in (cached, uncached) if recorded.requests else ():
        less = f"{saved(before, after)} less" if before else "no cost"
        cost = f"about {before / 4:,.0f} -> {after / 4:,.0f} tokens at input price in {requests}: {less}"
        yield _Section("Cost", f"{name}: {cost}", [])
