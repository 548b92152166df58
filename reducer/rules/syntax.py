"""Explains the syntax errors of PyYAML to people who do not know YAML: where, why, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from yaml import Mark
from yaml.error import MarkedYAMLError

from reducer.errors import Edit, shortened
from reducer.rules.diagnostics import Span, quoted

_MAX_LINE = 1000
"""The maximum length of a line that is analysed; nobody types longer lines."""
_MAX_ABOVE = 50
"""The number of lines above an error that are searched for an unclosed quote."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^']|'')*'")
_LINE = re.compile(rf"(\s*(?:-\s+)*)(?:({_QUOTED.pattern}|[^\s#\"'].*?)\s*:(?:\s+|$))?(.*)")
"""The indentation with dashes, the key and the value with its comment."""
_CUT = re.compile(r"^[\[{][^\]}#]*[\[{, ](#[^\s,\]}]*)[^#]*[\]}]$")
_CLOSING = {"[": "]", "{": "}"}


class Fault(NamedTuple):
    """The arguments of `Report.add` for a syntax error; `fix` adds missing quotes."""

    span: Span
    code: str
    message: str
    help: str = ""
    fix: tuple[Edit, ...] = ()


class _Line(NamedTuple):
    """The key and the value of a line `- key: value # comment`, with their columns."""

    key_column: int
    key: str
    column: int
    value: str


def explain(lines: Sequence[str], error: Exception) -> Fault:
    """Explain an error that the pure parser raises for a text."""
    mark = error.problem_mark or error.context_mark if isinstance(error, MarkedYAMLError) else None
    if not isinstance(error, MarkedYAMLError) or mark is None:
        return Fault(Span(1, 1, 1), "E042", "an escape sequence in this file is not a valid character")
    at, start = _position(mark), _position(error.context_mark or mark)
    line, first_line = lines[at.line - 1], lines[start.line - 1]
    problem, context = error.problem or "", error.context or ""
    words = problem.replace("<block end>", "the end of the block").replace("<stream end>", "the end of the file")
    unknown = Fault(at, "E049", f"this is not valid YAML: {words}")
    if "character '\\t'" in problem:
        spaces = shortened(line.replace("\t", "  "))
        return Fault(at, "E036", "YAML does not allow a tab here", f"write two spaces instead of each tab: {spaces}")
    if max(len(line), len(first_line)) > _MAX_LINE:
        return unknown
    if "quoted scalar" in context:
        if "escape" in problem:
            escape = line[max(at.column - 2, 0) : at.column]
            return Fault(Span(at.line, at.column - 1, 2), "E042", f"`{escape}` is not an escape sequence")
        return _unclosed(first_line, start)
    if "cannot start any token" in problem:
        return unquoted(line, at)
    in_flow = context.startswith("while parsing a flow")
    return (
        _value(line, at, in_flow)
        or _value(first_line, start, in_flow)
        or _above(lines, at.line, in_flow)
        or _bracket(lines, at, start, problem)
        or _missing_space(lines, (start.line, start.line - 1, at.line), problem)
        or _layout(lines, at, start, error)
        or unknown
    )


def unquoted(line: str, at: Span) -> Fault:
    """Explain a key, value or item that starts with a reserved character."""
    first = _character(line, at)
    return _needs_quotes("E031" if first in _CLOSING else "E030", f"text that starts with `{first}`", line, at)


def _needs_quotes(code: str, what: str, line: str, at: Span, *, text: str = "") -> Fault:
    """Return a fault for the key, value or item at a position, which needs quotes around it or around `text`."""
    parts, shown = _parts(line), "{}"
    match = re.match(r"\[[^\]]*\]?|[^,\[\]{}]*", line[at.column - 1 : at.column - 1 + _MAX_LINE])
    source = match[0].rstrip() if match else ""
    if at.column == parts.column:
        source, shown = parts.value, f"{parts.key}: {{}}" if parts.key else "{}"
    elif at.column == parts.key_column and parts.key:
        source, shown = parts.key, "{}:"
    text = quoted(text or source)
    span = Span(at.line, at.column, len(source))
    help = f"write {shortened(shown.replace('{}', text))}"
    return Fault(span, code, f"{what} needs quotes", help=help, fix=span.edit(text))


def _character(line: str, at: Span) -> str:
    return line[at.column - 1 : at.column]


def _position(mark: Mark) -> Span:
    return Span(mark.line + 1, mark.column + 1, 1)


def _parts(line: str) -> _Line:
    match = _LINE.fullmatch(line) if len(line) <= _MAX_LINE else None
    if match is None:
        return _Line(0, "", 0, "")
    value = match[3]
    for comment in re.finditer(r"(?:^|[ \t])#", value):
        head = value[: comment.start()]
        if _is_balanced(head) and not head.count('"') % 2:
            value = head
            break
    return _Line(match.end(1) + 1, match[2] or "", match.start(3) + 1, value.rstrip())


def _is_balanced(text: str) -> bool:
    return all(text.count(left) == text.count(right) for left, right in ("[]", "{}", "()"))


