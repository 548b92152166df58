"""What a stored format declares: its messages, and the prompts, responses and tool returns in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeAlias, TypeVar

from msgspec import UNSET, Raw, Struct, UnsetType

from reducer.histories.source import Json, Source

Scalar = str | int | float | bool | None
"""Values that any field may contain: an unexpected type does not stop the decoding of a message."""

_T = TypeVar("_T")
One: TypeAlias = _T | list[Raw] | Scalar
"""A value that should be a Struct."""
Some: TypeAlias = list[One[_T]] | dict[str, Raw] | Scalar | UnsetType
"""A value that should be a list of Structs, or `UNSET` if it is missing."""

Path = tuple[str | int, ...]
"""The keys and indexes that lead from one value to a value in it."""


class ToolCall(Struct, gc=False):
    """A tool call; `at` is the path from the message to its id, or empty if `validate` does not check it."""

    tool: Any
    id: Any
    arguments: Json
    at: Path = ()


class Turn(Struct, gc=False):
    """A prompt, or a response of the agent, that precedes the part `part`.

    `texts` are strings, or JSON that is not decoded yet. A response makes the `calls`, a retry prompt answers them.
    With `joins`, a response belongs to the one before it, unless a prompt or a message without turns comes between.
    """

    is_response: bool
    texts: list[Any]
    calls: list[ToolCall] = []
    part: int = 0
    joins: bool = False


class ToolReturn(Struct, gc=False):
    """A tool return in a message: `part` counts from 0, and `contents` are all copies of its content.

    If `tool` is None, the return has the tool of the nearest call before it with this id, or else its own `name`.
    `untouched` is the reason why rules never apply; it is empty if they do. `at`: see `ToolCall`.
    """

    call_id: Any
    contents: list[Any]
    tool: Any = None
    name: Any = None
    part: int = 0
    untouched: str = ""
    timestamp: Any = None
    at: Path = ()


class Format(Protocol):
    """A stored format, which is a module of `histories/formats/`.

    A `MESSAGE` is decoded from every item of a list that may be a history, so it must accept any object: a field is
    `Raw`, `Any`, `One` or `Some`. Values without any of the `HINTS` contain no messages of this format. A format with
    `IS_ONE_HISTORY = True` stores one history as JSON lines.
    """

    NAME: str
    EXPECTED: str
    HINTS: tuple[bytes, ...]
    MESSAGE: type[Struct]

    def recognises(self, message: Any, source: Source, strict: bool) -> bool:
        """Return whether it is a message of this format.

        If `strict`, accept only messages that no other program writes; to detect a format, one message of the list
        must pass the strict check.
        """

    def read(self, message: Any, source: Source) -> Iterable[Turn | ToolReturn]:
        """Return the prompts, responses and tool returns of a message, each call before its return."""


def inside(key: str, found: Iterable[Turn | ToolReturn]) -> Iterator[Turn | ToolReturn]:
    """Yield what a message contains that is the value of `key` in another one."""
    for one in found:
        for each in [one] if isinstance(one, ToolReturn) else one.calls:
            each.at = (key, *each.at) if each.at else ()
        yield one


class Part(Struct, gc=False):
    """A part of a content, such as a text or an image."""

    type: Any = None
    text: Json = UNSET


def numbered(value: Any, kind: type[Struct]) -> list[tuple[int, Any]]:
    """Return the items of this kind in a list, with their indexes; a single object counts as a list of one."""
    items = value if type(value) is list else [value]
    return [(number, item) for number, item in enumerate(items) if type(item) is kind]


def types(items: Iterable[tuple[int, Any]], kinds: Iterable[str]) -> list[bool]:
    """Return for each numbered item whether its type is one of `kinds`."""
    return [item.type in kinds for _, item in items]


def parts(content: Json, source: Source) -> list[tuple[int, Part]]:
    """Return the numbered parts of a content, or none if it is not a list."""
    if source.mark(content) != "[":
        return []
    return numbered(source.decode(list[One[Part]], content), Part)  # type: ignore[arg-type]


def texts(content: Json, source: Source) -> list[Json]:
    """Return the texts of a content that is a list of parts, or else the content itself."""
    if source.mark(content) != "[":
        return [content]
    return [part.text for _, part in parts(content, source) if source.mark(part.text) == '"']


def tool_returns(content: Json, source: Source, **fields: Any) -> list[ToolReturn]:
    """Return a tool return with these fields for each text of a content, because rules apply to each of them."""
    return [ToolReturn(contents=[text], **fields) for text in texts(content, source) or [UNSET]]
