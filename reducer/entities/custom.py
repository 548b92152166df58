"""Custom types: compile their patterns with google-re2, read their words, and find both.

Both finders read a text as ASCII bytes, one per character with `?` for any other character, so that positions are the
same. RE2 takes linear time for any pattern and any text; words are found with one automaton for each list.
"""

from __future__ import annotations

import importlib
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, AnyStr

from reducer.entities.entity import MAX_CHARS, Entity, is_mentionable, is_separate

_MAX_PATTERN_CHARS = 1000
MAX_WORDS = 200_000
"""Words of one entity type: 200,000 host names take 1.4 s to load, and 120 MB."""
_MAX_BYTES = 20_000_000
"""Bytes of a words file."""
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

# The library moves the states in which words end to the front, in quadratic time if nearly all are such (`host1`,
# `host10`): 80 s for 200,000 words, but 0.2 s after one long word.
_DECOY = b"\x00" * 5000

Find = Callable[[str, bytes], list[Entity]]
"""A function that finds the entities of one type in a text and its ASCII bytes."""


class CustomTypeError(ValueError):
    """A pattern or a list of words that cannot be used: what is wrong and what to do.

    In a pattern, `column` counts from 1, and `width` characters are wrong.
    """

    def __init__(self, message: str, help: str, column: int = 1, width: int = 1) -> None:
        self.message = message
        self.help = help
        self.column = column
        self.width = max(1, width)
        super().__init__(message)


def compile_pattern(kind: str, text: str) -> Find:
    """Compile a pattern of a rule file into a function that finds its matches as entities of the type `kind`.

    Raises `CustomTypeError` if RE2 refuses the pattern or it matches too much.
    """
    size = len(text)
    try:
        re2 = importlib.import_module("re2")
    except ImportError as error:
        message = "patterns need google-re2, which is not installed"
        raise CustomTypeError(message, "pip install 'reducer[patterns]'", width=size) from error
    if size > _MAX_PATTERN_CHARS:
        message = f"the pattern has {size:,} characters; at most {_MAX_PATTERN_CHARS:,} are allowed"
        raise CustomTypeError(message, "put a list of words into `words_file`")
    strange = next((at for at, char in enumerate(text) if char > "\x7f"), None)
    if strange is not None:
        message = f"patterns read ASCII, so `{text[strange]}` never matches"
        raise CustomTypeError(message, "write `.` in its place, or use `words`", strange + 1)
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    # The text has bytes below 128 only: the same matches with half the program.
    options.encoding = re2.Options.Encoding.LATIN1

    def matches_empty(part: str) -> bool | None:
        """Return whether a part of the pattern matches the empty text, None if it is no pattern."""
        try:
            return re2.compile(part.encode(), options).fullmatch(b"") is not None
        except (re2.error, ValueError):
            return None

    try:
        regexp = re2.compile(text.encode(), options)
    except re2.error as error:
        raise _explained(text, error.args[0]) from error
    _check_reach(text, regexp)
    group = _value_group(text, matches_empty)
    if group is not None and not all(map(matches_empty, (text[: group[0]], text[group[1] :]))):
        message = "the value alone must match too: what is around the group must be optional"
        help = f"let it match the start or end of a text: {_OPTIONAL}"
        raise CustomTypeError(message, help, group[0] + 1, group[1] - group[0])

    def find(text: str, data: bytes) -> list[Entity]:
        spans = _spans(regexp, 1 if regexp.groups else 0, text, data)
        return [Entity(kind, text[start:end], text[start:end], start=start, end=end) for start, end in spans]

    return find


def _spans(regexp: Any, group: int, text: str, data: bytes) -> list[tuple[int, int]]:
    """Return start and end of the values that a pattern matches in a text."""
    found: list[tuple[int, int]] = []
    size, at = len(data), 0
    row = 0  # end of the line that is searched again, because a value ends there and `[^.]+` does not
    while at < size:
        stop = min(size, at + _WINDOW, row if at < row else size)
        # A match that starts later may continue behind the window: the next window has all of it.
        last = stop if stop in (size, row) else stop - MAX_CHARS
        for match in regexp.finditer(data, at, stop):
            first, past = match.span()
            if first >= last:
                break
            start, end = _value_span(text, match, group)
            row = text.find("\n", start, end)
            if row >= 0:
                last = first
                break
            at = max(past, first + 1)
            value = text[start:end]
            # A marker that mentions a value can be read only if the value alone matches as a whole.
            if is_separate(text, start, end) and is_mentionable(value):
                alone = regexp.search(value.encode("ascii", "replace"))
                if alone is not None and _value_span(value, alone, group) == (0, len(value)):
                    found.append((start, end))
        at = max(at, last)
    return found


def _value_span(text: str, match: Any, group: int) -> tuple[int, int]:
    """Return start and end of the group, or of a match without it, without the white space at its ends."""
    start, end = match.span(group)
    if start < 0:
        start, end = match.span()
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _check_reach(text: str, regexp: Any) -> None:
    """Raise `CustomTypeError` for a pattern that matches the empty text, or nearly all of ordinary prose."""
    spans = [match.span() for match in regexp.finditer(_PROSE.encode())]
    if regexp.search(b"") is not None or any(start == end for start, end in spans):
        help = "use `+` for `*`, or add how the entity starts"
        raise CustomTypeError("this pattern matches the empty text", help, width=len(text))
    letters = sum(map(str.isalnum, _PROSE))
    reached = sum(map(str.isalnum, "".join(_PROSE[start:end] for start, end in spans)))
    if reached > _MAX_SHARE * letters:
        message = f"this pattern matches everything: {100 * reached // letters}% of the letters of ordinary prose"
        help = "add what distinguishes the entity from other text, such as a prefix: `INC-\\d{6}`"
        raise CustomTypeError(message, help, width=len(text))


