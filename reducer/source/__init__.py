"""YAML text to data with line and column: no aliases, no key twice, nothing that YAML 1.1 and 1.2 read differently."""

from __future__ import annotations

import re
from dataclasses import replace

import yaml

from reducer.errors import Edit as Change
from reducer.errors import Location, Problem
from reducer.source.faults import MAX_LINE, Edit
from reducer.source.mending import column_before, edits_for, mend, moved
from reducer.source.reader import Finding, build
from reducer.source.rewrite import rewritten
from reducer.source.tree import MAX_DEPTH, Mapping, Scalar, Sequence, Tree, locate, place, plain

try:
    from yaml import CSafeLoader as _Fast  # 10 times as fast as the pure parser
except ImportError:
    _Fast = yaml.SafeLoader  # type: ignore[assignment,misc]

__all__ = ["MAX_DEPTH", "Mapping", "Scalar", "Sequence", "Tree", "locate", "parse", "place", "plain", "problem_at"]

MAX_CHARS = 250_000
"""Characters of a rule file. The longest of hostile texts takes the pure parser 27 µs a character, 7 s for as many."""
MAX_PROBLEMS = 100
"""Findings of one file: what a reader can use, and a bound for what hostile text can ask for."""
_MAX_REREAD = 1_000_000
"""Characters that are read again and again to find what is wrong behind a syntax fault."""

_SNIPPET = 200

_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def parse(text: str | bytes, file: str) -> tuple[Tree | None, tuple[Problem, ...]]:
    """Read one YAML document of the rule language and give its tree with every problem in the order of the file.

    `text` is a text or the bytes of a file (UTF-8). The tree is None where nothing can be read. Where it is not, it may come
    beside errors: what they are about then holds the likeliest meaning, so that a reader can go on and find the rest.
    Never raises.
    """
    clean, lines, faults = _open(text)
    tree: Tree | None = None
    if clean is not None:
        tree, found = _read(clean)
        faults += found
    first = {(fault.row, fault.column): fault for fault in reversed(faults)}
    kept = sorted(first.values())[:MAX_PROBLEMS]
    return tree, tuple(_problem(file, lines, fault) for fault in kept)


def problem_at(
    text: str | bytes,
    file: str,
    node: Tree,
    code: str,
    message: str,
    help: str = "",
    *,
    offset: int | None = None,
    width: int | None = None,
    fix: str | None = None,
) -> Problem:
    """Make a problem at `node`, which `parse` read in `text`; `offset` (from 0) and `width` point at characters of its value,
    `fix` is what the value should be."""
    lines = _lines(_decoded(text))
    row, column = node.line, node.column
    if offset is not None and isinstance(node, Scalar):
        row, column = place(node, offset)
        width = width or 1
    problem = _problem(file, lines, Finding(row - 1, column - 1, width or node.width, code, message, help))
    return replace(problem, fix=rewritten(node, fix)) if fix is not None and isinstance(node, Scalar) else problem


def _problem(file: str, lines: list[str], finding: Finding) -> Problem:
    row = min(finding.row, len(lines) - 1)
    line = lines[row]
    column = min(finding.column, len(line))
    width = max(1, min(finding.width, len(line) - column))
    # A caret needs the line from its start; of a line that nobody reads in a terminal there is none.
    snippet = _UNREADABLE.sub("\ufffd", line[: max(_SNIPPET, column + 20)]) if column < MAX_LINE else ""
    fix = tuple(Change(edit.row + 1, edit.start + 1, edit.end - edit.start, edit.new) for edit in finding.edits)
    return Problem(Location(file, row + 1, column + 1), finding.code, finding.message, finding.help, snippet, width, fix)


def _decoded(text: str | bytes) -> str:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    return text[1:] if text.startswith("\ufeff") else text


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _open(text: str | bytes) -> tuple[str | None, list[str], list[Finding]]:
    """Give the text that YAML may read, with `\\n` as line break, or None; its lines; and what no YAML reader may see."""
    if isinstance(text, bytes) and text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return None, [""], [Finding(0, 0, 1, "E001", "this file is UTF-16 text", "save it as UTF-8")]
    if len(text) > MAX_CHARS:
        message = f"a rule file of more than {MAX_CHARS:,} characters"
        return None, [""], [Finding(0, 0, 1, "E003", message, "put samples in files of their own")]
    is_bytes = isinstance(text, bytes)
    clean = _decoded(text)
    lines = _lines(clean)
    clean = "\n".join(lines)
    faults: list[Finding] = []
    for match in _UNREADABLE.finditer(clean):
        if len(faults) == 5:
            if is_bytes and faults[0].code == "E001":
                return None, lines, faults[:1]
            return None, lines, [Finding(0, 0, 1, "E001", "this is not a text file", "rule files are UTF-8 text")]
        row, column = clean.count("\n", 0, match.start()), match.start() - clean.rfind("\n", 0, match.start()) - 1
        faults.append(Finding(row, column, 1, *_unreadable(match[0], is_bytes)))
    # The stand-in keeps every position, so the rest can be read.
    return _UNREADABLE.sub("\ufffd", clean) if faults else clean, lines, faults


def _unreadable(char: str, is_bytes: bool) -> tuple[str, str, str]:
    code = ord(char)
    if is_bytes and 0xDC80 <= code <= 0xDCFF:
        return "E001", f"the byte 0x{code - 0xDC00:02x} is not UTF-8 text", "save the file as UTF-8"
    escape = f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    help = "take it out" if 0xD800 <= code <= 0xDFFF else f'take it out, or write {escape} inside "…"'
    return "E002", f"an invisible character (U+{code:04X}) stands here", help


def _read(text: str) -> tuple[Tree | None, list[Finding]]:
    syntax: list[Finding] = []
    made: list[Edit] = []
    # Each round mends one fault. A round costs one run of the pure parser (5-27 µs a character), which bounds how many there are.
    for left in reversed(range(max(1, min(MAX_PROBLEMS, _MAX_REREAD // (len(text) + 1))))):
        result = build(text, _Fast, explained=False)
        if not result.done:
            # One parser explains all faults, so that messages and places do not hang on how PyYAML was built.
            result = build(text, yaml.SafeLoader, explained=True)
        fault = result.fault
        if fault is None:
            break
        edits = edits_for(text, fault) if left else ()
        mended = mend(text, edits)
        if fault.message or mended == text:
            message, help = (fault.message, fault.help) if fault.message else ("a tab stands here", "use spaces")
            syntax.append(_back(Finding(fault.row, fault.column, fault.width, fault.code, message, help, edits), made))
        if mended == text:
            break
        text = mended
        made += edits
    tree = moved(result.tree, made) if result.tree and made else result.tree
    return tree, syntax + [_back(finding, made) for finding in result.findings]


def _back(finding: Finding, made: list[Edit]) -> Finding:
    """Give a finding in a text that was mended its place in the text as it stands; a second fix of one line waits for the first."""
    if all(edit.row != finding.row for edit in made):
        return finding
    return finding._replace(column=column_before(finding.row, finding.column, made), edits=())
