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

KEY = r'(?:lower\()?(?:@|"[^"]*"|[A-Za-z_]\w*)(?:\.(?:"[^"]*"|\w+)|\[\d*\*?\])*\)?'
_WORD = r"'(?:[^'\\]|\\.)*'|`[^`]*`|-?\d+(?:\.\d+)?\b|[A-Za-z_]\w*\b(?![.(\[])"
_PATTERNS = (
    re.compile(rf"(?P<key>{KEY})\s*(?P<operator>[=!<>]=|[<>])\s*(?P<word>{_WORD})"),
    re.compile(rf"(?P<operator>contains|starts_with|ends_with)\(\s*(?P<key>{KEY})\s*,\s*(?P<word>{_WORD})\s*\)"),
)
_BARE = re.compile(r"[A-Za-z_]")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_OPPOSITES = {"!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_SPECIAL = frozenset({"true", "false", "null", "none"})
_FLAGS = frozenset({"true", "false"})
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

    def applies(self, items: Sequence[Any]) -> bool:
        """Return whether it tells some of the items from others: it, or its opposite, holds for a value."""
        operators = {self.operator, _OPPOSITES.get(self.operator, self.operator)} - {"!="}
        written = [compile_expression(self._replace(operator=operator).written()) for operator in operators]
        return any(condition.holds(item) for condition in written for item in items)


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
    if comparison.applies(items):
        return None
    for variant in _variants(comparison, values):
        if variant.applies(items):
            return variant
    return _in_type_of(comparison, values) if comparison.operator in ("==", "!=") else None


def _in_type_of(comparison: Comparison, values: Sequence[Any]) -> Comparison | None:
    """Return a comparison with true, false or a number in the type that all values have, or None if it has this type.

    No value has to be equal: `true` is never equal to a text, whatever the text is.
    """
    word, kinds = comparison.value, set(map(type, values))
    text = word if type(word) is str else json.dumps(word)
    are_flags = {str(value).lower() for value in values} <= _FLAGS and text.lower() in _FLAGS
    are_numbers = _is_number(word) and all(map(_is_number, values))
    if len(kinds) > 1 or type(word) in kinds or not (are_flags or are_numbers):
        return None
    if kinds == {str}:
        return comparison._replace(word=f"'{text}'")
    return comparison._replace(word=f"`{text.lower()}`" if are_flags else text)


def _variants(comparison: Comparison, values: Sequence[Any]) -> Iterator[Comparison]:
    """Yield the comparison in other types, and with similar words among the values."""
    value = comparison.value
    text = value if type(value) is str else json.dumps(value)
    if comparison.operator[0] in "<>":
        if _is_number(value):
            yield comparison._replace(key=f"to_number({comparison.key})", word=text)
        return
    if type(value) is str and _is_number(value):
        yield comparison._replace(word=value)
    if type(value) is str and value.lower() in _SPECIAL:
        yield comparison._replace(word=f"`{value.lower().replace('none', 'null')}`")
    if comparison.operator == "==" and type(value) is str and value:
        yield comparison._replace(operator="contains")
    for other in values:
        if type(other) is str and (similar := _similar(text, other, comparison.operator)):
            yield comparison._replace(word=f"'{similar}'")


def _similar(word: str, text: str, operator: str) -> str:
    """Return the text if it is similar to a word, or the part that has the letters of a word that is searched in it."""
    if not word:
        return ""
    folded, other = word.casefold(), text.casefold()
    are_exchanged = folded[:1] == other[:1] and sorted(folded) == sorted(other)
    if are_exchanged or is_typo(word, text, ()):
        return text
    at = other.find(folded) if operator[0] not in "=!" else -1
    return text[at : at + len(word)] if at >= 0 else ""


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) or (type(value) is str and _NUMBER.fullmatch(value) is not None)


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
