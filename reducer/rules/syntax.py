"""Explains the syntax errors of PyYAML to people who do not know YAML: the place, the cause, the corrected text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from yaml import Mark
from yaml.error import MarkedYAMLError

from reducer.errors import Edit
from reducer.rules.diagnostics import Span, quoted, shortened

_MAX_LINE = 1000
"""Characters of a line that is taken apart; longer lines are no rules that somebody typed."""
_MAX_ABOVE = 50
"""Lines above an error in which an unclosed quote is looked for."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^']|'')*'")
_LINE = re.compile(rf"(\s*(?:-\s+)*)(?:({_QUOTED.pattern}|[^\s#\"'].*?)\s*:(?:\s+|$))?(.*)")
"""The indentation with dashes, the key and the value of a line."""
_CLOSING = {"[": "]", "{": "}"}


class Fault(NamedTuple):
    """A syntax error; `fix` adds missing quotes."""

    span: Span
    code: str
    message: str
    help: str = ""
    fix: tuple[Edit, ...] = ()


class _Line(NamedTuple):
    """A line `- key: value # comment`: the key, and the value without the comment, with their columns from 0."""

    start: int
    key: str
    column: int
    value: str


def explain(lines: Sequence[str], error: Exception) -> Fault:
    """Return what is wrong with a text that the pure parser refuses."""
    mark = error.problem_mark or error.context_mark if isinstance(error, MarkedYAMLError) else None
    if not isinstance(error, MarkedYAMLError) or mark is None:
        return Fault(_span(0, 0), "E042", "an escape in this file is not a character")
    row, column = at = _at(lines, mark)
    start = _at(lines, error.context_mark or mark)
    problem, context = error.problem or "", error.context or ""
    words = problem.replace("<block end>", "the end of the block").replace("<stream end>", "the end of the file")
    unknown = Fault(_span(row, column), "E049", f"this is not valid YAML: {words}")
    if "character '\\t'" in problem:
        return Fault(_span(row, column), "E036", "YAML does not allow a tab here")
    if max(len(lines[row]), len(lines[start[0]])) > _MAX_LINE:
        return unknown
    if "quoted scalar" in context:
        if "escape" in problem:
            escape = lines[row][max(column - 1, 0) : column + 1]
            return Fault(_span(row, column - 1, 2), "E042", f"`{escape}` is not an escape in double quotes")
        return Fault(_span(*start), "E034", "this quote is not closed")
    in_flow = context.startswith("while parsing a flow")
    return (
        _value(lines, at, in_flow)
        or _value(lines, start, in_flow)
        or _unclosed_above(lines, row)
        or _bracket(lines, at, start, problem)
        or _missing_space(lines, start[0], problem)
        or _layout(lines[row], at, start, error)
        or unknown
    )


def unquoted(lines: Sequence[str], row: int, column: int) -> Fault:
    """Explain a key, value or item at a row and column that starts with a character that YAML reserves."""
    first = lines[row][column : column + 1]
    code = "E031" if first in _CLOSING else "E030"
    return _needs_quotes(code, f"text that starts with `{first}`", lines, (row, column))


def _needs_quotes(code: str, what: str, lines: Sequence[str], at: tuple[int, int], *, text: str = "") -> Fault:
    """Return a fault in the key, value or item at a row and column, which needs quotes around `text`."""
    (row, column), line, shown = at, lines[at[0]], "{}"
    parts = _parts(line)
    match = re.match(r"\[[^\]]*\]?|[^,\[\]{}]*", line[column : column + _MAX_LINE])
    found = match[0].rstrip() if match else ""
    if column == parts.column:
        found, shown = parts.value, f"{parts.key}: {{}}" if parts.key else "{}"
    elif column == parts.start and parts.key:
        found, shown = parts.key, "{}:"
    text = quoted(text or found)
    help, fix = f"write {shortened(shown.replace('{}', text))}", Span(row + 1, column + 1, len(found)).edit(text)
    return Fault(_span(row, column, len(found)), code, f"{what} needs quotes", help, fix=fix)


def _span(row: int, column: int, width: int = 1) -> Span:
    return Span(row + 1, column + 1, width)


def _at(lines: Sequence[str], mark: Mark) -> tuple[int, int]:
    return (mark.line, mark.column) if mark.line < len(lines) else (len(lines) - 1, len(lines[-1]))


def _parts(line: str) -> _Line:
    match = _LINE.fullmatch(line) if len(line) <= _MAX_LINE else None
    if match is None:
        return _Line(-1, "", -1, "")
    value = match[3]
    for comment in re.finditer(r"(?:^|[ \t])#", value):
        head = value[: comment.start()]
        if _is_balanced(head) and not head.count('"') % 2:
            value = head
            break
    return _Line(match.end(1), match[2] or "", match.start(3), value.rstrip())


