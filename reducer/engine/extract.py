"""What is left of a value where only its entities stay."""

from __future__ import annotations

from typing import Any, Protocol

from reducer import marks
from reducer.engine.reading import Reading
from reducer.engine.thin import GONE, Taker, thin


class _Cutter(Taker, Protocol):
    reading: Reading

    def length(self, text: str) -> int: ...
    def cut_to(self, new: str, head: int, tail: int, count: int, always: frozenset[str]) -> str: ...


def extracted(value: Any, types: frozenset[str], draft: _Cutter) -> Any:
    """Keep only what holds entities of `types`; of a text without any a mark, if that is shorter."""

    def pick(text: str) -> Any:
        if marks.read_alone(text, draft.reading.reads) is not None:
            return text
        mentions = tuple(dict.fromkeys(entity.value for entity in draft.reading.entities(text) if entity.type in types))
        return _alone(text, mentions, types, draft) if mentions else GONE

    def holds(key: str) -> bool:
        return any(entity.type in types for entity in draft.reading.entities(key))

    left = thin(value, pick, holds, draft)
    if left is not GONE:
        return left
    if type(value) is str:
        return _alone(value, (), types, draft)
    return draft.take_items(value, ()) if type(value) is list else draft.take_keys(value, ())


def _alone(text: str, mentions: tuple[str, ...], types: frozenset[str], draft: _Cutter) -> str:
    count = draft.length(text)
    new = str(marks.Mark(count, "characters", mentions)) if text else text
    return text if len(new) >= len(text) else draft.cut_to(new, 0, 0, count, types)
