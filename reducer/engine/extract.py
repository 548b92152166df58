"""What is left of a value where only its entities stay."""

from __future__ import annotations

from typing import Any, Protocol

from reducer import marks
from reducer.engine.reading import Reading
from reducer.engine.thin import GONE, Taker, thin


class _Cutter(Taker, Protocol):
    reading: Reading

    def cut_out(self, text: str, mentions: tuple[str, ...], always: frozenset[str]) -> str: ...


def extracted(value: Any, types: frozenset[str], draft: _Cutter) -> Any:
    """Keep only what holds entities of `types`; of a text without any a mark, if that is shorter."""

    def pick(text: str) -> Any:
        if marks.read_alone(text, draft.reading.reads) is not None:
            return text
        mentions = tuple(dict.fromkeys(entity.value for entity in draft.reading.entities(text) if entity.type in types))
        return draft.cut_out(text, mentions, types) if mentions else GONE

    def holds(key: str) -> bool:
        return any(entity.type in types for entity in draft.reading.entities(key))

    left = thin(value, pick, holds, draft)
    if left is not GONE:
        return left
    if type(value) is str:
        return draft.cut_out(value, (), types)
    return draft.take_items(value, ()) if type(value) is list else draft.take_keys(value, ())
