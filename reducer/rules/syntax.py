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
_LINE = re.compile(rf"(\s*(?:-\s+)*)(?:({_QUOTED.pattern}|[^\s#\"'].*?)\s*:(?:\s+|$))?(.*)")
"""The indentation with dashes, the key and the value with its comment."""
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


class _Error(NamedTuple):
    """A syntax error: its lines, where it was noticed, where the construct starts, and what PyYAML says."""

    lines: Sequence[str]
    at: Span
    start: Span
    problem: str
    context: str

    @property
    def line(self) -> str:
        """The line in which it was noticed."""
        return self.lines[self.at.line - 1]

    @property
    def first_line(self) -> str:
        """The line in which the construct starts."""
        return self.lines[self.start.line - 1]


def explain(lines: Sequence[str], error: Exception) -> Fault:
    """Explain an error that the pure parser raises for a text: one of ten traps, or in the words of PyYAML."""
    mark = error.problem_mark or error.context_mark if isinstance(error, MarkedYAMLError) else None
    if not isinstance(error, MarkedYAMLError) or mark is None:
        return Fault(Span(1, 1, 1), "E042", "an escape sequence in this file is not a valid character")
    at, start = _position(mark), _position(error.context_mark or mark)
    found = _Error(lines, at, start, error.problem or "", error.context or "")
    for trap in _TRAPS if max(len(found.line), len(found.first_line)) <= _MAX_LINE else (_tab,):
        fault = trap(found)
        if fault is not None:
            return fault
    words = found.problem.replace("<block end>", "the end of the block").replace("<stream end>", "the end of the file")
    return Fault(at, "E049", f"this is not valid YAML: {words}")


def _tab(error: _Error) -> Fault | None:
    if "character '\\t'" not in error.problem:
        return None
    spaces = shortened(error.line.replace("\t", "  "))
    return Fault(error.at, "E036", "YAML does not allow a tab here", f"write two spaces instead of each tab: {spaces}")


def _escape(error: _Error) -> Fault | None:
    if "quoted scalar" not in error.context or "escape" not in error.problem:
        return None
    column = error.at.column - 1
    escape = error.line[max(column - 1, 0) : column + 1]
    return Fault(Span(error.at.line, column, 2), "E042", f"`{escape}` is not an escape sequence")


def _unclosed_quote(error: _Error) -> Fault | None:
    """Explain an unclosed quote. If another quote closes it, the error appears far below."""
    if "quoted scalar" in error.context:
        return _unclosed(error.first_line, error.start)
    last = error.at.line - 1
    for row in range(last, max(0, last - _MAX_ABOVE), -1):
        parts = _parts(error.lines[row - 1])
        if parts.value[:1] in ('"', "'") and not _QUOTED.match(parts.value):
            return _unclosed(error.lines[row - 1], Span(row, parts.column, 1))
    return None


def _unclosed(line: str, at: Span) -> Fault:
    parts = _parts(line)
    is_value = parts.key and at.column == parts.column
    advice = f"write {shortened(f'{parts.key}: {parts.value}{_character(line, at)}')}" if is_value else ""
    return Fault(at, "E034", "this quote is not closed", advice)


def _unquoted_text(error: _Error) -> Fault | None:
    """Explain a key or value that needs quotes."""
    if "cannot start any token" in error.problem:
        return unquoted(error.line, error.at)
    in_flow = error.context.startswith("while parsing a flow")
    return _value(error.line, error.at, in_flow) or _value(error.first_line, error.start, in_flow)


def _value(line: str, at: Span, in_flow: bool) -> Fault | None:
    """Explain an error at a position in a key or value that needs quotes."""
    parts = _parts(line)
    fault = None
    if parts.value and parts.column <= at.column <= parts.column + len(parts.value):
        fault = _bare_value(line, Span(at.line, parts.column, 1), parts, in_flow)
    if fault is None and _character(line, at) in tuple("@`%*&!"):
        return unquoted(line, at)
    return fault


def _bare_value(line: str, start: Span, parts: _Line, in_flow: bool) -> Fault | None:
    value, first = parts.value, parts.value[0]
    if first in _CLOSING:
        is_path = value[1:2] in ("?", "*", ":") or (_is_balanced(value) and value[-1] not in "]}")
        return unquoted(line, start) if is_path else None
    if in_flow:
        return None
    if first in "@`%*&!|>":
        return unquoted(line, start)
    if first in "\"'":
        return _text_after_quote(line, start, value)
    if parts.key and re.search(r":(?:\s|$)", value):
        return _needs_quotes("E032", "text that contains `: `", line, start)
    return None


