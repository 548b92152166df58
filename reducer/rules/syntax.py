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
_PATH = re.compile(r"[\[{][?*:].*|(?:\[[^\[\]{}]*\]|\{[^\[\]{}]*\})(?:[^\s,\]}]|\s*[=!<>|&]).*(?<![\]}])")
"""A value that starts like a list or an object, and goes on like a path."""
_GLUED = re.compile(r"(\s*(?:-\s+)*)(\w[\w-]*:|-)([^\s:/-].*)")
"""A line `key:value` or `-item`: its indentation, its sign with the key, and the rest."""
_CLOSING = {"[": "]", "{": "}"}


class Fault(NamedTuple):
    """The arguments of `Report.add` for a syntax error; `fix` adds missing quotes."""

    span: Span
    code: str
    message: str
    help: str = ""
    fix: tuple[Edit, ...] = ()


class _Error(NamedTuple):
    """A syntax error: where it was noticed, where the construct starts, both with their lines, and what PyYAML says."""

    lines: Sequence[str]
    at: Span
    line: str
    start: Span
    first_line: str
    problem: str
    context: str


def explain(lines: Sequence[str], error: Exception) -> Fault:
    """Explain an error that the pure parser raises for a text: one of ten traps, or in the words of PyYAML."""
    mark = error.problem_mark or error.context_mark if isinstance(error, MarkedYAMLError) else None
    if not isinstance(error, MarkedYAMLError) or mark is None:
        return Fault(Span(1, 1, 1), "E042", "an escape sequence in this file is not a valid character")
    at, start = _position(mark), _position(error.context_mark or mark)
    line, first_line = lines[at.line - 1], lines[start.line - 1]
    found = _Error(lines, at, line, start, first_line, error.problem or "", error.context or "")
    for trap in _TRAPS if max(len(line), len(first_line)) <= _MAX_LINE else (_tab,):
        fault = trap(found)
        if fault is not None:
            return fault
    words = found.problem.replace("<block end>", "the end of the block").replace("<stream end>", "the end of the file")
    return Fault(at, "E049", f"this is not valid YAML: {words}")


def _position(mark: Mark) -> Span:
    return Span(mark.line + 1, mark.column + 1, 1)


def _tab(error: _Error) -> Fault | None:
    if "character '\\t'" not in error.problem:
        return None
    spaces = shortened(error.line.replace("\t", "  "))
    return Fault(error.at, "E036", "YAML does not allow a tab here", f"write two spaces instead of each tab: {spaces}")


def _escape(error: _Error) -> Fault | None:
    if "quoted scalar" not in error.context or "escape" not in error.problem:
        return None
    span = Span(error.at.line, error.at.column - 1, 2)
    escape = error.line[span.column - 1 : span.column + 1]
    return Fault(span, "E042", f"`{escape}` is not an escape sequence")


def _unquoted_text(error: _Error) -> Fault | None:
    """Explain a key or value that needs quotes."""
    if "cannot start any token" in error.problem:
        return unquoted(error.line, error.at)
    in_flow = error.context.startswith("while parsing a flow")
    return _value(error.line, error.at, in_flow) or _value(error.first_line, error.start, in_flow)


def _value(line: str, at: Span, in_flow: bool) -> Fault | None:
    """Explain an error at a position in a key or value that needs quotes."""
    _, key, column, value = _parts(line)
    if value and column <= at.column <= column + len(value):
        start, whole = Span(at.line, column, 1), _QUOTED.match(value)
        if _PATH.fullmatch(value) or (value[0] in "@`%*&!|>" and not in_flow):
            return unquoted(line, start)
        if whole is not None and whole.end() < len(value) and not in_flow:
            # 'a[?b=='c']' is a text in quotes, 'a' == 'b' is a text that contains quotes.
            text = value[1:-1] if value[-1] == value[0] and not value[whole.end()].isspace() else value
            return _needs_quotes("E033", "there is text after the closing quote: the whole value", line, start, text)
        if key and value[0] not in "\"'[{" and re.search(r":(?:\s|$)", value) and not in_flow:
            return _needs_quotes("E032", "text that contains `: `", line, start)
    return unquoted(line, at) if _character(line, at) in tuple("@`%*&!") else None


