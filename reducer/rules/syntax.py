"""Explains the syntax errors of PyYAML to people who do not know YAML: where, why, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
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
_LINE = re.compile(rf"\s*(?:-\s+)*(?:({_QUOTED.pattern}|[^\s#\"'\[{{].*?)\s*:(?:\s+|$))?(.*)")
"""A line with its key and its value, which may have a comment."""
_COMMENT = re.compile(r"(?:^|\s)#")
_PATH = re.compile(r"[\[{][?*:].*|(?:\[[^\[\]{}]*\]|\{[^\[\]{}]*\})(?:[^\s,\]}]|\s*[=!<>|&]).*(?<![\]}])")
"""A value that starts like a list or an object, and goes on like a path."""
_ITEM = re.compile(r"\[[^\]]*\]?|(?:[^,\[\]{}:]|:(?!\s|$))*")
"""A key, or an item of a list in brackets."""
_GLUED = re.compile(r"(\s*(?:-\s+)*)(\w[\w-]*:|-)([^\s:/-].*)")
"""A line `key:value` or `-item`: its indentation, its sign with the key, and the rest."""
_NO_COLON = re.compile(r"(\s*(?:-\s+)*)(\w+) +([^\s:#][^:]*)")
"""A line `key value`."""
_CLOSING = {"[": "]", "{": "}"}
_RESERVED = tuple("@`%*&!")


class Fault(NamedTuple):
    """The arguments of `Report.add` for a syntax error; `fix` adds missing quotes."""

    span: Span
    code: str
    message: str
    help: str = ""
    fix: tuple[Edit, ...] = ()


class _Line(NamedTuple):
    """A line `- key: value # comment`: its number, its text, its key, and its value from a column on."""

    row: int
    text: str
    key: str
    column: int
    value: str


class _Error(NamedTuple):
    """A syntax error: where it was noticed, where the construct starts, both with their lines, and what PyYAML says."""

    lines: Sequence[str]
    at: Span
    line: _Line
    start: Span
    first_line: _Line
    problem: str
    context: str


def explain(lines: Sequence[str], error: Exception) -> Fault:
    """Explain an error that the pure parser raises for a text: one of ten traps, or in the words of PyYAML."""
    mark = error.problem_mark or error.context_mark if isinstance(error, MarkedYAMLError) else None
    if not isinstance(error, MarkedYAMLError) or mark is None:
        return Fault(Span(1, 1, 1), "E042", "an escape sequence in this file is not a valid character")
    at, start = _position(mark), _position(error.context_mark or mark)
    line, first_line = _line(lines, at.line), _line(lines, start.line)
    found = _Error(lines, at, line, start, first_line, error.problem or "", error.context or "")
    for trap in _TRAPS if max(len(line.text), len(first_line.text)) < _MAX_LINE else ():
        fault = trap(found)
        if fault is not None:
            return fault
    words = found.problem.replace("<block end>", "the end of the block").replace("<stream end>", "the end of the file")
    return Fault(at, "E049", f"this is not valid YAML: {words}")


def _position(mark: Mark) -> Span:
    return Span(mark.line + 1, mark.column + 1, 1)


def _line(lines: Sequence[str], row: int) -> _Line:
    """Return a line; a blank and `#` after a closed quote start a comment."""
    text = lines[row - 1][:_MAX_LINE]
    match = _LINE.fullmatch(text)
    if match is None:
        return _Line(row, text, "", 0, "")
    value = match[2]
    head = _COMMENT.split(value, maxsplit=1)[0]
    if not (head.count('"') % 2 or head.count("'") % 2):
        value = head
    return _Line(row, text, match[1] or "", match.start(2) + 1, value.rstrip())


def _tab(error: _Error) -> Fault | None:
    if "character '\\t'" not in error.problem:
        return None
    above = _above(error.lines, error.at.line)
    advice = ""
    is_first = not error.line.text[: error.at.column].strip()
    if above is not None and is_first and not (above.value and error.line.text.lstrip().startswith("-")):
        width = _indentation_of_key(above) + (0 if above.value else 2)
        advice = f"indent this line with {width} spaces, and write no tabs"
    return Fault(error.at, "E036", "YAML does not allow a tab here", advice)


def _above(lines: Sequence[str], row: int) -> _Line | None:
    """Return the nearest line with a key above a line."""
    for number in range(row - 1, max(0, row - _MAX_ABOVE), -1):
        line = _line(lines, number)
        if line.key and not line.text.lstrip().startswith("#"):
            return line
    return None


def _indentation_of_key(line: _Line) -> int:
    """Return the number of characters before the key of a line `- key: value`."""
    return len(line.text) - len(line.text.lstrip(" -\t"))


def _escape(error: _Error) -> Fault | None:
    if "quoted scalar" not in error.context or "escape" not in error.problem:
        return None
    return Fault(Span(error.at.line, error.at.column - 1, 2), "E042", "this is not an escape sequence")


def _unquoted_text(error: _Error) -> Fault | None:
    """Explain a key or value that needs quotes."""
    return _value(error.lines, error.line, error.at) or _value(error.lines, error.first_line, error.start)


def _value(lines: Sequence[str], line: _Line, at: Span) -> Fault | None:
    """Explain an error at a position in a key or value that needs quotes."""
    value = line.value
    if value and line.column <= at.column <= line.column + len(value):
        start, whole = Span(line.row, line.column, 1), _QUOTED.match(value)
        if _PATH.fullmatch(value) or value[0] in "@`%*&!|>":
            return unquoted(lines, start)
        if whole is not None and whole.end() < len(value):
            # 'a[?b=='c']' is a text in quotes, 'a' == 'b' is a text that contains quotes.
            text = value[1:-1] if value[-1] == value[0] and not value[whole.end()].isspace() else value
            return _needs_quotes("E033", "there is text after the closing quote: the whole value", line, start, text)
        if line.key and value[0] not in "\"'[{" and re.search(r":(?:\s|$)", value):
            return _needs_quotes("E032", "text that contains `: `", line, start)
    return unquoted(lines, at) if _character(line, at) in _RESERVED else None


def unquoted(lines: Sequence[str], at: Span) -> Fault:
    """Explain a key, value or item that starts with a reserved character."""
    line = _line(lines, at.line)
    first = _character(line, at)
    return _needs_quotes("E031" if first in _CLOSING else "E030", f"text that starts with `{first}`", line, at)


def _needs_quotes(code: str, what: str, line: _Line, at: Span, text: str = "") -> Fault:
    """Return a fault for the key, value or item at a position, which needs quotes around it or around `text`."""
    item = _ITEM.match(line.text, at.column - 1)
    source, before = item[0].rstrip() if item else "", ""
    if at.column == line.column:
        source, before = line.value, f"{line.key}: " if line.key else ""
    right = quoted(text or source)
    span = Span(at.line, at.column, len(source))
    return Fault(span, code, f"{what} needs quotes", f"write {shortened(before + right)}", span.edit(right))


def _character(line: _Line, at: Span) -> str:
    return line.text[at.column - 1 : at.column]


def _unclosed_quote(error: _Error) -> Fault | None:
    """Explain an unclosed quote. If another quote closes it, the error appears far below."""
    if "quoted scalar" in error.context:
        return Fault(error.start, "E034", "this quote is not closed")
    for row in range(error.at.line - 1, max(0, error.at.line - _MAX_ABOVE), -1):
        line = _line(error.lines, row)
        if line.value[:1] in ('"', "'") and not _QUOTED.match(line.value):
            return Fault(Span(row, line.column, 1), "E034", "this quote is not closed")
    return None


def _unclosed_bracket(error: _Error) -> Fault | None:
    bracket, line = _character(error.first_line, error.start), error.first_line
    is_below = error.at.line > error.start.line or "<stream end>" in error.problem
    if not is_below or bracket not in _CLOSING or not error.problem.startswith("expected ','"):
        return None
    closing = _CLOSING[bracket]
    advice = f"write {line.key}: {line.value}{closing}" if line.key else f"add the closing `{closing}`"
    return Fault(error.start, "E035", f"this `{bracket}` is not closed", advice)


def _missing_space(error: _Error) -> Fault | None:
    """Explain a line `-item` or `key:value`."""
    for row in filter(None, (error.start.line, error.start.line - 1, error.at.line)):
        match = _GLUED.fullmatch(error.lines[row - 1].rstrip())
        if match:
            indentation, sign, rest = match.groups()
            span = Span(row, len(indentation) + 1, len(sign + rest))
            what = "dash" if sign == "-" else "colon"
            return Fault(span, "E037", f"a space is missing after the {what}", f"write {shortened(f'{sign} {rest}')}")
    return None


def _missing_dash(error: _Error) -> Fault | None:
    in_list = error.context == "while parsing a block collection"
    if not in_list or error.at.column != error.start.column or _character(error.line, error.at) == "-":
        return None
    text = error.line.text.strip()
    span = Span(error.at.line, error.at.column, len(text))
    above = _above(error.lines, error.at.line)
    if above is not None and above.text.startswith("-", error.at.column - 1) and above.key != error.line.key:
        advice = f"indent it with {_indentation_of_key(above)} spaces, as `{above.key}` in the line above it"
        return Fault(span, "E038", "this line is not aligned with the lines above it", advice)
    return Fault(span, "E046", "a dash is missing before this list item", f"write {shortened(f'- {text}')}")


def _missing_colon(error: _Error) -> Fault | None:
    """Explain a line `key value` without a colon, which YAML reads as one text with the next line."""
    row = {"mapping values are not allowed here": error.at.line - 1, "could not find expected ':'": error.start.line}
    match = _NO_COLON.fullmatch(error.lines[max(0, row.get(error.problem, 0) - 1)]) if error.problem in row else None
    if match is None:
        return None
    before, key, value = match.groups()
    span = Span(row[error.problem], len(before) + 1, len(key))
    return Fault(span, "E047", "a colon is missing after the key", f"write {shortened(f'{key}: {value}')}")


def _without_key(error: _Error) -> Fault | None:
    if error.problem != "expected <block end>, but found '-'" or error.at.column > 1:
        return None
    return Fault(error.at, "E048", "this list has no key", "write the line `steps:` above it")


def _indentation(error: _Error) -> Fault | None:
    if not error.problem.startswith(("mapping values are not", "expected <block end>, but found '<block")):
        return None
    text = error.line.text
    width = len(text.lstrip(" "))
    span = Span(error.at.line, len(text) - width + 1, width)
    return Fault(span, "E038", "this line is not aligned with the lines above it")


_TRAPS: tuple[Callable[[_Error], Fault | None], ...] = (
    _tab,
    _escape,
    _unquoted_text,
    _unclosed_quote,
    _unclosed_bracket,
    _missing_space,
    _missing_dash,
    _missing_colon,
    _without_key,
    _indentation,
)
"""They explain twelve traps: `_unquoted_text` explains reserved characters, `: `, and text after a closing quote."""