def _is_balanced(text: str) -> bool:
    return all(text.count(left) == text.count(right) for left, right in ("[]", "{}", "()"))


def _value(lines: Sequence[str], at: tuple[int, int], in_flow: bool) -> Fault | None:
    """Explain an error in a value, or a key, that is a text without its quotes."""
    (row, column), line = at, lines[at[0]]
    parts = _parts(line)
    value, first = parts.value, parts.value[:1]
    if not value or not parts.column <= column <= parts.column + len(value):
        first = ""
    if first in _CLOSING and (value[1:2] in ("?", "*") or (_is_balanced(value) and value[-1] not in "]}")):
        return unquoted(lines, row, parts.column)
    if first and first not in _CLOSING and not in_flow:
        if first in "@`%*&!|>":
            return unquoted(lines, row, parts.column)
        if first in "\"'":
            whole = _QUOTED.match(value)
            if whole is None or whole.end() == len(value):
                return None
            # 'a[?b=='c']' is a text in quotes, 'a' == 'b' is a text with quotes in it.
            text = value[1:-1] if value[-1] == first and not value[whole.end()].isspace() else value
            return _needs_quotes(
                "E033", "there is text after the closing quote: the whole value", lines, (row, parts.column), text=text
            )
        if parts.key and re.search(r":(?:\s|$)", value):
            return _needs_quotes("E032", "text that contains `: `", lines, (row, parts.column))
        if parts.key and value.startswith("- "):
            help = f"put `{shortened(value)}` on the next line"
            return Fault(_span(row, parts.column), "E038", "a list item must start on a new line", help)
    return unquoted(lines, row, column) if line[column : column + 1] and line[column] in "@`%*&!" else None


def _unclosed_above(lines: Sequence[str], row: int) -> Fault | None:
    """Find a quote above that is not closed: the next quote closes it, and the error appears far below."""
    for above in range(row - 1, max(-1, row - _MAX_ABOVE), -1):
        parts = _parts(lines[above])
        if parts.value[:1] in ('"', "'") and not _QUOTED.match(parts.value):
            return Fault(_span(above, parts.column), "E034", "this quote is not closed")
    return None


def _bracket(lines: Sequence[str], at: tuple[int, int], start: tuple[int, int], problem: str) -> Fault | None:
    """Explain a bracket that is not closed or not opened, and a missing comma or value."""
    (row, column), bracket = at, lines[start[0]][start[1] : start[1] + 1]
    char = lines[row][column : column + 1]
    if problem.startswith("expected ','") and bracket in _CLOSING:
        closing = _CLOSING[bracket]
        if "<stream end>" in problem or row != start[0]:
            return Fault(_span(*start), "E035", f"this `{bracket}` is not closed", f"add the closing `{closing}`")
        return Fault(_span(row, column), "E035", f"a `,` or `{closing}` is missing before this")
    if char in ("]", "}"):
        return Fault(_span(row, column), "E035", f"this `{char}` has no opening bracket")
    return Fault(_span(row, column), "E035", "a value is missing before this `,`") if char == "," else None


def _missing_space(lines: Sequence[str], row: int, problem: str) -> Fault | None:
    """Explain a line `-item`, `key:value` or `key value`."""
    for number in (row, row - 1) if row else (row,):
        parts = _parts(lines[number])
        span = _span(number, parts.column, max(1, len(parts.value)))
        match = None if parts.key else re.fullmatch(r"(\w[\w-]*:|-)([^\s:/-].*)", parts.value)
        if match:
            sign = "dash" if match[1] == "-" else "colon"
            help = f"write {shortened(f'{match[1]} {match[2]}')}"
            return Fault(span, "E037", f"a space is missing after the {sign}", help)
        if "could not find expected ':'" in problem:
            return Fault(span, "E039", "the colon after the key is missing")
    return None


def _layout(line: str, at: tuple[int, int], start: tuple[int, int], error: MarkedYAMLError) -> Fault | None:
    """Explain a wrong indentation, a missing dash, and text after the document."""
    (row, column), problem = at, error.problem or ""
    if "<document start>" in problem:
        return Fault(_span(row, column), "E008", "a rule file is one YAML document")
    indent = len(line) - len(line.lstrip(" "))
    span = _span(row, indent, max(1, len(line.strip())))
    if line.lstrip().startswith(":"):
        return Fault(span, "E016", "a key is missing before this colon", "write `key: value`")
    if error.context == "while parsing a block collection" and column == start[1] and line[column : column + 1] != "-":
        return Fault(span, "E046", "a dash is missing before this list item")
    if "not allowed here" in problem or "<block end>" in problem or "<block mapping start>" in problem:
        return Fault(span, "E038", "this line is not aligned with the lines above it")
    return None
