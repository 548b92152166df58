"""Explains the syntax errors of PyYAML to people who do not know YAML: the place, the cause, the corrected text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from yaml.error import MarkedYAMLError

from reducer.errors import Edit
from reducer.rules.diagnostics import Report
from reducer.rules.scalars import quoted, shortened
from reducer.rules.tree import Span

_MAX_LINE = 1000
"""Characters of a line that is taken apart; longer lines are no rules that somebody typed."""
_MAX_ABOVE = 50
"""Lines above an error in which an unclosed quote is looked for."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^']|'')*'")
_CLOSING = {"[": "]", "{": "}"}


class Fault(NamedTuple):
    """A syntax error; `fix` adds missing quotes."""

    span: Span
    code: str
    message: str
    help: str = ""
    fix: tuple[Edit, ...] = ()


class _Line(NamedTuple):
    """The parts of a line `- key: value # comment`, by index from 0: `name` is the key with its colon, or empty."""

    key: int
    name: str
    value: int
    end: int


def explain(report: Report, error: Exception) -> None:
    """Report a syntax error of the pure parser."""
    fault = Fault(_at(0, 0), "E049", "this is not valid YAML")
    if isinstance(error, MarkedYAMLError) and (error.problem_mark or error.context_mark) is not None:
        fault = _explained(report.lines, error)
    elif isinstance(error, OverflowError | ValueError):
        fault = fault._replace(code="E042", message="an escape names no character")
    report.add(fault.span, fault.code, fault.message, fault.help, fix=fault.fix)


def quote_value(line: str, row: int, start: int, text: str) -> tuple[Edit, str]:
    """Return the edit that puts the value at `start` (from 0) in quotes, and the help that shows it.

    Inside a list or object, where the end of the value is not known, `text` is put in quotes.
    """
    parts = _parts(line)
    if parts.value == start:
        text = line[start : parts.end]
        return Edit(
            row + 1, start + 1, len(text), quoted(text)
        ), f"write {shortened(f'{parts.name} {quoted(text)}'.strip())}"
    return Edit(row + 1, start + 1, len(text), quoted(text)), f"write {shortened(quoted(text))}"


def _at(row: int, column: int, width: int = 1) -> Span:
    return Span(row + 1, column + 1, width)


def _parts(line: str) -> _Line:
    if len(line) > _MAX_LINE:
        return _Line(-1, "", -1, -1)
    key = len(line) - len(line.lstrip(" \t"))
    while line.startswith("- ", key):
        key += 2 + len(line[key + 2 :]) - len(line[key + 2 :].lstrip(" \t"))
    first = _QUOTED.match(line, key)
    colon = re.compile(r":(?=\s|$)").search(line, first.end() if first else key)
    if first and colon and line[first.end() : colon.start()].strip():
        colon = None
    value = colon.end() if colon and not line.startswith("#", key) else key
    value += len(line[value:]) - len(line[value:].lstrip(" \t"))
    name = line[key : colon.end()] if colon and value > key else ""
    return _Line(key, name, value, value + len(_without_comment(line[value:])))


def _without_comment(value: str) -> str:
    for match in re.finditer(r"(?:^|[ \t])#", value):
        head = value[: match.start()]
        if all(head.count(left) == head.count(right) for left, right in ("[]", "{}", "()")) and not head.count('"') % 2:
            return head.rstrip()
    return value.rstrip()