def _text_after_quote(line: str, start: Span, value: str) -> Fault | None:
    whole = _QUOTED.match(value)
    if whole is None or whole.end() == len(value):
        return None
    # 'a[?b=='c']' is a text in quotes, 'a' == 'b' is a text that contains quotes.
    text = value[1:-1] if value[-1] == value[0] and not value[whole.end()].isspace() else value
    return _needs_quotes("E033", "there is text after the closing quote: the whole value", line, start, text=text)


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
    advice = f"write {shortened(shown.replace('{}', text))}"
    return Fault(span, code, f"{what} needs quotes", help=advice, fix=span.edit(text))


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


def _bracket(error: _Error) -> Fault | None:
    """Explain an unclosed or unopened bracket, and a missing comma."""
    bracket, char = _character(error.first_line, error.start), _character(error.line, error.at)
    if bracket not in _CLOSING or not error.problem.startswith("expected ','"):
        return Fault(error.at, "E035", f"this `{char}` has no opening bracket") if char in ("]", "}") else None
    parts, closing = _parts(error.first_line), _CLOSING[bracket]
    if "<stream end>" not in error.problem and error.at.line == error.start.line:
        return Fault(error.at, "E035", f"a `,` or `{closing}` is missing before this")
    advice = f"write {parts.key}: {parts.value}{closing}" if parts.key else f"add the closing `{closing}`"
    if "#" in parts.value:
        advice = "a blank and `#` start a comment: put the text with `#` in quotes"
    return Fault(error.start, "E035", f"this `{bracket}` is not closed", advice)


def _missing_space(error: _Error) -> Fault | None:
    """Explain a line `-item` or `key:value`."""
    for row in filter(None, (error.start.line, error.start.line - 1, error.at.line)):
        parts, line = _parts(error.lines[row - 1]), error.lines[row - 1].strip()
        column, text = parts.column, "" if parts.key else parts.value
        if parts.key.startswith("-"):
            column, text = parts.key_column, line
        match = re.fullmatch(r"(\w[\w-]*:|-)([^\s:/-].*)", text)
        if match:
            sign = "dash" if match[1] == "-" else "colon"
            advice = f"write {shortened(f'{match[1]} {match[2]}')}"
            return Fault(Span(row, column, max(1, len(text))), "E037", f"a space is missing after the {sign}", advice)
    return None


def _missing_dash(error: _Error) -> Fault | None:
    in_list = error.context == "while parsing a block collection"
    if not in_list or error.at.column != error.start.column or _character(error.line, error.at) == "-":
        return None
    advice = f"write {shortened(f'- {error.line.strip()}')}"
    return Fault(_whole_line(error), "E046", "a dash is missing before this list item", advice)


def _indentation(error: _Error) -> Fault | None:
    text = error.line.strip()
    if "<document start>" in error.problem:
        return None
    is_misaligned = any(
        words in error.problem for words in ("not allowed here", "<block end>", "<block mapping start>")
    )
    if not is_misaligned or text.startswith(":") or (_character(error.line, error.at) == "-" and text[0] != "-"):
        return None
    advice = ""
    for line in reversed(error.lines[: error.at.line - 1]):
        above = _parts(line)
        if above.key:
            if not text.startswith("-"):
                advice = f"start it in column {above.key_column}, below `{shortened(above.key)}`"
            break
    return Fault(_whole_line(error), "E038", "this line is not aligned with the lines above it", advice)


def _whole_line(error: _Error) -> Span:
    column = len(error.line) - len(error.line.lstrip(" ")) + 1
    return Span(error.at.line, column, max(1, len(error.line.strip())))


_TRAPS: tuple[Callable[[_Error], Fault | None], ...] = (
    _tab,
    _escape,
    _unquoted_text,
    _unclosed_quote,
    _bracket,
    _missing_space,
    _missing_dash,
    _indentation,
)
"""They explain ten traps: `_unquoted_text` explains reserved characters, `: `, and text after a closing quote."""
