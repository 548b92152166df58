"""Check stored histories, reduced or not: fields, calls and their returns, ids,
order. No file is changed.
An error means that PydanticAI cannot load the history, or that a large provider
refuses it. A warning means that something is unusual, but accepted.

examples:
  python -m reducer validate session.json
      every finding with line, column, code and JSON path
  python -m reducer validate histories/ --strict
      all histories in a folder; also fail for warnings
  python -m reducer validate b.json --against a.json
      also check that b.json is a reduction of a.json

A history is JSON as PydanticAI 0.2 to 2.x stores it (a list of messages, one
message, or an object with a list), JSON lines of these, or a history in another
format, of which only calls and returns are checked. Compressed files work too.
Exit codes: 0 no errors, 1 errors (with --strict, also warnings), 2 cannot run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from operator import attrgetter
from pathlib import Path

from reducer.cli.arguments import parse, parser
from reducer.cli.inputs import Problems
from reducer.cli.screen import (
    CommandError,
    counted,
    has_failed,
    print_json,
    print_problem,
    problem_counts,
    say_skipped,
    visible,
)
from reducer.histories.against import compare
from reducer.histories.validate import CODES, Finding, check
from reducer.inputs.chunks import read_lines
from reducer.inputs.sources import Source, find_sources
from reducer.paths.written import path_text

_MAX_FINDINGS = 20
"""Findings to print for each code and file."""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("validate", __doc__, ("histories", "--strict"), formats=("text", "json"))
    against = "check that HISTORY is a reduction of this history, or of the same file in this folder"
    reader.add_argument("--against", metavar="ORIGINAL", help=against)
    options = parse(reader, arguments)
    if not options.histories:
        raise CommandError("specify a HISTORY to check, or - for standard input (see --help)")
    sources = find_sources(options.histories)
    if options.against is not None and len(sources) > 1 and not Path(options.against).is_dir():
        raise CommandError(f"--against {options.against}: for {len(sources):,} histories, specify a folder")
    checked: dict[str, list[Finding]] = {}
    problems = Problems()
    histories = 0
    for source in sources:
        with problems.reported(source):
            original = None if options.against is None else _original(options.against, source)
            count, findings = _check(source, original)
            codes = Counter(map(attrgetter("code"), findings))
            # A folder may contain other JSON, but a named file must be a history.
            if source.folder and count == codes["V003"]:
                problems.skipped.append(f"{source.name}: {findings[0].message}")
            else:
                checked[source.name] = findings
                histories += count
    say_skipped(problems.skipped)
    if not checked:
        return 2
    severities = Counter(map(attrgetter("severity"), chain(*checked.values())))
    if options.format == "json":
        _print_json(checked, severities)
    else:
        for name, findings in checked.items():
            _print_findings(name, findings)
        print(problem_counts(severities, counted(histories, "history", "histories")))
    return 2 if problems.errors else has_failed(severities, options.strict)


def _print_json(checked: Mapping[str, Sequence[Finding]], severities: Counter[str]) -> None:
    files = []
    for name, findings in checked.items():
        files.append({"file": name, "findings": list(map(_as_json, findings))})
    print_json({"files": files, "errors": severities["error"], "warnings": severities["warning"]})


def _original(name: str, source: Source) -> Source:
    """Return the original of a history: the file `name`, or the corresponding file in the folder `name`."""
    path = Path(name)
    if path.is_dir() and source.path is not None:
        path /= source.path.relative_to(source.folder) if source.folder else source.path.name
    return Source(str(path), path)


def _check(source: Source, original: Source | None) -> tuple[int, list[Finding]]:
    """Check a source against its `original`; return the number of histories and the findings. Raises `FileError`."""
    findings: list[Finding] = []
    histories = number = 0
    for line, other in zip_longest(read_lines(source), () if original is None else read_lines(original)):
        if line is None:
            findings.append(Finding("V101", (), "the original has more lines", line=number, column=1))
            break
        number = max(line.number, 1)
        if not line.is_blank:
            histories += 1
            findings += check(line.content, number)
        if original is None or (other is not None and other.content == line.content):
            continue
        if other is None:
            findings.append(Finding("V101", (), "the original has no such line", line=number, column=1))
        else:
            findings += compare(line.content, other.content, number)
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
