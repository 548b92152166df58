"""Find what own patterns match, with google-re2 alone: its time is linear in the text, whatever the pattern and the text are.

It reads the text as ASCII bytes, one a character (`text.encode("ascii", "replace")`), so that places agree; what is not ASCII reads as `?`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from reducer.entities.edges import LONGEST, free, sound
from reducer.entities.entity import Entity
from reducer.entities.syntax import PatternError, alone, first_group, refused

MAX_CHARS = 1000
"""Characters of a pattern."""
_MEMORY = 8 << 20
"""Bytes that RE2 may use for one pattern; past them it goes on without its cache."""
_GATE_MEMORY = 64 << 20
_WINDOW = 1024
"""Characters that one search sees. Each search is linear, but all searches of a text together are not (`x.*y|x`): so they are, at 4 s a MB at worst."""
_SENTINEL = b"\x00reducer\x00"

_PROSE = (
    "The group was first seen last spring, when it sent mails with a link to a page that looked like the sign-in of a bank.",
    "Analysts found the sample on two hosts at 10:42 and again at night; nothing else had been changed there.",
    "Name of the file, size in bytes, owner, and the time it was last written: see the table below.",
)
_EVERYTHING = 0.9
"""Share of the letters of ordinary prose that a pattern may not reach."""


class Pattern(NamedTuple):
    """A compiled pattern: its text, what RE2 made of it, and the number of the group that is the value."""

    text: str
    regexp: Any
    group: int


def compile_pattern(text: str) -> Pattern:
    """Compile a pattern of a rule file; raise `PatternError` with the column for what RE2 refuses, and for what cannot be meant."""
    whole = len(text)
    try:
        re2 = importlib.import_module("re2")
    except ImportError as error:
        raise PatternError("patterns need google-re2, which is not installed", 1, whole, "pip install 'reducer[patterns]'") from error
    if whole > MAX_CHARS:
        raise PatternError(f"a pattern of {whole:,} characters; at most {MAX_CHARS:,} are read", 1, 1, "a list of words belongs into `words_file`")

    def make(source: str) -> Any:
        return re2.compile(source.encode(), _options(re2, _MEMORY))

    def compiles(source: str) -> bool:
        try:
            make(source)
        except (re2.error, ValueError):
            return False
        return True

    wrong = refused(text, compiles)
    if wrong is not None:
        raise wrong
    try:
        regexp = make(text)
    except re2.error as error:
        raise _explained(text, error.args[0]) from error
    _checked_reach(text, regexp)
    group = first_group(text)
    if group is not None:
        better = alone(text, group, lambda part: compiles(part) and make(part).fullmatch(b"") is None)
        if better is not None:
            message = "the value alone would not match: what stands around the group must be able to be missing"
            help = f"write `{better}`" if compiles(better) else "let it match the start or end of a text too: `(?:^|before)(value)(?:after|$)`"
            raise PatternError(message, group[0] + 1, group[1] - group[0], help)
    return Pattern(text, regexp, 1 if regexp.groups else 0)


def finder(patterns: Sequence[tuple[str, Pattern]]) -> Callable[[str, bytes], list[Entity]]:
    """Give the function that finds what `patterns`, each with its type, match in a text and its ASCII bytes."""
    gate = _gate([pattern.text for _, pattern in patterns])
    every = range(len(patterns))

    def find(text: str, data: bytes) -> list[Entity]:
        found: list[Entity] = []
        for index in every if gate is None else sorted(gate.Match(data) or ()):
            if index < len(patterns):
                kind, pattern = patterns[index]
                found += [Entity(kind, text[start:end], text[start:end], start, end) for start, end in _places(pattern, text, data)]
        return found

    return find


def _options(re2: Any, memory: int) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory
    # The text is bytes below 128: the same matches, half the program.
    options.encoding = re2.Options.Encoding.LATIN1
    return options


def _gate(texts: Sequence[str]) -> Any:
    """Give the set that tells in one pass which patterns match, None where it does not pay or RE2 has not the memory for it."""
    if len(texts) < 2:
        return None
    re2 = importlib.import_module("re2")
    gate = re2.Set.SearchSet(_options(re2, _GATE_MEMORY))
    try:
        for text in texts:
            gate.Add(text.encode())
        gate.Add(_SENTINEL)
        gate.Compile()
    except (re2.error, ValueError):
        return None
    # A set without memory says nothing and matches nothing, so it is asked for what must match.
    return gate if len(texts) in (gate.Match(_SENTINEL) or ()) else None


def _places(pattern: Pattern, text: str, data: bytes) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    finditer, group, size, at = pattern.regexp.finditer, pattern.group, len(data), 0
    whole: dict[str, bool] = {}
    row = 0  # end of the line that is read again, as a value ends there and `[^.]+` does not
    while at < size:
        stop = min(size, at + _WINDOW, row if at < row else size)
        # A match that starts later may go on behind the window: the next one sees all of it.
        last = stop if stop in (size, row) else stop - LONGEST
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
            if free(text, start, end):
                value = text[start:end]
                reads = whole.get(value)
                if reads is None:
                    reads = whole[value] = sound(value) and _reads(pattern, value)
                if reads:
                    found.append((start, end))
        at = max(at, last)
    return found


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _reads(pattern: Pattern, value: str) -> bool:
    """Tell whether a value alone reads as itself: only then can a mark that mentions it be read back."""
    match = pattern.regexp.search(value.encode("ascii", "replace"))
    if match is None:
        return False
    start, end = match.span(pattern.group)
    return _stripped(value, *((start, end) if start >= 0 else match.span())) == (0, len(value))


def _checked_reach(text: str, regexp: Any) -> None:
    """Raise `PatternError` for a pattern that matches the empty text, or all of ordinary prose."""
    whole = len(text)
    if regexp.search(b"") is not None or any(match.start() == match.end() for probe in _PROSE for match in regexp.finditer(probe.encode())):
        raise PatternError("this pattern matches the empty text", 1, whole, "an entity has characters: use `+` for `*`, or say what it begins with")
    letters = reached = 0
    for probe in _PROSE:
        data = probe.encode()
        covered = {place for match in regexp.finditer(data) for place in range(*match.span(1 if regexp.groups and match.span(1)[0] >= 0 else 0))}
        letters += sum(map(str.isalnum, probe))
        reached += sum(1 for place in covered if probe[place].isalnum())
    if reached > _EVERYTHING * letters:
        share = f"{100 * reached // letters}% of the letters of ordinary prose"
        raise PatternError(f"this pattern matches everything: {share}", 1, whole, "say what tells the entity from other text, such as a prefix: `INC-\\d{6}`")


def _explained(text: str, said: bytes | str) -> PatternError:
    """Put RE2's own message where the piece that it names stands."""
    message = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    reason, _, piece = message.partition(": ")
    at = text.find(piece) if piece else -1
    if at < 0 or piece == text:
        return PatternError(f"RE2 refuses this pattern: {reason}", 1, len(text), "")
    return PatternError(f"RE2 refuses this pattern: {reason}", at + 1, len(piece), "")
