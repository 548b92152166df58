"""What a YAML error means to somebody who does not know YAML: where it really is, in words, and the corrected text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from yaml.error import MarkedYAMLError

from reducer.source.scalars import quoted, short

LONGEST_KEY = 1024
"""Characters of a key, escapes and quotes among them: https://yaml.org/spec/1.2.2/#822-block-mappings, and PyYAML."""
MAX_LINE = 1000
"""Characters of a line up to which corrections are worked out; longer ones are no rules that somebody typed."""


class Edit(NamedTuple):
    """The characters `start` to `end` of line `row` (from 0) become `new`, so that reading can go on behind a fault."""

    row: int
    start: int
    end: int
    new: str


class Fault(NamedTuple):
    """One fault, at `row` and `column` from 0. Without a message it is none, only what one of the two parsers stumbles over."""

    row: int
    column: int
    width: int
    code: str
    message: str
    help: str = ""
    edit: Edit | None = None


class Entry(NamedTuple):
    """The parts of a line `- key: value # comment`; `name` is the key with its colon or empty."""

    key: int
    name: str
    value: int
    end: int


_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^']|'')*'")
_EXPRESSIONS = frozenset({"path", "sort_by", "where", "always_keep", "dedupe"})
"""Keys whose value is an expression: a key with `@` in front stands in quotes of its own there."""
_CLOSING = {"[": "]", "{": "}"}


def entry(line: str) -> Entry:
    """Take a line apart; `value` to `end` are the value's characters, without a comment."""
    key = len(line) - len(line.lstrip(" \t"))
    while line.startswith("- ", key):
        key += 2 + len(line[key + 2 :]) - len(line[key + 2 :].lstrip(" \t"))
    opening = _QUOTED.match(line, key)
    colon = re.compile(r"\s*:(?=\s|$)").match(line, opening.end()) if opening else re.compile(r":(?=\s|$)").search(line, key)
    value = colon.end() if colon and not line.startswith("#", key) else key
    value += len(line[value:]) - len(line[value:].lstrip(" \t"))
    return Entry(key, line[key : colon.end()] if colon and value > key else "", value, value + len(_uncommented(line[value:])))


def _uncommented(value: str) -> str:
    # A ` #` inside brackets or quotes belongs to what the author meant as the value.
    for match in re.finditer(r"(?:^|[ \t])#", value):
        head = value[: match.start()]
        if all(head.count(left) == head.count(right) for left, right in ("[]", "{}", "()")) and not head.count('"') % 2:
            return head.rstrip()
    return value.rstrip()


def written(line: str, start: int, fallback: str) -> tuple[Edit, str]:
    """Give the edit, on row 0, that puts the value which starts at `start` in quotes, and its help.

    Inside a line's value, where its end is not known, `fallback` is what gets the quotes.
    """
    parts = entry(line) if len(line) <= MAX_LINE else Entry(-1, "", -1, -1)
    if parts.value == start:
        new = quoted(line[start : parts.end])
        return Edit(0, start, parts.end, new), f"write {short(parts.name + ' ' + new if parts.name else new)}"
    return Edit(0, start, start + len(fallback), quoted(fallback)), f"write {short(quoted(fallback))}"


def explain(lines: Sequence[str], error: MarkedYAMLError, in_flow: bool) -> Fault:
    """Say what `error`, of PyYAML's own scanner or parser, means for the text of `lines`."""
    mark = error.problem_mark or error.context_mark
    row, column = (mark.line, mark.column) if mark else (0, 0)
    if row >= len(lines):
        row, column = len(lines) - 1, len(lines[-1])
    context = error.context_mark
    opened = (context.line, context.column) if context and context.line < len(lines) else (row, column)
    problem, line = error.problem or "", lines[row]
    if "character '\\t'" in problem:
        return _tab(line, row, column, in_flow)
    if column > LONGEST_KEY and line.startswith(":", column):
        return Fault(
            row,
            column,
            1,
            "E049",
            f"what stands before this is too long for a key: YAML takes at most {LONGEST_KEY:,} characters for one",
            "write a shorter one",
        )
    if len(line) > MAX_LINE or len(lines[opened[0]]) > MAX_LINE:
        return Fault(row, column, 1, "E049", f"this is not valid YAML: {_words(problem)}")
    if "quoted scalar" in (error.context or ""):
        return _escape(line, row, column) if "escape" in problem else _unclosed_quote(lines, *opened)
    return (
        _value(line, row, column, in_flow)
        or _value(lines[opened[0]], *opened, in_flow)
        or _unclosed_above(lines, row, column)
        or _structure(lines, row, column, opened, problem)
        or Fault(row, column, 1, "E049", f"this is not valid YAML: {_words(problem)}")
    )


