"""Print the findings of `validate` as text or JSON, and the table of its codes."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from reducer.histories.findings import CODES, Finding
from reducer.paths.written import path_text
from reducer.screen import visible

_COLOURS = {"error": "bold red", "warning": "bold yellow"}


@dataclass(frozen=True, slots=True)
class Checked:
    """One file: the number of its histories, its findings, and how often each code occurs."""

    name: str
    histories: int
    findings: Sequence[Finding]
    counts: Mapping[str, int]


def print_text(checked: Sequence[Checked], stream: TextIO) -> None:
    """Print a line per finding, `file:line:column: error V032 at [2].parts[0]: …`, then the counts."""
    coloured = stream.isatty() and not os.environ.get("NO_COLOR")
    for file in checked:
        for finding in file.findings:
            _print_line(file.name, finding, stream, coloured)
        shown = Counter(finding.code for finding in file.findings)
        for code, count in file.counts.items():
            if count > shown[code]:
                more = f"{file.name}: and {count - shown[code]:,} more {code}: {CODES[code].meaning}"
                print(visible(more), file=stream)
    found = severities(checked)
    histories = sum(file.histories for file in checked)
    where = f"{histories:,} {'history' if histories == 1 else 'histories'}"
    sums = [
        f"{found[severity]:,} {severity}{'' if found[severity] == 1 else 's'}"
        for severity in ("error", "warning")
        if found[severity]
    ]
    print(f"{', '.join(sums)} in {where}" if sums else f"{where}: no problems", file=stream)


def severities(checked: Sequence[Checked]) -> Counter[str]:
    """Count the errors and the warnings."""
    found: Counter[str] = Counter()
    for file in checked:
        for code, count in file.counts.items():
            found[CODES[code].severity] += count
    return found


def _print_line(name: str, finding: Finding, stream: TextIO, coloured: bool) -> None:
    head = f"{name}:{finding.line}:{finding.column}: "
    rest = f" {finding.code} at {path_text(finding.path)}: {finding.message}"
    if not coloured:
        print(visible(f"{head}{finding.severity}{rest}"), file=stream)
        return
    from rich.text import Text

    from reducer.screen import console

    text = Text(visible(head)).append(finding.severity, style=_COLOURS[finding.severity]).append(visible(rest))
    console(stream).print(text, soft_wrap=True)


def print_json(checked: Sequence[Checked], stream: TextIO) -> None:
    """Print all findings as one JSON object: `files` with `findings`, then the counts."""
    found = severities(checked)
    files = [
        {
            "file": file.name,
            "findings": [
                {
                    "code": finding.code,
                    "severity": finding.severity,
                    "path": path_text(finding.path),
                    "line": finding.line,
                    "column": finding.column,
                    "message": finding.message,
                    "refused_by": CODES[finding.code].refused_by,
                }
                for finding in file.findings
            ],
        }
        for file in checked
    ]
    json.dump({"files": files, "errors": found["error"], "warnings": found["warning"]}, stream, indent=2)
    stream.write("\n")


def print_codes(stream: TextIO) -> None:
    """Print each code with its severity, its meaning, and who refuses the history."""
    for name, entry in CODES.items():
        print(f"{name}  {entry.severity:<7}  {entry.meaning}", file=stream)
        if entry.refused_by:
            print(f"{'':15}refused by {entry.refused_by}", file=stream)
