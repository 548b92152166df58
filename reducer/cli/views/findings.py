"""The findings of `validate` as text or JSON, and the table of its codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from reducer.cli.messages import counted
from reducer.cli.views import plain
from reducer.histories.findings import CODES, Finding
from reducer.paths.written import path_text
from reducer.screen import print_problem, visible


@dataclass(frozen=True, slots=True)
class Checked:
    """One file: the number of its histories, its findings, and how often each code occurs."""

    name: str
    histories: int
    findings: Sequence[Finding]
    counts: Counter[str]


def print_text(checked: Sequence[Checked], stream: TextIO) -> None:
    """Print a line per finding, `file:line:column: error V032 at [2].parts[0]: …`, then the counts."""
    for file in checked:
        for finding in file.findings:
            where = f"{file.name}:{finding.line}:{finding.column}"
            what = f"{finding.severity} {finding.code} at {path_text(finding.path)}"
            print_problem(visible(f"{where}: {what}: {finding.message}"), stream)
        more = Counter(file.counts) - Counter(finding.code for finding in file.findings)
        for code, count in more.items():
            print(visible(f"{file.name}: and {count:,} more {code}: {CODES[code].meaning}"), file=stream)
    histories = counted(sum(file.histories for file in checked), "history", "histories")
    sums = [counted(count, severity) for severity, count in sorted(severities(checked).items())]
    print(f"{', '.join(sums)} in {histories}" if sums else f"{histories}: no problems", file=stream)


def severities(checked: Sequence[Checked]) -> Counter[str]:
    """Count the errors and the warnings."""
    found: Counter[str] = Counter()
    for file in checked:
        for code, count in file.counts.items():
            found[CODES[code].severity] += count
    return found


def print_json(checked: Sequence[Checked], stream: TextIO) -> None:
    """Print all findings as one JSON object: `files` with `findings`, then the counts."""
    found = severities(checked)
    files = [{"file": file.name, "findings": list(map(_as_json, file.findings))} for file in checked]
    plain.print_json({"files": files, "errors": found["error"], "warnings": found["warning"]}, stream)


def _as_json(finding: Finding) -> dict[str, object]:
    refused_by = CODES[finding.code].refused_by
    path = path_text(finding.path)
    return {**finding._asdict(), "severity": finding.severity, "path": path, "refused_by": refused_by}


def print_codes(stream: TextIO) -> None:
    """Print each code with its severity, its meaning, and who refuses the history."""
    for name, entry in CODES.items():
        refused = f" Refused by {entry.refused_by}." if entry.refused_by else ""
        print(f"{name}  {entry.severity:<7}  {entry.meaning}{refused}", file=stream)