def _words(problem: str) -> str:
    return problem.replace("<block end>", "the end of the block").replace("<stream end>", "the end of the file")


def _tab(line: str, row: int, column: int, in_flow: bool) -> Fault:
    blank = line.lstrip(" \t")[:1] in ("", "#")
    if in_flow or blank or line[:column].strip(" \t"):
        # YAML allows a tab between tokens, and libyaml reads it; the pure parser does not.
        return Fault(row, column, 1, "E036", "", edit=Edit(row, column, column + 1, " "))
    width = len(line[column:]) - len(line[column:].lstrip("\t"))
    return Fault(row, column, width, "E036", "a tab cannot indent a line in YAML", "use spaces")


def _escape(line: str, row: int, column: int) -> Fault:
    slash = max(line.rfind("\\", 0, column + 1), 0)
    parts = entry(line)
    value = line[parts.value : parts.end]
    sequence = line[slash : slash + 2]
    message = f"`{sequence}` means nothing in double quotes"
    if _QUOTED.fullmatch(value) and parts.value < slash < parts.end:
        inner = value[1:-1]
        new = f"'{inner}'" if "'" not in inner else '"' + re.sub(r"\\(?![\"\\])", r"\\\\", inner) + '"'
        help = f"write {short((parts.name + ' ' + new).strip())}"
        return Fault(row, slash, 2, "E042", message, help, Edit(row, parts.value, parts.end, new))
    return Fault(row, slash, 2, "E042", message, f"write \\{sequence}, or use single quotes", Edit(row, slash, slash + 1, "\\\\"))


def _unclosed_quote(lines: Sequence[str], row: int, column: int) -> Fault:
    line = lines[row]
    parts = entry(line)
    message = "the quote that opens here is never closed"
    if parts.value != column:
        return Fault(row, column, 1, "E034", message)
    new = line[column : parts.end] + line[column]
    return Fault(row, column, 1, "E034", message, f"write {short((parts.name + ' ' + new).strip())}", Edit(row, column, parts.end, new))


def _unclosed_above(lines: Sequence[str], row: int, column: int) -> Fault | None:
    """Find a quote that was forgotten above: the next one closed it, and the fault shows far from where it is."""
    for above in range(row - 1, max(-1, row - 50), -1):
        if len(lines[above]) > MAX_LINE:
            continue
        parts = entry(lines[above])
        value = lines[above][parts.value : parts.end]
        if value[:1] in ('"', "'") and not _QUOTED.match(value):
            return _unclosed_quote(lines, above, parts.value)
    return None


def _value(line: str, row: int, column: int, in_flow: bool) -> Fault | None:
    """Explain a fault inside the value of a line by what that value starts with or holds."""
    parts = entry(line)
    value = line[parts.value : parts.end]
    if not parts.value <= column < max(parts.end, parts.value + 1) or not value:
        return _key(line, row, column, parts) if column == parts.key else None
    first, edit, width = value[0], None, len(value)
    if in_flow and (first not in "[{" or column > parts.value) and value[:2] not in ("[?", "[*"):
        if column < len(line) and line[column] in "@`%*":
            item = re.compile(r"[^,\[\]{}]*").match(line, column)
            text = item[0].rstrip() if item else ""
            new = quoted(text)
            message = f"a value cannot start with `{line[column]}` without quotes"
            return Fault(row, column, len(text), "E030", message, f"write {short(new)}", Edit(row, column, column + len(text), new))
        if not (first in "[{" and _goes_on(value)):
            return None
    new = quoted(value)
    if first in "[{" and (value[:2] in ("[?", "[*") or _goes_on(value)):
        kind = "a list" if first == "[" else "an object"
        code, message = "E031", f"a value that starts with `{first}` must be in quotes, unless it is {kind}"
    elif first in "@`%*&!|>":
        code, message = "E030", f"a value cannot start with `{first}` without quotes"
    elif first in "\"'":
        whole = _QUOTED.match(value)
        if whole is None or whole.end() == len(value):
            return None
        # 'a[?b=='c']': the outer quotes were meant as such. 'a' == 'b': the whole is the text.
        if value[-1] == first and not value[whole.end()].isspace():
            new = quoted(value[1:-1])
        code, message = "E033", "there is more text after the closing quote"
    elif parts.name and first not in "[{" and re.search(r":(?:\s|$)", value):
        code, message = "E032", "a value that holds `: ` must be in quotes"
    elif first == "-" and value[1:2] == " " and parts.name:
        return Fault(row, parts.value, 1, "E038", "a list starts on a line of its own", f"put `{short(value)}` on the next line")
    else:
        return None
    if parts.name.rstrip(": ") in _EXPRESSIONS and re.fullmatch(r"@\w[\w-]*", value):
        new = quoted(f'"{value}"')
    edit = Edit(row, parts.value, parts.end, new)
    return Fault(row, parts.value, width, code, message, f"write {short((parts.name + ' ' + new).strip())}", edit)


