"""A content between arrival and result: opened for a rule, and written back as it came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reducer import values
from reducer.codecs import Codec, read
from reducer.engine.nested import opened
from reducer.engine.notation import Notation
from reducer.rule import Rule
from reducer.values import dump, is_media, shown


@dataclass(frozen=True, slots=True)
class Arrival:
    """A content as rules see it: `value`, with nested texts on the way of the rule opened; `stored` is the same with them closed.

    `codec` is the notation of a text that as a whole holds structure, else None.
    """

    content: Any
    stored: Any
    value: Any
    codec: Codec | None
    notation: Notation

    def chars(self, value: Any, bound: int | None = None) -> int:
        """Count the characters that the model would be shown for `value`, made of `value` of the arrival; as `values.chars`."""
        if self.codec is None or self.codec.is_json:
            return values.chars(self.notation.closed(value), bound)
        return len(self.written(value))

    def written(self, value: Any) -> Any:
        """Give the content that `value`, made of `value` of the arrival, stands for. Raises `Unreducible`."""
        closed = self.notation.closed(value)
        return closed if self.codec is None else self.codec.write(closed)

    def left(self, value: Any, compactly: bool = False) -> Any:
        """Give the content that is left; the same object if nothing changed, or what changed would only be longer.

        `compactly`: JSON text is written anew even if nothing in it changed.
        """
        # What was only taken off and put back, such as a mark, is no change. What did not change is the same object, so comparing is quick.
        changed = value is not self.value and value != self.value
        anew = compactly and self.codec is not None and self.codec.is_json
        # A value that is equal may stand for a text that was unwrapped.
        if not changed and not anew and (value is self.value or not self.notation.texts):
            return self.content
        new = self.written(value)
        if self.codec is None:
            return self.content if new is self.stored or new == self.stored else new
        if compactly and not self.codec.is_json and _is_json(new):
            new = dump(self.notation.closed(value))  # `[1, 2]` is Python and JSON: the next pass takes it for JSON
        return self.content if len(new) > len(self.content) or new == self.content else new


def _is_json(text: str) -> bool:
    found = read(text, {})
    return found is not None and found[1].is_json


def arrive(rule: Rule, content: Any) -> Arrival | None:
    """Open a content for a rule; None for one that rules never change. Raises `Unreducible`."""
    notation, codec, stored = Notation(), None, content
    if type(content) is str:
        found = read(content, notation.brackets)
        if found is not None:
            stored, codec = found
    else:
        stored = shown(content)
    if type(stored) not in (str, list, dict) or is_media(stored):
        return None
    value = stored if rule.opening is None else opened(stored, rule.opening, notation)
    return Arrival(content, stored, value, codec, notation)