def _explained(lines: Sequence[str], error: MarkedYAMLError) -> Fault:
    mark = error.problem_mark or error.context_mark
    assert mark is not None
    problem, context = error.problem or "", error.context or ""
    row = min(mark.line, len(lines) - 1)
    column = mark.column if row == mark.line else len(lines[row])
    first = error.context_mark
    start = (first.line, first.column) if first is not None and first.line < len(lines) else (row, column)
    unknown = Fault(_at(row, column), "E049", f"this is not valid YAML: {_in_words(problem)}")
    if "character '\\t'" in problem:
        width = len(lines[row][column:]) - len(lines[row][column:].lstrip("\t"))
        return Fault(_at(row, column, width), "E036", "YAML does not allow a tab here")
    if len(lines[row]) > _MAX_LINE or len(lines[start[0]]) > _MAX_LINE:
        return unknown
    if "quoted scalar" in context:
        if "escape" in problem:
            escape = lines[row][max(column - 1, 0) : column + 1]
            return Fault(_at(row, column - 1, 2), "E042", f"`{escape}` is not an escape in double quotes")
        return Fault(_at(start[0], start[1]), "E034", "this quote is not closed")
    in_flow = context.startswith("while parsing a flow") or lines[row][_parts(lines[row]).value :][:1] in ("[", "{")
    return (
        _needs_quotes(lines[row], row, column, in_flow)
        or _needs_quotes(lines[start[0]], start[0], start[1], in_flow)
        or _unclosed_above(lines, row)
        or _bracket(lines, (row, column), start, problem)
        or _missing_space(lines, start[0], problem)
        or _layout(lines, (row, column), start, error)
        or unknown
    )


def _in_words(problem: str) -> str:
    return problem.replace("<block end>", "the end of the block").replace("<stream end>", "the end of the file")


def _needs_quotes(line: str, row: int, column: int, in_flow: bool) -> Fault | None:
    """Explain an error in a value, or a key, that is a text without its quotes."""
    parts = _parts(line)
    value = line[parts.value : parts.end]
    if in_flow and value[:2] not in ("[?", "[*") and not _goes_on(value):
        return _flow_item(line, row, column)
    if not value or not parts.value <= column < max(parts.end, parts.value + 1):
        return _key(line, row, column, parts) if column == parts.key else None
    first, text = value[0], value
    if first in "[{" and (value[:2] in ("[?", "[*") or _goes_on(value)):
        kind = "a list" if first == "[" else "an object"
        code, message = "E031", f"a value that starts with `{first}` needs quotes, unless it is {kind}"
    elif first in "@`%*&!|>":
        code, message = "E030", f"a value cannot start with `{first}` without quotes"
    elif first in "\"'":
        whole = _QUOTED.match(value)
        if whole is None or whole.end() == len(value):
            return None
        # 'a[?b=='c']' is a text in quotes, 'a' == 'b' is a text with quotes in it.
        if value[-1] == first and not value[whole.end()].isspace():
            text = value[1:-1]
        code, message = "E033", "there is more text after the closing quote"
    elif parts.name and first not in "[{" and re.search(r":(?:\s|$)", value):
        code, message = "E032", "a value that contains `: ` needs quotes"
    elif first == "-" and value[1:2] == " " and parts.name:
        help = f"put `{shortened(value)}` on the next line"
        return Fault(_at(row, parts.value), "E038", "a list starts on a line of its own", help)
    else:
        return None
    help = f"write {shortened(f'{parts.name} {quoted(text)}'.strip())}"
    fix = () if first in "&!" else (Edit(row + 1, parts.value + 1, len(value), quoted(text)),)
    return Fault(_at(row, parts.value, len(value)), code, message, help, fix=fix)


def _flow_item(line: str, row: int, column: int) -> Fault | None:
    """Explain an item between brackets that starts with a character that YAML reserves."""
    match = re.compile(r"[@`%*&!][^,\[\]{}]*").match(line, column)
    if match is None:
        return None
    text = match[0].rstrip()
    message = f"a value cannot start with `{text[0]}` without quotes"
    fix = () if text[0] in "&!" else (Edit(row + 1, column + 1, len(text), quoted(text)),)
    return Fault(_at(row, column, len(text)), "E030", message, f"write {shortened(quoted(text))}", fix=fix)


def _goes_on(value: str) -> bool:
    """Return whether the bracket that starts a value is closed before its end."""
    depth = 0
    for number, char in enumerate(value):
        depth += (char in "[{") - (char in "]}")
        if depth == 0:
            return char in "]}" and value[number + 1 :].strip("]} ") != ""
    return False