def _goes_on(value: str) -> bool:
    """Tell whether a bracket that opens a value closes before its end."""
    depth = 0
    for number, char in enumerate(value):
        depth += (char in "[{") - (char in "]}")
        if depth == 0:
            return value[number + 1 :].strip("]} ") != ""
    return False


def _key(line: str, row: int, column: int, parts: Entry) -> Fault | None:
    name = parts.name[:-1].rstrip()
    if not name or name[0] not in "@`%*&![{":
        return None
    new = quoted(name)
    message = f"a key cannot start with `{name[0]}` without quotes"
    return Fault(row, column, len(name), "E030", message, f"write {short(new)}:", Edit(row, column, column + len(name), new))


def _structure(lines: Sequence[str], row: int, column: int, opened: tuple[int, int], problem: str) -> Fault | None:
    line = lines[row]
    bracket = lines[opened[0]][opened[1] : opened[1] + 1]
    if problem.startswith("expected ','") and bracket in _CLOSING:
        if "<stream end>" not in problem and row == opened[0]:
            return Fault(row, column, 1, "E035", f"a `,` or `{_CLOSING[bracket]}` is missing before this")
        message, parts = f"the `{bracket}` that opens here is never closed", entry(lines[opened[0]])
        if parts.value != opened[1]:
            return Fault(*opened, 1, "E035", message)
        new = lines[opened[0]][parts.value : parts.end].rstrip(", ") + _CLOSING[bracket]
        edit = Edit(opened[0], parts.value, parts.end, new)
        return Fault(*opened, 1, "E035", message, f"write {short((parts.name + ' ' + new).strip())}", edit)
    if "could not find expected ':'" in problem:
        row, column = opened
        line = lines[row]
        start = entry(line).key
        if re.match(r"-\w", line[start:]):
            text = f"- {line[start + 1 :].rstrip()}"
            edit = Edit(row, start, len(line), text)
            return Fault(row, start, 1, "E037", "a space is missing after the dash", f"write {short(text)}", edit)
        missing = "expected `key: value`; the colon is missing here"
        return _glued(line, row) or Fault(row, column, max(1, len(line[column:].rstrip())), "E039", missing)
    start = entry(line).key
    if "<document start>" in problem:
        if lines[0].startswith("%"):
            return Fault(0, 0, len(lines[0]), "E008", "a line that starts with `%` is not for rule files", "take it out")
        return Fault(row, column, 1, "E008", "the document ended above; a rule file holds one document")
    if line[start : start + 1] == ":":
        return Fault(row, start, 1, "E016", "a key is missing here", "write one before the colon")
    if "not allowed here" in problem or "<block end>" in problem or "<block mapping start>" in problem:
        at = start if start <= column else column
        glued = _glued(lines[row - 1], row - 1) if row else None
        if glued:
            return glued
        if column < len(line) and line[column] in "]},":
            return Fault(row, column, 1, "E035", f"this `{line[column]}` has no opening bracket")
        dash = line.find("-", 0, start) if "- " in line[:start] else at
        at = dash if dash <= column else at
        message = "the indentation of this line does not fit the lines above it"
        return Fault(row, at, max(1, len(line[at:].rstrip())), "E038", message, "indent it as much as the line that it belongs beside")
    return None


def _glued(line: str, row: int) -> Fault | None:
    """Find `key:value` without its space."""
    parts = entry(line)
    text = line[parts.key : max(parts.end, parts.key)]
    match = re.fullmatch(r"([\w-]+):([^\s:/].*)", text)
    if parts.name or match is None:
        return None
    new = f"{match[1]}: {match[2]}"
    edit = Edit(row, parts.key, parts.end, new)
    return Fault(row, parts.key, len(text), "E037", "a space is missing after the colon", f"write {short(new)}", edit)
