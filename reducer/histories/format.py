"""What a stored format declares: its messages, their tool returns, and the texts and calls in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from msgspec import Raw, Struct, UnsetType

from reducer.histories.source import Source
from reducer.references import Call, Prompt, Response

Scalar = str | int | float | bool | None
"""Values that any field may contain: an unexpected type does not stop the decoding of a message."""


class ToolReturn(Struct):
    """A tool return in a message: `part` counts from 0, and `contents` are all copies of its content.

    `untouched` is the reason why rules never apply; it is empty if they do.
    """

    part: int
    tool: Any
    call_id: Any
    contents: list[Raw]
    untouched: str = ""
    timestamp: Any = None


@dataclass(frozen=True, slots=True)
class Format:
    """A stored format.

    `message` is decoded from every item of a list that may be a history, so it must accept any object: a field is
    `Raw`, `Any` or a union with `Scalar`. The functions take this Struct:

    - `recognises(message, strict)`: return whether it is a message of this format. If `strict`, accept only messages
      that no other program writes; to detect a format, one message of the list must pass the strict check.
    - `returns(message, source)`: return its tool returns in order.
    - `events(message, source)`: return its prompts and responses, each with the number of the part that it precedes.
    """

    name: str
    expected: str
    message: type[Struct]
    recognises: Callable[[Any, bool], bool]
    returns: Callable[[Any, Source], Iterable[ToolReturn]]
    events: Callable[[Any, Source], Iterable[tuple[int, Prompt | Response]]]


def objects(value: Any, kind: type[Struct]) -> list[Any]:
    """Return the items of this kind in a list; a single object counts as a list of one."""
    if type(value) is list:
        return [item for item in value if type(item) is kind]
    return [value] if type(value) is kind else []


def tool_call(tool: Any, arguments: Raw | UnsetType, call_id: Any, source: Source) -> Call:
    """Return a tool call with decoded arguments."""
    return Call(str(tool or ""), source.value(arguments), str(call_id or ""))
