"""What a stored format declares: its messages, and where in them the tool returns and the words of the agent are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from msgspec import Raw, Struct, UnsetType

from reducer.histories.source import Source
from reducer.references import Call, Prompt, Response

Scalar = str | int | float | bool | None
"""What a field may hold besides the structure that is read: a field that holds anything else is read as well."""


class ToolReturn(Struct):
    """One tool return of a message: `part` counts from 0, `contents` are all the places that hold its content.

    `untouched` is the reason why rules never apply to it, empty if they do.
    """

    part: int
    tool: Any
    call_id: Any
    contents: list[Raw]
    untouched: str = ""
    timestamp: Any = None


@dataclass(frozen=True, slots=True)
class Format:
    """One stored format.

    `message` is decoded from every item of a list that may be a history, so it must accept any object: a field is
    `Raw`, `Any` or a union with `Scalar`. Functions that read a message get this Struct:

    - `recognises(message, strict)`: whether it is a message of this format; `strict` if no other program may write
      such messages. Where the format is not given, one message of a list must be recognised strictly.
    - `returns(message, source)`: its tool returns in order.
    - `said(message, source)`: what users and the agent wrote, each with the number of the part that it comes before.
    """

    name: str
    expected: str
    message: type[Struct]
    recognises: Callable[[Any, bool], bool]
    returns: Callable[[Any, Source], Iterable[ToolReturn]]
    said: Callable[[Any, Source], Iterable[tuple[int, Prompt | Response]]]


def objects(value: Any, kind: type[Struct]) -> list[Any]:
    """Return the objects of a list, decoded as `kind`; a single object counts as a list of one."""
    if type(value) is list:
        return [item for item in value if type(item) is kind]
    return [value] if type(value) is kind else []


def called(tool: Any, arguments: Raw | UnsetType, call_id: Any, source: Source) -> Call:
    """Return a tool call, with its arguments decoded."""
    return Call(str(tool or ""), source.value(arguments), str(call_id or ""))
