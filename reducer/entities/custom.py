"""Find entities of custom types: patterns, compiled with google-re2, and lists of words.

The finders read a text as ASCII bytes with `?` for any other character, so that positions are the same. RE2 takes
linear time for any pattern and any text. One automaton finds all words of a list.
"""

from __future__ import annotations

import importlib
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, AnyStr

from reducer.entities.entity import MAX_CHARS, Unfolded, is_mentionable, is_separate
from reducer.files import read_file

_MAX_PATTERN_CHARS = 1000
MAX_WORDS = 200_000
"""Words of one entity type: 200,000 host names take 1.4 s and 120 MB to load."""
_MAX_FILE_BYTES = 20_000_000
_RE2_CACHE_BYTES = 8 << 20  # for one pattern; beyond this limit, RE2 continues without its cache
_WINDOW = 1024
"""Characters that one search can read, which bounds the time of all searches of a text to 4 s per MB.

Without a window, they take quadratic time for some patterns, such as `x.*y|x`.
"""

_SENTENCE = b"It was the page"
_OPTIONAL = "`(?:^|before)(?P<value>...)(?:after|$)`"
_NAMED, _UNNAMED = re.compile(r"\(\?P?<value>"), re.compile(r"\((?!\?)")

# The library moves the states in which words end to the front. If nearly all states are like that (`host1`, `host10`),
# this takes quadratic time: 80 s for 200,000 words, but 0.2 s after one long word.
_DECOY = b"\x00" * 5000

Find = Callable[[str, bytes], list[Unfolded]]
"""A function that finds the matches of one type in a text and its ASCII bytes."""


class CustomTypeError(ValueError):
    """A pattern or a list of words that cannot be used, with the cause and a fix.

    In a pattern, the error is at `column`, counted from 1, and is `width` characters long.
    """

    def __init__(self, message: str, advice: str, column: int = 1, width: int = 1) -> None:
        self.message = message
        self.help = advice
        self.column = column
        self.width = max(1, width)
        super().__init__(message)


def compile_pattern(kind: str, text: str) -> Find:
    """Compile a pattern of a rule file into a function that returns its matches as entities of the type `kind`.

    A value is the whole match, or what the group with the name `value` matches.

    Raises `CustomTypeError` if RE2 refuses the pattern, or if the pattern matches too much.
    """
    if len(text) > _MAX_PATTERN_CHARS:
        message = f"the pattern has {len(text):,} characters; at most {_MAX_PATTERN_CHARS:,} are allowed"
        raise CustomTypeError(message, "put a list of words into `words_file`")
    if not_ascii := re.search(r"[^\x00-\x7f]", text):
        message = f"patterns read ASCII, so `{not_ascii[0]}` never matches"
        raise CustomTypeError(message, "write `.` in its place, or use `words`", not_ascii.start() + 1)
    re2 = importlib.import_module("re2")
    try:
        regexp = re2.compile(text.encode(), _options())
    except re2.error as error:
        raise _explained(text, error.args[0]) from error
    _check_is_specific(text, regexp)
    group = regexp.groupindex.get(b"value", 0)
    if group:
        _check_group(text)

    def find(text: str, data: bytes) -> list[Unfolded]:
        return [(start, end, kind, "") for start, end in _spans(regexp, group, text, data)]

    return find


def _options() -> Any:
    """Return the options of RE2 for patterns."""
    options = importlib.import_module("re2").Options()
    options.log_errors = False
    options.max_mem = _RE2_CACHE_BYTES
    # ASCII has the same matches in both encodings, but the program for Latin-1 is half as large.
    options.encoding = options.Encoding.LATIN1
    return options


def _matches_empty(part: str) -> bool | None:
    """Return whether a part of a pattern matches the empty text, or None if it is not a pattern."""
    re2 = importlib.import_module("re2")
    try:
        return re2.compile(part.encode(), _options()).fullmatch(b"") is not None
    except (re2.error, ValueError):
        return None


def _spans(regexp: Any, group: int, text: str, data: bytes) -> list[tuple[int, int]]:
    """Return start and end of the values that a pattern matches in a text."""
    found: list[tuple[int, int]] = []
    size, at = len(data), 0
    line_end = 0  # of a line that is searched again alone, because a value that contains a line break is not an entity
    while at < size:
        stop = min(size, at + _WINDOW, line_end if at < line_end else size)
        # A match that starts later may continue after the window. The next window contains all of it.
        last = stop if stop in (size, line_end) else stop - MAX_CHARS
        for match in regexp.finditer(data, at, stop):
            first, past = match.span()
            if first >= last:
                break
            start, end = _value_span(text, match, group)
            line_end = text.find("\n", start, end)
            if line_end >= 0:
                last = first
                break
            at = max(past, first + 1)
            value = text[start:end]
            # A marker can be read only if each value that it mentions matches alone.
            if is_separate(text, start, end) and is_mentionable(value):
                alone = regexp.search(value.encode("ascii", "replace"))
                if alone is not None and _value_span(value, alone, group) == (0, len(value)):
                    found.append((start, end))
        at = max(at, last)
    return found


def _value_span(text: str, match: Any, group: int) -> tuple[int, int]:
    """Return start and end of the group, or of the match if the group is empty, without white space at the ends."""
    start, end = match.span(group)
    if start < 0:
        start, end = match.span()
    value = text[start:end].rstrip()
    return start + len(value) - len(value.lstrip()), start + len(value)


