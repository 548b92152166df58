"""Stored histories: JSON of any version and format, in which tool returns are found and contents are replaced.

`reduce_json(data, reduce)` takes and returns bytes, `returns(data)` yields the tool returns, and `events(data)` returns
prompts, responses and returns in order. Each module of `histories/formats/` is a format.
"""

from reducer.histories.stored.events import Link, Linked, Placed, events, later_mentions, linked_histories
from reducer.histories.stored.messages import InputFormat, expected, formats_of
from reducer.histories.stored.returns import Content, Key, Return, change_copies, reduce_json, returns, splice

__all__ = [
    "Content",
    "InputFormat",
    "Key",
    "Link",
    "Linked",
    "Placed",
    "Return",
    "change_copies",
    "events",
    "expected",
    "formats_of",
    "later_mentions",
    "linked_histories",
    "reduce_json",
    "returns",
    "splice",
]
