"""What conditions compare the values of a return with, and what was meant by a comparison that never holds.

A comparison is wrong if it holds for no value, although it would do so in another type, or in upper or lower case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from reducer.analysis.texts import listed
from reducer.errors import is_typo, shortened
from reducer.paths import Expression, PathError, compile_expression

_KEY = r'(?:lower\()?(?:@|"[^"]*"|[A-Za-z_]\w*)(?:\.(?:"[^"]*"|\w+)|\[\d*\*?\])*\)?'
_WORD = r"'(?:[^'\\]|\\.)*'|`[^`]*`|-?\d+(?:\.\d+)?\b|[A-Za-z_]\w*\b(?![.(\[])"
_PATTERNS = (
    re.compile(rf"(?P<key>{_KEY})\s*(?P<operator>[=!<>]=|[<>])\s*(?P<word>{_WORD})"),
    re.compile(rf"(?P<operator>contains|starts_with|ends_with)\(\s*(?P<key>{_KEY})\s*,\s*(?P<word>{_WORD})\s*\)"),
)
_BARE = re.compile(r"[A-Za-z_]")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_LITERALS = {"true": "`true`", "false": "`false`", "null": "`null`", "none": "`null`"}
_MAX_SHOWN = 40  # characters of a value in a message
_MAX_ITEMS = 2000  # items with which a comparison is tried


class Comparison(NamedTuple):
    """A comparison of a `key` with a `word`, both as they are written. `operator` is such as `==` or `contains`."""

    key: str
    operator: str
    word: str
    text: str = ""

    @property
    def is_bare(self) -> bool:
        """Whether the word has no quotes, so that it is a key as well."""
        return _BARE.match(self.word) is not None

    @property
    def value(self) -> Any:
        """The text, number or other value that the word stands for."""
        return compile_expression(self.word).evaluate({})

    def written(self) -> str:
        """Return the comparison as an expression."""
        if self.operator[0] in "=!<>":
            return f"{self.key} {self.operator} {self.word}"
        return f"{self.operator}({self.key}, {self.word})"

    def finds(self, items: Sequence[Any]) -> bool:
        """Return whether it, or the opposite of `!=`, holds for an item."""
        equal = self._replace(operator=self.operator.replace("!", "="))
        return any(map(compile_expression(equal.written()).holds, items))


def comparisons(condition: Expression) -> Iterator[Comparison]:
    """Yield the comparisons of a condition with a single word, text or number."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(condition.text):
            with suppress(PathError):  # the pattern also matches in a text
                compile_expression(match["key"])
                compile_expression(match["word"])
                yield Comparison(match["key"], match["operator"], match["word"], match[0])


def meant(comparison: Comparison, items: Sequence[Any]) -> Comparison | None:
    """Return the comparison that was meant by one that does not apply to any of the items, or None."""
    items = items[:_MAX_ITEMS]
    values = values_of(comparison.key, items)
    if comparison.is_bare or not values:
        return None
    if comparison.operator[0] in "<>":
        return _of_numbers(comparison, values)
    if comparison.finds(items):
        return None
    other = _in_other_type(comparison)
    if other is not None and (other.finds(items) or _has_type_of(other, values)):
        return other
    for variant in _variants(comparison, values):
        if variant.finds(items):
            return variant
    return None


def _of_numbers(comparison: Comparison, values: Sequence[Any]) -> Comparison | None:
    """Return a comparison of numbers, if all values are texts and some of them contain a number."""
    is_of_texts = {str} == set(map(type, values)) and float in map(_kind, values)
    if not is_of_texts or _kind(comparison.value) is not float:
        return None
    return comparison._replace(key=f"to_number({comparison.key})", word=str(comparison.value))


def _in_other_type(comparison: Comparison) -> Comparison | None:
    """Return the comparison with a text instead of a number, true, false or null, or the reverse."""
    value = comparison.value
    if type(value) is not str:
        return comparison._replace(word=f"'{json.dumps(value)}'")
    word = value if _NUMBER.fullmatch(value) else _LITERALS.get(value.lower())
    return comparison._replace(word=word) if word else None


def _has_type_of(comparison: Comparison, values: Sequence[Any]) -> bool:
    """Return whether all values are flags or numbers like the word of a comparison, and of its type."""
    word = comparison.value
    is_alike = set(map(_kind, values)) == {_kind(word)} <= {bool, float}
    return is_alike and set(map(type, values)) == {type(word)} and comparison.operator in ("==", "!=")


def _kind(value: Any) -> type:
    """Return the type of a value, or of the flag or number that a text contains."""
    text = str(value)
    if text.lower() in ("true", "false"):
        return bool
    return float if _NUMBER.fullmatch(text) else type(value)


def _variants(comparison: Comparison, values: Sequence[Any]) -> Iterator[Comparison]:
    """Yield the comparison for a list, and with similar words among the values."""
    word = comparison.value
    if type(word) is not str or not word:
        return
    if comparison.operator == "==":
        yield comparison._replace(operator="contains")
    for other in values:
        if type(other) is str and (similar := _similar(word, other, comparison.operator)):
            yield comparison._replace(word=f"'{similar}'")


def _similar(word: str, text: str, operator: str) -> str:
    """Return the text if it is similar to a word, or the part that has the letters of a word that is searched in it."""
    folded, other = word.casefold(), text.casefold()
    if operator not in ("==", "!=") and folded in other:
        start = other.index(folded)
        return text[start : start + len(word)]
    return text if folded == other or is_typo(word, text, ()) else ""


def values_of(key: str, items: Sequence[Any]) -> list[Any]:
    """Return the different values of a key in items, and instead of each list its items."""
    found: dict[str, Any] = {}
    for value in map(compile_expression(key).evaluate, items):
        for one in value if type(value) is list else [value]:
            if one is not None:
                found.setdefault(repr(one), one)
    return list(found.values())


def values_text(key: str, items: Sequence[Any]) -> str:
    """Name the first few values of a key, as in "the values of `risk` are 'high', 'low'", or return an empty text."""
    values = [literal(value) for value in values_of(key, items)]
    if not values:
        return ""
    verb = "the value of `{}` is {}" if len(values) == 1 else "the values of `{}` are {}"
    return verb.format(shortened(key, _MAX_SHOWN), listed(values))


def lacking_text(key: str, items: Sequence[Any]) -> str:
    """State how many of the items have no value of a key, or return an empty text if all or none have one."""
    values = list(map(compile_expression(key).evaluate, items))
    absent = values.count(None)
    if not 0 < absent < len(values):
        return ""
    return f"{absent:,} of {len(values):,} have no `{key}`, and `!{key}` selects these"


def literal(value: Any) -> str:
    """Write a value as in a condition."""
    if type(value) is str:
        return f"'{shortened(value, _MAX_SHOWN)}'"
    return shortened(json.dumps(value, ensure_ascii=False, default=str), _MAX_SHOWN)