def unquoted(line: str, at: Span) -> Fault:
    """Explain a key, value or item that starts with a reserved character."""
    first = _character(line, at)
    return _needs_quotes("E031" if first in _CLOSING else "E030", f"text that starts with `{first}`", line, at)


def _needs_quotes(code: str, what: str, line: str, at: Span, text: str = "") -> Fault:
    """Return a fault for the key, value or item at a position, which needs quotes around it or around `text`."""
    key_column, key, column, value = _parts(line)
    if at.column == column:
        source, shown = value, f"{key}: " if key else ""
    elif at.column == key_column and key:
        source, shown = key, ""
    else:
        match = re.match(r"\[[^\]]*\]?|[^,\[\]{}]*", line[at.column - 1 : at.column - 1 + _MAX_LINE])
        source, shown = match[0].rstrip() if match else "", ""
    right = quoted(text or source)
    colon = ":" if source == key else ""
    span = Span(at.line, at.column, len(source))
    return Fault(span, code, f"{what} needs quotes", f"write {shortened(shown + right + colon)}", span.edit(right))


def _character(line: str, at: Span) -> str:
    return line[at.column - 1 : at.column]


def _parts(line: str) -> tuple[int, str, int, str]:
    """Return the key and the value of a line `- key: value # comment`, each after its column."""
    match = _LINE.fullmatch(line[:_MAX_LINE])
    if match is None:
        return 0, "", 0, ""
    value = match[3]
    for comment in re.finditer(r"(?:^|[ \t])#", value):
        head = value[: comment.start()]
        if not head.count('"') % 2 and head.count("[") == head.count("]") and head.count("{") == head.count("}"):
            value = head
            break
    return match.end(1) + 1, match[2] or "", match.start(3) + 1, value.rstrip()


def _unclosed_quote(error: _Error) -> Fault | None:
    """Explain an unclosed quote. If another quote closes it, the error appears far below."""
    if "quoted scalar" in error.context:
        return _unclosed(error.first_line, error.start)
    last = error.at.line - 1
    for row in range(last, max(0, last - _MAX_ABOVE), -1):
        _, _, column, value = _parts(error.lines[row - 1])
        if value[:1] in ('"', "'") and not _QUOTED.match(value):
            return _unclosed(error.lines[row - 1], Span(row, column, 1))
    return None


def _unclosed(line: str, at: Span) -> Fault:
    _, key, column, value = _parts(line)
    advice = f"write {shortened(f'{key}: {value}{_character(line, at)}')}" if key and at.column == column else ""
    return Fault(at, "E034", "this quote is not closed", advice)


def _bracket(error: _Error) -> Fault | None:
    """Explain an unclosed or unopened bracket, and a missing comma."""
    bracket, char = _character(error.first_line, error.start), _character(error.line, error.at)
    if bracket not in _CLOSING or not error.problem.startswith("expected ','"):
        return Fault(error.at, "E035", f"this `{char}` has no opening bracket") if char in ("]", "}") else None
    _, key, _, value = _parts(error.first_line)
    closing = _CLOSING[bracket]
    if "<stream end>" not in error.problem and error.at.line == error.start.line:
        return Fault(error.at, "E035", f"a `,` or `{closing}` is missing before this")
    advice = f"write {key}: {value}{closing}" if key else f"add the closing `{closing}`"
    if "#" in value:
        advice = "a blank and `#` start a comment: put the text with `#` in quotes"
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
    span, text = _whole_line(error)
    return Fault(span, "E046", "a dash is missing before this list item", f"write {shortened(f'- {text}')}")


def _indentation(error: _Error) -> Fault | None:
    words = ("not allowed here", "<block end>", "<block mapping start>")
    if not any(word in error.problem for word in words) or "<document start>" in error.problem:
        return None
    span, text = _whole_line(error)
    if text.startswith(":") or (_character(error.line, error.at) == "-" and text[0] != "-"):
        return None
    advice = ""
    for line in reversed(error.lines[: error.at.line - 1]):
        column, above, _, _ = _parts(line)
        if above:
            if not text.startswith("-"):
                advice = f"start it in column {column}, below `{shortened(above)}`"
            break
    return Fault(span, "E038", "this line is not aligned with the lines above it", advice)


def _whole_line(error: _Error) -> tuple[Span, str]:
    text = error.line.strip()
    return Span(error.at.line, len(error.line) - len(error.line.lstrip(" ")) + 1, max(1, len(text))), text


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
