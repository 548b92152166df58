"""Stored histories: JSON of any version and format, in which tool returns are found and contents are replaced.

`reduce_json(data, reduce)` takes and returns bytes, `returns(data)` yields the tool returns, and `events(data)` returns
prompts, responses and returns in order. Each module of `histories/formats/` is a format.
"""

from reducer.histories.stored.events import Key, Placed, events, later_mentions
from reducer.histories.stored.messages import InputFormat, are_one_history, expected, formats_of
from reducer.histories.stored.returns import (
    Content,
    Return,
    change_copies,
    reduce_json,
    reduce_repeats,
    returns,
    splice,
    why_without_returns,
)

__all__ = [
    "Content",
    "InputFormat",
    "Key",
    "Placed",
    "Return",
    "are_one_history",
    "change_copies",
    "events",
    "expected",
    "formats_of",
    "later_mentions",
    "reduce_json",
    "reduce_repeats",
    "returns",
    "splice",
    "why_without_returns",
]
