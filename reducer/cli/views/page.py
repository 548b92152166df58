"""The report of `run` and `try` as an HTML page, with the data of the JSON report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reducer.analysis.json_report import report_as_json
from reducer.analysis.prices import Prices
from reducer.analysis.report import Attention, Report
from reducer.cli.outputs import write
from reducer.cli.screen import CommandError, say
from reducer.workbench.page import report_page

ENDINGS = (".html", ".htm")


def check_page(output: str | None, output_format: str) -> None:
    """Raise `CommandError` if `--output` cannot be the file of a page."""
    if output_format != "html":
        if output is not None and output.endswith(ENDINGS):
            raise CommandError(f"--output {output}: add `--format html` to write the page")
    elif output not in (None, "-") and not output.endswith(ENDINGS):
        raise CommandError(f"--output {output}: `--format html` writes a page; expected a name that ends in .html")


def write_page(report: Report, needs: Sequence[Attention], prices: Prices, output: str | None) -> None:
    """Write the page of a report whose returns have trees. No output is standard output. Raises `CommandError`."""
    page = report_page(report_as_json(report, needs, prices), [entry.tree for entry in report.returns])
    file = None if output in (None, "-") else Path(str(output))
    write(file, page)
    if file is not None:
        say(f"wrote {output}, {len(page):,} bytes")
