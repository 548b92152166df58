"""Where values stand in contents: in the text that a model reads, with nested JSON and Python literals opened and escapes undone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ahocorasick_rs import AhoCorasick

from reducer.codecs.literal import read_literal
from reducer.reading import loads
from reducer.references.values import NUMBER

_LEVELS = 12  # of structure in texts in structure
_LAST = frozenset("]}) \n\r\t\v\f")  # what a text ends with that is structure: a look that spares most texts the others
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\n", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_CHAIN = 8  # values that end in one another: each of them is found at the same place
_LONGEST_NUMBER = 1000  # digits
_LONGEST_FORM = 300  # characters: an automaton has a state for each
_PIECE = 1_000_000  # characters that are looked at in one go


def searched(content: Any) -> str:
    """Give the text of a content in which values are looked for: keys and leaves, one a line; a plain text as it stands, without its escapes."""
    if content is None:
        return ""
    if not isinstance(content, str):
        return "\n".join(_leaves(content if isinstance(content, (dict, list, tuple)) else [content]))
    text = str(content)
    opened = _opened(text)
    if opened is not None:
        return "\n".join(_leaves(opened))
    for _ in range(4):
        plain = _ESCAPE.sub(_unescaped, text) if "\\" in text else text
        if plain == text:
            break
        text = plain
    return text


def _leaves(value: Any) -> list[str]:
    """Give every key and leaf, in no order that means something: without recursion, as contents may be deep."""
    found: list[str] = []
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        holder, level = waiting.pop()
        level += 1
        if isinstance(holder, dict):
            found.extend(map(str, holder))
            holder = holder.values()
        for item in holder:
            if isinstance(item, str):
                opened = _opened(item) if level < _LEVELS and item[-1:] in _LAST else None
                if opened is None:
                    found.append(item)
                else:
                    waiting.append((opened, level))
            elif isinstance(item, (dict, list, tuple)):
                waiting.append((item, level))
            elif item is not None and not isinstance(item, bool):
                found.append(_spelled(item))
    return found


def _spelled(value: Any) -> str:
    try:
        return repr(value) if isinstance(value, float) else str(value)
    except ValueError:  # an integer of more digits than Python writes
        return ""


def _opened(text: str) -> Any:
    """Read a text that as a whole is a JSON or Python list, object or tuple; None for any other."""
    bare = text.strip()
    if len(bare) < 2 or bare[0] not in "[{(" or bare[-1] not in "]})":
        return None
    if bare[0] != "(":
        try:
            return loads(bare)
        except (ValueError, RecursionError):
            pass
    value = read_literal(bare, {})
    return None if value is bare else value


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, match[0])


def spellings(value: str) -> tuple[str, ...]:
    """Give the ways in which a value is written: one, but for numbers, which are written with and without `.0` and commas."""
    if not value.startswith(NUMBER):
        return (value,)
    number = value[len(NUMBER) :]
    whole, _, fraction = number.partition(".")
    forms = {number, number.rstrip("0").rstrip(".") if "." in number else number + ".0"}
    if 3 < len(whole) < _LONGEST_NUMBER and whole.lstrip("-").isdecimal():
        forms.add(f"{int(whole):,}{'.' + fraction if fraction else ''}")
    return tuple(sorted(forms - {""}))


def stands(text: str, start: int, end: int, number: bool) -> bool:
    """Tell whether `text[start:end]` is no piece of a longer word or number."""
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if not number:
        return not (before.isalnum() and text[start].isalnum()) and not (after.isalnum() and text[end - 1].isalnum())
    if before.isalnum() or (before in "._" and start > 1 and text[start - 2].isalnum()):
        return False
    return not after.isalnum() and not (after == "." and text[end + 1 : end + 2].isdigit())


def searcher(values: Iterable[str]) -> Callable[[str], set[str]]:
    """Give the function that tells which of `values` stand in a text, in one pass over it."""
    known: dict[str, list[str]] = {}
    for value in values:
        for form in spellings(value):
            known.setdefault(form, []).append(value)
    chained, single = _chained(known)
    longest = max(map(len, chained), default=0)
    automaton = AhoCorasick([_sound(form) for form in chained])

    def search(text: str) -> set[str]:
        found: set[str] = set()
        if chained:
            sound = _sound(text)
            for begin in range(0, len(text), _PIECE):
                piece = sound[begin : begin + _PIECE + longest] if len(text) > _PIECE else sound
                for index, start, end in automaton.find_matches_as_indexes(piece, overlapping=True):
                    form = chained[index]
                    if not found.issuperset(known[form]):
                        _add(found, known[form], text, begin + start, begin + end)
        for form in single:
            start = text.find(form)
            while start >= 0 and not found.issuperset(known[form]):
                _add(found, known[form], text, start, start + len(form))
                start = text.find(form, start + 1)
        return found

    return search


def _add(found: set[str], values: list[str], text: str, start: int, end: int) -> None:
    found.update(value for value in values if stands(text, start, end, value.startswith(NUMBER)))


def _sound(text: str) -> str:
    # The automaton reads UTF-8, which has no lone surrogates.
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _chained(forms: Iterable[str]) -> tuple[list[str], list[str]]:
    """Part the forms: those of which few end in one another, to be found together, and the rest, to be looked for one by one.

    The automaton gives every form at every place: with `1a`, `a1a`, `1a1a`, … in a text of the same that were too many.
    """
    together: list[str] = []
    alone: list[str] = []
    ends: list[str] = []
    for form in sorted(forms, key=lambda form: form[::-1]):
        while ends and not form.endswith(ends[-1]):
            ends.pop()
        if len(ends) < _CHAIN and len(form) <= _LONGEST_FORM:
            together.append(form)
            ends.append(form)
        else:
            alone.append(form)
    return together, alone


def occurrences(value: str, text: str) -> Iterator[tuple[int, int]]:
    """Give where a value stands in a text: start and end in characters, in order for each spelling."""
    number = value.startswith(NUMBER)
    for form in spellings(value):
        start = text.find(form)
        while start >= 0:
            if stands(text, start, start + len(form), number):
                yield start, start + len(form)
            start = text.find(form, start + 1)
