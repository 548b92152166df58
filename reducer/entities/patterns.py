"""Custom patterns: compile them with google-re2, explain what it refuses, and find their matches.

RE2 takes linear time for any pattern and any text. It reads a text as ASCII bytes, one per character with `?` for any
other character, so that positions are the same.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from reducer.entities.entity import MAX_CHARS, Entity, is_mentionable, is_separate

MAX_PATTERN_CHARS = 1000
_MEMORY = 8 << 20
"""Bytes that RE2 may use for one pattern. Beyond them it continues without its cache."""
_WINDOW = 1024
"""Characters that one search sees. A search is linear, but all searches of a text together are not (`x.*y|x`).

With the window they are, at 4 s per MB at worst.
"""

_PROSE = """\
The group was first seen last spring, when it sent mails with a link to a page that looked like the sign-in of a bank.
Analysts found the sample on two hosts at 10:42 and again at night; nothing else had been changed there.
Name of the file, size in bytes, owner, and the time it was last written: see the table below."""
_MAX_SHARE = 0.9
"""The share of the letters of ordinary prose from which a pattern is refused."""
_OPTIONAL = "`(?:^|before)(value)(?:after|$)`"
_LOOKS = {"(?<=": "look-behind", "(?<!": "look-behind", "(?=": "look-ahead", "(?!": "look-ahead"}


class PatternError(ValueError):
    """A pattern that cannot be used: `column` counts from 1, `width` in characters."""

    def __init__(self, message: str, column: int, width: int, help: str) -> None:
        self.message = message
        self.column = column
        self.width = max(1, width)
        self.help = help
        super().__init__(message)


class Pattern(NamedTuple):
    """A compiled pattern: its text, RE2's object, and the number of the group that is the value."""

    text: str
    regexp: Any
    group: int


def compile_pattern(text: str) -> Pattern:
    """Compile a pattern of a rule file. Raises `PatternError` if RE2 refuses it or it matches too much."""
    size = len(text)
    try:
        re2 = importlib.import_module("re2")
    except ImportError as error:
        message = "patterns need google-re2, which is not installed"
        raise PatternError(message, 1, size, "pip install 'reducer[patterns]'") from error
    if size > MAX_PATTERN_CHARS:
        message = f"the pattern has {size:,} characters; at most {MAX_PATTERN_CHARS:,} are allowed"
        raise PatternError(message, 1, 1, "put a list of words into `words_file`")
    strange = next((at for at, char in enumerate(text) if char > "\x7f"), None)
    if strange is not None:
        message = f"patterns read ASCII, so `{text[strange]}` never matches"
        raise PatternError(message, strange + 1, 1, "write `.` in its place, or use `words`")
    try:
        regexp = re2.compile(text.encode(), _options(re2))
    except re2.error as error:
        raise _explained(text, error.args[0]) from error
    _check_reach(text, regexp)
    group = _value_group(text, partial(_matches_empty, re2))
    if group is not None and not all(_matches_empty(re2, part) for part in (text[: group[0]], text[group[1] :])):
        message = "the value alone must match too: what is around the group must be optional"
        help = f"let it match the start or end of a text: {_OPTIONAL}"
        raise PatternError(message, group[0] + 1, group[1] - group[0], help)
    return Pattern(text, regexp, 1 if regexp.groups else 0)


def _options(re2: Any) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    # The text has bytes below 128 only: the same matches with half the program.
    options.encoding = re2.Options.Encoding.LATIN1
    return options


def finder(patterns: Sequence[tuple[str, Pattern]]) -> Callable[[str, bytes], list[Entity]]:
    """Return a function that finds the matches of `patterns`, each with its type, in a text and its ASCII bytes."""

    def find(text: str, data: bytes) -> list[Entity]:
        return [
            Entity(kind, text[start:end], text[start:end], start=start, end=end)
            for kind, pattern in patterns
            for start, end in _spans(pattern, text, data)
        ]

    return find