def _key(line: str, row: int, column: int, parts: _Line) -> Fault | None:
    name = parts.name[:-1].rstrip()
    if not name or name[0] not in "@`%*&![{":
        return None
    message = f"a key cannot start with `{name[0]}` without quotes"
    fix = (Edit(row + 1, column + 1, len(name), quoted(name)),)
    return Fault(_at(row, column, len(name)), "E030", message, f"write {shortened(quoted(name))}:", fix=fix)


def _unclosed_above(lines: Sequence[str], row: int) -> Fault | None:
    """Find a quote above that is not closed: the next quote closes it, and the error appears far below."""
    for above in range(row - 1, max(-1, row - _MAX_ABOVE), -1):
        parts = _parts(lines[above])
        value = lines[above][parts.value : parts.end] if parts.value >= 0 else ""
        if value[:1] in ('"', "'") and not _QUOTED.match(value):
            return Fault(_at(above, parts.value), "E034", "this quote is not closed")
    return None


def _bracket(lines: Sequence[str], at: tuple[int, int], start: tuple[int, int], problem: str) -> Fault | None:
    """Explain a bracket that is not closed or not opened, and a missing comma or value."""
    row, column = at
    bracket, char = lines[start[0]][start[1] : start[1] + 1], lines[row][column : column + 1]
    if problem.startswith("expected ','") and bracket in _CLOSING:
        if "<stream end>" in problem or row != start[0]:
            help = f"add the closing `{_CLOSING[bracket]}`"
            return Fault(_at(start[0], start[1]), "E035", f"this `{bracket}` is not closed", help)
        message = f"a `,` or `{_CLOSING[bracket]}` is missing before this"
        return Fault(_at(row, column), "E035", message)
    if char in ("]", "}"):
        return Fault(_at(row, column), "E035", f"this `{char}` has no opening bracket")
    if char == ",":
        return Fault(_at(row, column), "E035", "a value is missing before this `,`")
    return None


def _missing_space(lines: Sequence[str], row: int, problem: str) -> Fault | None:
    """Explain a line `-item`, `key:value` or `key value`."""
    for number in (row, row - 1) if row else (row,):
        parts = _parts(lines[number])
        text = lines[number][parts.key : parts.end] if parts.key >= 0 else ""
        match = re.fullmatch(r"([\w-]+):([^\s:/].*)", text)
        if match and not parts.name and not text.startswith("-"):
            help = f"write {shortened(f'{match[1]}: {match[2]}')}"
            return Fault(_at(number, parts.key, len(text)), "E037", "a space is missing after the colon", help)
        if re.match(r"-\w", text):
            help = f"write {shortened(f'- {text[1:]}')}"
            return Fault(_at(number, parts.key), "E037", "a space is missing after the dash", help)
        if "could not find expected ':'" in problem:
            return Fault(_at(number, parts.key, max(1, len(text))), "E039", "the colon after the key is missing")
    return None


def _layout(lines: Sequence[str], at: tuple[int, int], start: tuple[int, int], error: MarkedYAMLError) -> Fault | None:
    """Explain a wrong indentation, a missing dash or key, and text after the document."""
    (row, column), problem = at, error.problem or ""
    line, indent = lines[row], _parts(lines[row]).key
    if "<document start>" in problem:
        if lines[0].startswith("%"):
            message = "rule files have no lines that start with `%`"
            return Fault(_at(0, 0, len(lines[0])), "E008", message, "remove the line")
        return Fault(_at(row, column), "E008", "the document ends above; a rule file has one document")
    if line[indent : indent + 1] == ":":
        return Fault(_at(row, indent), "E016", "a key is missing", "write one before the colon")
    width = max(1, len(line[column:].rstrip()))
    if error.context == "while parsing a block collection" and column == start[1] and line[column : column + 1] != "-":
        return Fault(_at(row, column, width), "E046", "this line lacks the dash of a list item")
    if "not allowed here" in problem or "<block end>" in problem or "<block mapping start>" in problem:
        first = len(line) - len(line.lstrip(" "))
        width = max(1, len(line[first:].rstrip()))
        return Fault(_at(row, first, width), "E038", "the indentation of this line does not fit the lines above it")
    return None
