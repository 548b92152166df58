"""PydanticAI's own messages as they are stored: which they are, and the tool returns in them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from reducer.errors import HistoryError
from reducer.stored.outline import NO_CONTENT, careful
from reducer.stored.raw import Found, Raw
from reducer.stored.stretch import SIZE, Look, Stretch, beginning, stretch
from reducer.stored.text import scan

_RARELY = 16

Refuse = Callable[[object, int], HistoryError]


def is_message(item: object) -> bool:
    """Tell whether a value is a message of PydanticAI, of any kind and era."""
    return type(item) is dict and "parts" in item and type(item.get("kind")) is str


def _tool_returns(raw: Raw, message: dict[str, Any], index: int) -> list[Found]:
    """Give the tool returns of a message that was read piece by piece, so that its contents are kept aside."""
    parts = message["parts"]
    if type(parts) is not list:
        raise HistoryError(f"not a history: found {described(parts)} as `parts`, expected a list")
    found: list[Found] = []
    for number, part in enumerate(parts if message["kind"] == "request" else ()):
        if type(part) is dict and part.get("part_kind") == "tool-return":
            start, end, value, flaw = part.get("content", NO_CONTENT)
            found.append((index, number, part, value, start, end, flaw, ()))
    return [raw.placed(one) for one in found]


class Several(NamedTuple):
    """Messages that were read at once: the tool returns in them, the number of messages, where they end, and their form."""

    found: list[Found]
    messages: int
    end: int
    form: str


_RETURN = beginning("tool_name")
_COMPACT: Look = (',"content"', _RETURN)
_SPACED: Look = ('"content"', _RETURN)
_ANY: Look = ('"content"', None)


def several(raw: Raw, start: int, index: int, alone: bool = False) -> Several | None:
    """Read messages from the one at `start` on, or that `alone`, at once, counting from `index`; None where they have to be read one by one.

    In every dump of PydanticAI the content of a tool return follows its name; where keys were sorted, whatever is called `content` is looked at.
    """
    text = raw.source.text
    # In compact dumps most contents follow a brace, those of tool returns a comma: what is rare is found sooner.
    compact = text.startswith('{"parts":[', start)
    # What failed once mostly fails again.
    for look in (1, 0) if raw.look else (0, 1):
        read = None  # it is not in memory beside the next one
        read = stretch(raw, start, _ANY if look else _COMPACT if compact else _SPACED, alone=alone)
        if read is None and raw.structured:
            return None
        found = None if read is None or (look and not read.plain()) else _in_stretch(text, read, index, "" if look or compact else " ")
        if read is not None and found is not None:
            raw.look = look
            return Several(found, len(read.items), read.end, "model-messages")
    return None


def _in_stretch(text: str, read: Stretch, index: int, blank: str) -> list[Found] | None:
    """Give the tool returns of a stretch; None where something in it is unusual."""
    found: list[Found] = []
    aside = read.aside
    before, between = f'{{"parts":{blank}[{{"tool_name":{blank}"', f'",{blank}"content":{blank}'
    certain = True
    try:
        for message in read.items:
            parts, kind = message["parts"], message["kind"]
            if type(parts) is not list or type(kind) is not str:
                return None
            if kind == "request":
                for number, part in enumerate(parts):
                    if part.get("part_kind") == "tool-return":
                        start, end, value, flaw = aside[part["content"]]
                        # What a message begins with is the last of that name: `parts` and `content` stand in it once.
                        if number == 0:
                            certain = certain and text.endswith(f"{before}{part.get('tool_name')}{between}", 0, start)
                        elif not found or found[-1][0] != index:
                            certain = False
                        found.append((index, number, part, value, start, end, flaw, ()))
            index += 1
    except (AttributeError, KeyError, TypeError):  # something unusual, or a content that was not kept aside
        return None
    return found if read.complete(len(found)) and (certain or read.stands(b"parts", len(read.items))) else None


def read_list(raw: Raw, start: int, index: int, refuse: Refuse, begun: Several | None) -> Generator[Found, None, tuple[int, int]]:
    """Read a list of messages from the one at `start` on, counting them from `index`; gives the index after the last one, and the list's end.

    `begun` is what `several` gives there, if it was asked. Raises what `refuse(value, number)` gives for an item that is no message; `number` counts from 0.
    """
    at, first = start, index
    slow = -1  # up to here they are read one by one
    size = SIZE
    while True:
        if begun is None and at >= slow >= 0:
            begun = several(raw, at, index)
        if begun is not None:
            found, count, at, _ = begun
            slow, size, begun = at, SIZE, None
        else:
            if at >= slow:
                # To try in vain takes longer than to read one by one: where that is so all along, it is done less and less.
                slow, size = at + size, min(2 * size, _RARELY * SIZE)
            found, at = one(raw, at, index, index - first, refuse)
            count = 1
        yield from found
        index += count
        at, more = raw.follow(at)
        if not more:
            return index, at


def one(raw: Raw, place: int, index: int, number: int, refuse: Refuse) -> tuple[list[Found], int]:
    """Read the message at `place` by itself: its tool returns, and its end. For the rest see `read_list`."""
    source, start = raw.spelled, raw.in_text(place)
    try:
        message, end = scan(source.text, start)
        kind, parts = message["kind"], message["parts"]
        if type(parts) is list and (kind == "response" or (type(kind) is str and not _holds_returns(parts))):
            return [], raw.from_text(end)
    except (StopIteration, ValueError, RecursionError, KeyError, TypeError):
        pass  # reading it piece by piece tells what is there
    message, end = careful(source, start)
    if not is_message(message):
        raise refuse(message, number)
    keys = []
    for key, value in source.members(start):
        keys.append(key)
        _, source.at = source.value(value)
    if keys.count("parts") > 1:
        return [], raw.from_text(end)
    return _tool_returns(raw, message, index), raw.from_text(end)


def _holds_returns(parts: list[Any]) -> bool:
    for part in parts:  # noqa: SIM110  # `any` over a generator takes three times as long for the usual one or two parts
        if type(part) is dict and part.get("part_kind") == "tool-return":
            return True
    return False


def described(value: object) -> str:
    """Name what was found in place of a message or its parts."""
    if isinstance(value, dict):
        keys = ", ".join(key if len(key) <= 30 else f"{key[:29]}…" for key in list(value)[:6])
        return f"an object with the keys {keys}{', …' if len(value) > 6 else ''}" if value else "an empty object"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return "a list" if isinstance(value, list) else "a text" if isinstance(value, str) else "a number"