def _spans(pattern: Pattern, text: str, data: bytes) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    finditer, group, size, at = pattern.regexp.finditer, pattern.group, len(data), 0
    row = 0  # end of the line that is searched again, because a value ends there and `[^.]+` does not
    while at < size:
        stop = min(size, at + _WINDOW, row if at < row else size)
        # A match that starts later may continue behind the window: the next window has all of it.
        last = stop if stop in (size, row) else stop - MAX_CHARS
        for match in finditer(data, at, stop):
            start, end = match.span(group)
            first, past = match.span() if group else (start, end)
            if first >= last:
                break
            start, end = _stripped(text, *((start, end) if start >= 0 else (first, past)))
            row = text.find("\n", start, end)
            if row >= 0:
                last = first
                break
            at = max(past, first + 1)
            value = text[start:end]
            if is_separate(text, start, end) and is_mentionable(value) and _matches_alone(pattern, value):
                found.append((start, end))
        at = max(at, last)
    return found


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _matches_alone(pattern: Pattern, value: str) -> bool:
    """Return whether a value alone matches as a whole: only then can a marker that mentions it be read."""
    match = pattern.regexp.search(value.encode("ascii", "replace"))
    if match is None:
        return False
    start, end = match.span(pattern.group)
    return _stripped(value, *((start, end) if start >= 0 else match.span())) == (0, len(value))


def _check_reach(text: str, regexp: Any) -> None:
    """Raise `PatternError` for a pattern that matches the empty text, or nearly all of ordinary prose."""
    spans = [match.span() for match in regexp.finditer(_PROSE.encode())]
    if regexp.search(b"") is not None or any(start == end for start, end in spans):
        help = "use `+` for `*`, or add how the entity starts"
        raise PatternError("this pattern matches the empty text", 1, len(text), help)
    letters = sum(map(str.isalnum, _PROSE))
    reached = sum(map(str.isalnum, "".join(_PROSE[start:end] for start, end in spans)))
    if reached > _MAX_SHARE * letters:
        message = f"this pattern matches everything: {100 * reached // letters}% of the letters of ordinary prose"
        help = "add what distinguishes the entity from other text, such as a prefix: `INC-\\d{6}`"
        raise PatternError(message, 1, len(text), help)


def _explained(text: str, refusal: bytes | str) -> PatternError:
    """Return RE2's error at the part of the pattern that its message names."""
    message = refusal.decode("utf-8", "replace") if isinstance(refusal, bytes) else str(refusal)
    reason, _, part = message.partition(": ")
    if part == "(?P":
        part = "(?P="
    at = text.find(part) if part and part != text else -1
    column, width = (1, len(text)) if at < 0 else (at + 1, len(part))
    if part in _LOOKS:
        help = f"match what is around the value, and put the value in a group: {_OPTIONAL}"
        return PatternError(f"RE2 has no {_LOOKS[part]}: `{part}`", column, width, help)
    if part == "(?P=" or re.fullmatch(r"\\[1-9k]", part):
        return PatternError("RE2 has no back-references", column, width, "write out what the group matches")
    return PatternError(f"RE2 refuses this pattern: {reason}", column, width, "")


def _value_group(text: str, matches_empty: Callable[[str], bool | None]) -> tuple[int, int] | None:
    """Return start and end of the first group, unless it is in another group or repeated."""
    for start in (match.start() for match in re.finditer(r"\((?!\?(?!P?<))", text)):
        if matches_empty(text[:start]) is not None:
            ends = (start + match.end() for match in re.finditer(r"\)", text[start:]))
            end = next((end for end in ends if matches_empty(text[start:end]) is not None), None)
            return None if end is None or matches_empty(text[end:]) is None else (start, end)
    return None


def _matches_empty(re2: Any, part: str) -> bool | None:
    """Return whether a part of a pattern matches the empty text, None if it is no pattern."""
    try:
        return re2.compile(part.encode(), _options(re2)).fullmatch(b"") is not None
    except (re2.error, ValueError):
        return None