def _check_is_specific(text: str, regexp: Any) -> None:
    """Raise `CustomTypeError` if a pattern matches the empty text, or a word such as `the`."""
    for match in regexp.finditer(_SENTENCE):
        if b"the" in match[0]:
            advice = "add what distinguishes the entity from other text, such as a prefix: `INC-\\d{6}`"
            raise CustomTypeError("this pattern matches ordinary words", advice, width=len(text))
        if not match[0]:
            advice = "use `+` for `*`, or add how the entity starts"
            raise CustomTypeError("this pattern matches the empty text", advice, width=len(text))


def _explained(text: str, error: bytes | str) -> CustomTypeError:
    """Return RE2's error, located at the part of the pattern that it quotes."""
    message = error.decode("utf-8", "replace") if isinstance(error, bytes) else str(error)
    reason, _, part = message.partition(": ")
    advice = ""
    if part in ("(?<=", "(?<!", "(?=", "(?!"):
        reason = f"RE2 has no look-{'behind' if '<' in part else 'ahead'}: `{part}`"
        advice = f"match the text around the value, and put the value in a group: {_OPTIONAL}"
    elif part == "(?P" or re.fullmatch(r"\\[1-9k]", part):
        reason = "RE2 has no back-references"
        advice = "write out what the group matches"
    else:
        reason = f"RE2 refuses this pattern: {reason}"
    return CustomTypeError(reason, advice, max(0, text.find(part)) + 1, len(part))


def _check_group(text: str) -> None:
    """Raise `CustomTypeError` if the group `value` is nested or repeated, or if something around it is not optional."""
    opening = _NAMED.search(text)
    end, is_optional = _group_at(text, opening.start()) if opening else (0, False)
    if opening is None or not end:
        message = "the group of the value must not be repeated, or inside another group"
        raise CustomTypeError(message, f"write one pattern for each kind of value: {_OPTIONAL}", width=len(text))
    if not is_optional:
        message = "the value alone must match too: everything around the group must be optional"
        advice = f"let it match the start or end of a text: {_OPTIONAL}"
        raise CustomTypeError(message, advice, opening.start() + 1, end - opening.start())


def _group_at(text: str, start: int) -> tuple[int, bool]:
    """Return the end of the group that starts at `start`, and whether everything around it is optional.

    The end is 0 if the group is nested or repeated.
    """
    before = _matches_empty(text[:start])
    for closing in re.compile(r"\)").finditer(text, start):
        end = closing.end()
        if before is not None and _matches_empty(text[start:end]) is not None:
            after = _matches_empty(text[end:])
            return (0, False) if after is None else (end, before and after)
    return 0, False


def unnamed_value(text: str) -> tuple[int, int] | None:
    """Return start and end of the first group of a valid pattern if it seems to be the value but has no name."""
    opening = _UNNAMED.search(text)
    if opening is None or _NAMED.search(text):
        return None
    end, is_optional = _group_at(text, opening.start())
    is_all = (opening.start(), end) == (0, len(text))
    return (opening.start(), end) if is_optional and not is_all else None


def word_error(word: str) -> str:
    """Return the reason why a word cannot be an entity, or "" if it can."""
    if len(word) < 2:
        return "a word needs at least two characters"
    if len(word) > MAX_CHARS:
        return f"the word has {len(word):,} characters; at most {MAX_CHARS} are allowed"
    if ", " in word:
        return "a word cannot contain `, `, which separates the values in a marker"
    if is_mentionable(word) and word.isprintable():
        return ""
    reason = "line breaks, control characters, `…[` or many brackets, or start or end with a space"
    return f"a word cannot contain {reason}"


def read_words(path: Path) -> tuple[str, ...]:
    """Return the words of a UTF-8 file with one word per line. Blank lines and lines that start with `#` are ignored.

    Raises `CustomTypeError`.
    """
    name = path.name or str(path)
    try:
        lines = read_file(path, _MAX_FILE_BYTES).removeprefix(BOM_UTF8).splitlines()
    except OSError as error:
        raise CustomTypeError(f"`{name}` cannot be read: {error.strerror}", f"the path is {path}") from error
    if len(lines) > MAX_WORDS:
        raise CustomTypeError(f"`{name}` has {len(lines):,} lines", f"at most {MAX_WORDS:,} words are allowed")
    words: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        try:
            word = line.decode().strip()
        except UnicodeDecodeError as error:
            message = f"`{name}` line {number}: the byte 0x{line[error.start]:02x} is not UTF-8 text"
            raise CustomTypeError(message, "save the file as UTF-8") from error
        if not word or word.startswith("#"):
            continue
        if reason := word_error(word):
            raise CustomTypeError(f"`{name}` line {number}: {reason}", "remove the line, or put `#` before it")
        words[word] = None
    if not words:
        raise CustomTypeError(f"`{name}` contains no words", "write one word or phrase on each line")
    return tuple(words)


def word_finder(kind: str, words: Sequence[str], case_sensitive: bool) -> Find:
    """Return a function that returns `words` as entities of the type `kind`, in any case unless `case_sensitive`.

    The canonical value is the word as written in the list.
    """
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    def folded(text: AnyStr) -> AnyStr:
        return text if case_sensitive else text.lower()

    table: dict[bytes, dict[str, str]] = {}
    for word in words:
        table.setdefault(folded(word.encode("ascii", "replace")), {}).setdefault(folded(word), word)
    automaton = BytesAhoCorasick([_DECOY, *table], implementation=Implementation.ContiguousNFA)
    entries = [{}, *table.values()]

    def find(text: str, data: bytes) -> list[Unfolded]:
        found: list[Unfolded] = []
        for index, start, end in automaton.find_matches_as_indexes(folded(data), overlapping=True):
            value = text[start:end]
            word = entries[index].get(folded(value))
            neighbours = text[start - 1 : start] + text[end : end + 1]
            if word is not None and "_" not in neighbours and is_separate(text, start, end):
                found.append((start, end, kind, word))
        return found

    return find
