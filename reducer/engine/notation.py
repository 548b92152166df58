"""How parts of a return are written: tuples as tuples, and structure that was read from a text as that text again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reducer.codecs import Bracket, Brackets, Codec
from reducer.values import MAX_DEPTH, Unreducible


@dataclass(frozen=True, slots=True)
class Nested:
    """The text that a value within the return stood in, and how it is written back."""

    text: str
    codec: Codec


class Notation:
    """What is known of lists and objects by their identity, for one pass over one return. Whoever makes a value anew lets it `inherit`."""

    __slots__ = ("_held", "brackets", "origins", "texts")

    def __init__(self) -> None:
        self.brackets: Brackets = {}
        self.texts: dict[int, Nested] = {}
        self.origins: dict[int, Any] = {}
        self._held: list[Any] = []

    def __bool__(self) -> bool:
        return bool(self.brackets or self.texts)

    def enough(self, items: Any, indexes: Sequence[int], count: int) -> Sequence[int]:
        """Give `indexes`, with the first others of `count` if the list would not be read back as one: JSON lines are two at least."""
        bracket = self.brackets.get(id(items))
        if bracket is None or len(indexes) >= bracket.least:
            return indexes
        others = [index for index in range(count) if index not in indexes]
        return sorted([*indexes, *others[: bracket.least - len(indexes)]])

    def opened(self, new: Any, old: Any, nested: Nested | None = None) -> None:
        """Note that `new` is `old` with texts in it read as what they say, or what the text `old` says."""
        self._held.append(new)
        self.origins[id(new)] = old
        if nested is not None:
            self.texts[id(new)] = nested
        else:
            self.inherit(new, old)

    def inherit(self, new: Any, old: Any) -> None:
        """Let `new`, made of `old` by taking away, be written as that."""
        bracket: Bracket | None = self.brackets.get(id(old))
        nested = self.texts.get(id(old))
        if bracket is None and nested is None:
            return
        self._held.append(new)  # its id is not given again
        if bracket is not None:
            self.brackets[id(new)] = bracket
        if nested is not None:
            self.texts[id(new)] = nested

    def hold(self, value: Any) -> None:
        """Keep a value that was read and is not used: the ids of what is in it are noted."""
        self._held.append(value)

    def stands_for_itself(self, value: Any) -> None:
        """Note that `value` is not written as a text any more."""
        self.texts.pop(id(value), None)

    def emptied(self, value: Any, left: Any) -> Any:
        """Give what is left of `value` when it is emptied to `left`: of what stood in a text the empty text."""
        if id(value) in self.texts:
            return ""
        if left is not value:
            self.inherit(left, value)
        return left

    def closed(self, value: Any, depth: int = MAX_DEPTH) -> Any:
        """Give `value` as it is written within the return: what was read from a text as a text, and what did not change as it arrived.

        Raises `Unreducible` past `depth` levels.
        """
        if not self.texts:
            return value
        if depth < 0:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        origin = self.origins.get(id(value), value)
        if origin is not value:
            return origin
        kind = type(value)
        if kind is dict:
            left = {key: self.closed(item, depth - 1) if type(item) in _CONTAINERS else item for key, item in value.items()}
            new: Any = value if all(left[key] is item for key, item in value.items()) else left
        elif kind is list:
            items = [self.closed(item, depth - 1) if type(item) in _CONTAINERS else item for item in value]
            new = value if all(a is b for a, b in zip(items, value, strict=True)) else items
        else:
            return value
        if new is not value:
            self.inherit(new, value)
        nested = self.texts.get(id(value))
        if nested is None:
            return new
        text = nested.codec.write(new)
        return text if _is_shorter(text, nested.text) else nested.text


_CONTAINERS = frozenset({dict, list})


def _is_shorter(new: str, old: str) -> bool:
    # Every text around it escapes quotes and backslashes once more.
    return len(new) < len(old) and new.count('"') + new.count("\\") <= old.count('"') + old.count("\\")
