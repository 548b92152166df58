"""Check stored histories, reduced or not: fields, calls and their returns, ids, order. No file is changed.
An error means that PydanticAI cannot load the history, or that a large provider refuses it. A warning means that
something is unusual, but accepted.

examples:
  python -m reducer validate session.json               every finding with line, column, code and JSON path
  python -m reducer validate histories/ --strict        all histories in a folder; also fail for warnings
  python -m reducer validate b.json --against a.json    also check that b.json is a reduction of a.json

A history is JSON as PydanticAI 0.2 to 2.x stores it (a list of messages, one message, or an object with a list), JSON
lines of these, or a history in another format, of which only calls and returns are checked. Compressed files work too.
Exit codes: 0 no errors, 1 errors (with --strict, also warnings), 2 cannot run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from reducer.cli.arguments import parse, parser
from reducer.cli.screen import (
    CommandError,
    counted,
    print_json,
    print_problem,
    problem_counts,
    say,
    say_skipped,
    visible,
)
from reducer.errors import FileError
from reducer.histories.against import compare
from reducer.histories.validate import CODES, Finding, Severity, check
from reducer.inputs.chunks import TOO_LARGE, read_lines
from reducer.inputs.sources import Source, find_sources
from reducer.paths.written import path_text

_MAX_FINDINGS = 20
"""Findings to print for each code and file."""


@dataclass(slots=True)
class _Checked:
    """The findings of each file, the files in folders without histories, and the numbers of histories and errors."""

    findings: dict[str, list[Finding]] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    histories: int = 0
    errors: int = 0


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("validate", __doc__, ("histories",), formats=("text", "json"))
    add = reader.add_argument
    original = "check that HISTORY is a reduction of this history, or of the same file in this folder"
    add("--against", metavar="ORIGINAL", help=original)
    add("--strict", action="store_true", help="exit with 1 for warnings too")
    options = parse(reader, arguments)
    if not options.histories:
        raise CommandError("specify a HISTORY to check, or - for standard input (see --help)")
    sources = find_sources(options.histories)
    if options.against is not None and len(sources) > 1 and not Path(options.against).is_dir():
        raise CommandError(f"--against {options.against}: for {len(sources):,} histories, specify a folder")
    checked = _Checked()
    for source in sources:
        _add(checked, source, options.against)
    say_skipped(checked.skipped)
    if not checked.findings:
        return 2
    counts = Counter(finding.severity for findings in checked.findings.values() for finding in findings)
    if options.format == "json":
        _print_json(checked, counts)
    else:
        _print_text(checked, counts)
    if checked.errors:
        return 2
    return int(bool(counts["error"] or (options.strict and counts)))


def _add(checked: _Checked, source: Source, against: str | None) -> None:
    """Check a source, and print an error if it cannot be read."""
    try:
        original = None if against is None else _original(against, source)
        histories, findings = _check(source, original)
    except FileError as error:
        say(f"error: {error}")
        checked.errors += 1
        return
    # A folder may contain other JSON, but a named file must be a history.
    if source.folder and histories == sum(finding.code == "V003" for finding in findings):
        checked.skipped.append(f"{source.name}: {findings[0].message}")
    else:
        checked.findings[source.name] = findings
        checked.histories += histories


def _print_json(checked: _Checked, counts: Counter[Severity]) -> None:
    files = []
    for name, findings in checked.findings.items():
        files.append({"file": name, "findings": [_as_json(finding) for finding in findings]})
    print_json({"files": files, "errors": counts["error"], "warnings": counts["warning"]})


def _print_text(checked: _Checked, counts: Counter[Severity]) -> None:
    for name, findings in checked.findings.items():
        _print_findings(name, findings)
    print(problem_counts(counts.elements(), counted(checked.histories, "history", "histories")))


def _original(name: str, source: Source) -> Source:
    """Return the original of a history: the file `name`, or the corresponding file in the folder `name`."""
    path = Path(name)
    if path.is_dir() and source.path is not None:
        path /= source.path.relative_to(source.folder) if source.folder else source.path.name
    return Source(str(path), path)


def _check(source: Source, original: Source | None) -> tuple[int, list[Finding]]:
    """Check a source against its `original`; return the number of histories and the findings. Raises `FileError`."""
    findings: list[Finding] = []
    histories = last = 0
    for line, other in zip_longest(read_lines(source), () if original is None else read_lines(original)):
        if line is None:
            findings.append(Finding("V101", (), "the original has more lines", line=last, column=1))
            break
        last = max(line.number, 1)
        is_checked = not (line.kind == "long line" or line.is_blank)
        if is_checked:
            findings += check(line.content, last)
        elif not line.is_blank:
            findings.append(Finding("V007", (), f"{TOO_LARGE}; it was not checked", line=last, column=1))
        histories += not line.is_blank
        if original is None or (other is not None and other.content == line.content):
            pass
        elif other is not None and other.kind != "long line" and is_checked:
            findings += compare(line.content, other.content, last)
        else:
            why = "the original has no such line" if other is None else "differs from the original, and is not compared"
            findings.append(Finding("V101", (), why, line=last, column=1))
    return histories, findings


def _print_findings(name: str, findings: Sequence[Finding]) -> None:
    """Print findings as `file:line:column: error V032 at [2].parts[0]: …`, and count those that are not printed."""
    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.code] += 1
        if counts[finding.code] <= _MAX_FINDINGS:
            what = f"{finding.severity} {finding.code} at {path_text(finding.path)}"
            print_problem(visible(f"{name}:{finding.line}:{finding.column}: {what}: {finding.message}"))
    for code, count in counts.items():
        if count > _MAX_FINDINGS:
            print(visible(f"{name}: and {count - _MAX_FINDINGS:,} more {code}: {CODES[code].meaning}"))


def _as_json(finding: Finding) -> dict[str, object]:
    more = {"severity": finding.severity, "path": path_text(finding.path)}
    return {**finding._asdict(), **more, "refused_by": CODES[finding.code].refused_by}