def _explained(text: str, refusal: bytes | str) -> CustomTypeError:
    """Return RE2's error at the part of the pattern that its message names."""
    message = refusal.decode("utf-8", "replace") if isinstance(refusal, bytes) else str(refusal)
    reason, _, part = message.partition(": ")
    if part == "(?P":
        part = "(?P="
    at = text.find(part) if part and part != text else -1
    column, width = (1, len(text)) if at < 0 else (at + 1, len(part))
    if part in ("(?<=", "(?<!", "(?=", "(?!"):
        help = f"match what is around the value, and put the value in a group: {_OPTIONAL}"
        return CustomTypeError(f"RE2 has no look-{'behind' if '<' in part else 'ahead'}: `{part}`", help, column, width)
    if part == "(?P=" or re.fullmatch(r"\\[1-9k]", part):
        return CustomTypeError("RE2 has no back-references", "write out what the group matches", column, width)
    return CustomTypeError(f"RE2 refuses this pattern: {reason}", "", column, width)


def _value_group(text: str, matches_empty: Callable[[str], bool | None]) -> tuple[int, int] | None:
    """Return start and end of the first group, unless it is in another group or repeated."""
    for start in (match.start() for match in re.finditer(r"\((?!\?(?!P?<))", text)):
        if matches_empty(text[:start]) is not None:
            ends = (start + match.end() for match in re.finditer(r"\)", text[start:]))
            end = next((end for end in ends if matches_empty(text[start:end]) is not None), None)
            return None if end is None or matches_empty(text[end:]) is None else (start, end)
    return None


def word_error(word: str) -> str:
    """Return why a word cannot be an entity, empty if it can."""
    if len(word) < 2:
        return "a word needs at least two characters"
    if len(word) > MAX_CHARS:
        return f"the word has {len(word):,} characters; at most {MAX_CHARS} are allowed"
    if ", " in word:
        return "a word cannot contain `, `, which separates the values in a marker"
    if is_mentionable(word) and word.isprintable():
        return ""
    return "a word cannot contain line breaks, control characters, `…[` or many brackets, or start or end with a space"


def read_words(path: Path) -> tuple[str, ...]:
    """Return the words of a file: UTF-8, one per line, without blank lines and lines that start with `#`.

    Raises `CustomTypeError`.
    """
    name = path.name or str(path)
    limit = f"at most {MAX_WORDS:,} words are allowed"
    if not path.is_file():
        raise CustomTypeError(f"`{name}` is {'a folder' if path.is_dir() else 'not a file'}", f"the path is {path}")
    if path.stat().st_size > _MAX_BYTES:
        raise CustomTypeError(f"`{name}` has more than {_MAX_BYTES // 1_000_000} MB", limit)
    try:
        lines = path.read_bytes().removeprefix(BOM_UTF8).split(b"\n")
    except OSError as error:
        raise CustomTypeError(f"`{name}` cannot be read: {error.strerror}", f"the path is {path}") from error
    if len(lines) > 2 * MAX_WORDS:
        raise CustomTypeError(f"`{name}` has {len(lines):,} lines", limit)
    words: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        try:
            word = line.decode().strip()
        except UnicodeDecodeError as error:
            message = f"`{name}` line {number}: the byte 0x{line[error.start]:02x} is not UTF-8 text"
            raise CustomTypeError(message, "save the file as UTF-8") from error
        if word and not word.startswith("#"):
            if wrong := word_error(word):
                raise CustomTypeError(f"`{name}` line {number}: {wrong}", "remove the line, or put `#` before it")
            words[word] = None
    if not words:
        raise CustomTypeError(f"`{name}` contains no words", "write one word or phrase on each line")
    if len(words) > MAX_WORDS:
        raise CustomTypeError(f"`{name}` has {len(words):,} words", limit)
    return tuple(words)


def word_finder(kind: str, words: Sequence[str], case_sensitive: bool) -> Find:
    """Return a function that finds `words` as entities of the type `kind`, in any case unless `case_sensitive`.

    The canonical value is the word as it is in the list.
    """
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    def spelled(text: AnyStr) -> AnyStr:
        return text if case_sensitive else text.lower()

    table: dict[bytes, dict[str, str]] = {}
    for word in words:
        table.setdefault(spelled(word.encode("ascii", "replace")), {}).setdefault(spelled(word), word)
    automaton = BytesAhoCorasick([_DECOY, *table], implementation=Implementation.ContiguousNFA)
    entries = [{}, *table.values()]

    def find(text: str, data: bytes) -> list[Entity]:
        found: list[Entity] = []
        for index, start, end in automaton.find_matches_as_indexes(spelled(data), overlapping=True):
            value = text[start:end]
            word = entries[index].get(spelled(value))
            around = text[start - 1 : start] + text[end : end + 1]
            if word is not None and "_" not in around and is_separate(text, start, end):
                found.append(Entity(kind, value, word, start=start, end=end))
        return found

    return find