def _value(line: str, at: Span, in_flow: bool) -> Fault | None:
    """Explain an error in a key or value that needs quotes."""
    parts = _parts(line)
    value, first, start = parts.value, parts.value[:1], Span(at.line, parts.column, 1)
    if not value or not parts.column <= at.column <= parts.column + len(value):
        first = ""
    if first in _CLOSING and (value[1:2] in ("?", "*", ":") or (_is_balanced(value) and value[-1] not in "]}")):
        return unquoted(line, start)
    if first and first not in _CLOSING and not in_flow:
        if first in "@`%*&!|>":
            return unquoted(line, start)
        if first in "\"'":
            whole = _QUOTED.match(value)
            if whole is None or whole.end() == len(value):
                return None
            # 'a[?b=='c']' is a text in quotes, 'a' == 'b' is a text that contains quotes.
            text = value[1:-1] if value[-1] == first and not value[whole.end()].isspace() else value
            return _needs_quotes(
                "E033", "there is text after the closing quote: the whole value", line, start, text=text
            )
        if parts.key and re.search(r":(?:\s|$)", value):
            return _needs_quotes("E032", "text that contains `: `", line, start)
        if parts.key and value.startswith("- "):
            help = f"put `{shortened(value)}` on the next line"
            return Fault(start, "E038", "a list item must start on a new line", help)
    return unquoted(line, at) if _character(line, at) in tuple("@`%*&!") else None


def _above(lines: Sequence[str], row: int, in_flow: bool) -> Fault | None:
    """Find an unclosed quote, or a `#` that cuts brackets, at or above a line: the error appears far below."""
    for above in range(row, max(0, row - _MAX_ABOVE), -1):
        parts = _parts(lines[above - 1])
        if above < row and parts.value[:1] in ('"', "'") and not _QUOTED.match(parts.value):
            return _unclosed(lines[above - 1], Span(above, parts.column, 1))
        if in_flow and (cut := _CUT.search(parts.value)):
            better = parts.value[: cut.start(1)] + quoted(cut[1]) + parts.value[cut.end(1) :]
            message = "this `#` starts a comment, so the bracket before it is not closed"
            span = Span(above, parts.column + cut.start(1), len(cut[1]))
            return Fault(span, "E044", message, f"write {shortened(f'{parts.key}: {better}')}")
    return None


def _unclosed(line: str, at: Span) -> Fault:
    parts = _parts(line)
    is_value = parts.key and at.column == parts.column
    help = f"write {shortened(f'{parts.key}: {parts.value}{_character(line, at)}')}" if is_value else ""
    return Fault(at, "E034", "this quote is not closed", help)


def _bracket(lines: Sequence[str], at: Span, start: Span, problem: str) -> Fault | None:
    """Explain an unclosed or unopened bracket, and a missing comma or value."""
    bracket, char = _character(lines[start.line - 1], start), _character(lines[at.line - 1], at)
    if problem.startswith("expected ','") and bracket in _CLOSING:
        closing = _CLOSING[bracket]
        if "<stream end>" in problem or at.line != start.line:
            parts = _parts(lines[start.line - 1])
            help = f"write {parts.key}: {parts.value}{closing}" if parts.key else f"add the closing `{closing}`"
            return Fault(start, "E035", f"this `{bracket}` is not closed", help)
        return Fault(at, "E035", f"a `,` or `{closing}` is missing before this")
    if char in ("]", "}"):
        return Fault(at, "E035", f"this `{char}` has no opening bracket")
    return Fault(at, "E035", "a value is missing before this `,`") if char == "," else None


def _missing_space(lines: Sequence[str], rows: Sequence[int], problem: str) -> Fault | None:
    """Explain a line `-item`, `key:value` or `key value`."""
    for number in filter(None, rows):
        parts = _parts(lines[number - 1])
        column, text = parts.column, "" if parts.key else parts.value
        if parts.key.startswith("-"):
            column, text = parts.key_column, lines[number - 1].strip()
        span = Span(number, column, max(1, len(text)))
        match = re.fullmatch(r"(\w[\w-]*:|-)([^\s:/-].*)", text)
        if match:
            sign = "dash" if match[1] == "-" else "colon"
            help = f"write {shortened(f'{match[1]} {match[2]}')}"
            return Fault(span, "E037", f"a space is missing after the {sign}", help)
        if "could not find expected ':'" in problem:
            return Fault(span, "E039", "the colon after the key is missing")
    return None


def _layout(lines: Sequence[str], at: Span, start: Span, error: MarkedYAMLError) -> Fault | None:
    """Explain wrong indentation, a missing dash, and text after the document."""
    line = lines[at.line - 1]
    problem, text = error.problem or "", line.strip()
    if "<document start>" in problem:
        return Fault(at, "E008", "a rule file can have only one YAML document")
    span = Span(at.line, len(line) - len(line.lstrip(" ")) + 1, max(1, len(text)))
    if text.startswith(":"):
        return Fault(span, "E016", "a key is missing before this colon", "write `key: value`")
    in_list = error.context == "while parsing a block collection"
    if in_list and at.column == start.column and _character(line, at) != "-":
        return Fault(span, "E046", "a dash is missing before this list item", f"write {shortened(f'- {text}')}")
    if "not allowed here" in problem or "<block end>" in problem or "<block mapping start>" in problem:
        above = next((_parts(other) for other in reversed(lines[: at.line - 1]) if _parts(other).key), None)
        is_below = above and not text.startswith("-")
        help = f"start it in column {above.key_column}, below `{shortened(above.key)}`" if above and is_below else ""
        return Fault(span, "E038", "this line is not aligned with the lines above it", help)
    return None
