"""Search for values in contents. Nested JSON and Python literals are parsed, and escapes are resolved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from ahocorasick_rs import AhoCorasick

from reducer.formats import plain
from reducer.formats.literal import read_literal
from reducer.references.values import NUMBER, number_text, parsed_json
from reducer.values import leaves

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\n", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_MAX_SUFFIXES = 8  # of a form that are forms: the automaton finds all of them at the same position
_MAX_DIGITS = 1000
_MAX_FORM_CHARS = 300  # the automaton has a state for each character
_PIECE_CHARS = 1_000_000  # of a text that the automaton searches at once


def searched(content: Any) -> str:
    """Return the text to search for values: keys and leaves, one per line, or a plain text without escapes."""
    parsed = _parsed(content) if isinstance(content, str) else content
    if parsed is not None or not content:
        found = (leaf for leaf in leaves(parsed, _opened) if leaf is not None and not isinstance(leaf, bool))
        return "\n".join(map(number_text, found))
    text = str(content)
    for _ in range(4 if "\\" in text else 0):
        text = _ESCAPE.sub(_unescaped, text)
    return text


def _opened(value: Any) -> Any:
    """Return what a text encodes as JSON or as a literal, or any other value unchanged."""
    parsed = _parsed(value) if isinstance(value, str) else None
    return value if parsed is None else parsed


def _parsed(text: str) -> Any:
    """Return the value that a text encodes as JSON or as a Python literal, or None for any other text."""
    bare = text.strip()
    value = parsed_json(bare)
    if value is None and bare[:1] in ("[", "{", "("):
        value = plain(found[0]) if (found := read_literal(bare)) else None
    return value


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, match[0])


def _forms(value: str) -> tuple[str, ...]:
    """Return the ways to write a value. A number may have commas, and zeros after the point."""
    if not value.startswith(NUMBER):
        return (value,)
    number = value[len(NUMBER) :]
    whole, _, fraction = number.partition(".")
    forms = {number, number.rstrip("0").rstrip(".") if "." in number else number + ".0"}
    if 3 < len(whole) < _MAX_DIGITS and whole.lstrip("-").isdecimal():
        forms.add(f"{int(whole):,}{'.' + fraction if fraction else ''}")
    return tuple(sorted(forms - {""}))


def _is_bounded(text: str, start: int, end: int, value: str) -> bool:
    """Return whether `text[start:end]`, which is a form of `value`, is not part of a longer word or number."""
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if not value.startswith(NUMBER):
        return not (before.isalnum() and text[start].isalnum()) and not (after.isalnum() and text[end - 1].isalnum())
    if before.isalnum() or (before in "._" and start > 1 and text[start - 2].isalnum()):
        return False
    return not after.isalnum() and not (after == "." and text[end + 1 : end + 2].isdigit())


def searcher(values: Iterable[str]) -> Callable[[str], set[str]]:
    """Return a function that returns the `values` that occur in a text. It reads the text once."""
    by_form: dict[str, list[str]] = {}
    for value in values:
        for form in _forms(value):
            by_form.setdefault(form, []).append(value)
    together, alone = _split(by_form)
    longest = max(map(len, together), default=0)
    automaton = AhoCorasick(list(map(_encodable, together)))

    def search(text: str) -> set[str]:
        found: set[str] = set()
        encodable = _encodable(text) if together else ""
        for begin in range(0, len(encodable), _PIECE_CHARS):
            piece = encodable[begin : begin + _PIECE_CHARS + longest]
            for index, start, end in automaton.find_matches_as_indexes(piece, overlapping=True):
                candidates = by_form[together[index]]
                if not found.issuperset(candidates):
                    found.update(each for each in candidates if _is_bounded(text, begin + start, begin + end, each))
        for value in chain.from_iterable(map(by_form.__getitem__, alone)):
            if any(occurrences(value, text)):
                found.add(value)
        return found

    return search


def _encodable(text: str) -> str:
    """Return a text without lone surrogates, because the automaton reads UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _split(forms: Iterable[str]) -> tuple[list[str], list[str]]:
    """Split forms into those that the automaton finds together, and those to search for one by one.

    The automaton returns every form that ends at a position. Many forms that end in one another (`1a`, `a1a`, `1a1a`)
    would take quadratic time.
    """
    together: list[str] = []
    alone: list[str] = []
    ends: list[str] = []
    for form in sorted(forms, key=lambda form: form[::-1]):
        while ends and not form.endswith(ends[-1]):
            ends.pop()
        if len(ends) < _MAX_SUFFIXES and len(form) <= _MAX_FORM_CHARS:
            together.append(form)
            ends.append(form)
        else:
            alone.append(form)
    return together, alone


def occurrences(value: str, text: str) -> Iterator[tuple[int, int]]:
    """Return start and end of each occurrence of a value in a text, in order for each form of the value."""
    for form in _forms(value):
        start = text.find(form)
        while start >= 0:
            if _is_bounded(text, start, start + len(form), value):
                yield start, start + len(form)
            start = text.find(form, start + 1)
