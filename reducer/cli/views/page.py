"""The report of `run` as an HTML page, with the data of the JSON report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reducer.analysis.json_report import report_as_json
from reducer.analysis.report import Attention, Report
from reducer.cli.outputs import write
from reducer.cli.screen import CommandError, say
from reducer.workbench.page import report_page


def check_name(output: str | None, output_format: str) -> None:
    """Raise `CommandError` if `--output` is a page and the format is not, or the other way round."""
    if output is None or output == "-":
        return
    if output.endswith((".html", ".htm")) != (output_format == "html"):
        raise CommandError(f"--output {output}: `--format html` writes a page, whose name ends in .html")


def write_page(report: Report, needs: Sequence[Attention], output: str | None) -> None:
    """Write the page of a report whose returns have trees. No output is standard output. Raises `FileError`."""
    trees = [entry.tree for entry in report.returns]
    page = report_page(report_as_json(report, needs), trees)
    if output is None or output == "-":
        write(None, page)
    else:
        write(Path(output), page)
        say(f"wrote {output}, {len(page):,} bytes")
