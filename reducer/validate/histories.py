"""Where the messages stand in a JSON value: lists of them, single ones, and what they are wrapped in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from reducer.validate.finding import Path
from reducer.validate.session import is_session_message

_WRAPPERS = 16
"""Levels of wrapping that are looked into, as where histories are reduced."""
_AROUND = 2
"""Keys that may stand around each message of a list: `_source` in the answer of a search index."""


class History(NamedTuple):
    """Messages that belong together: a list of them at `path`, or one. If each is wrapped by itself in a list, `each` gives their places."""

    path: Path
    messages: Any
    is_session: bool
    each: Sequence[Path] | None = None


def histories(value: Any) -> Iterator[History]:
    """Find the histories in a JSON value, in order. An empty list is one, by itself or under the name `messages`."""
    if value == [] or (type(value) is dict and value.get("messages") == []):
        yield History(("messages",) if value else (), [], False)
    else:
        yield from _histories((), value, _WRAPPERS)


def _histories(path: Path, value: Any, levels: int) -> Iterator[History]:
    if type(value) is dict:
        if is_message(value) or is_session_message(value):
            yield History(path, value, not is_message(value))
        elif levels:
            for key, inner in value.items():
                if type(inner) in (dict, list):
                    yield from _histories((*path, key), inner, levels - 1)
    elif type(value) is list:
        if any(map(is_message, value)) or any(map(is_session_message, value)):
            yield History(path, value, not any(map(is_message, value)))
            return
        wrapped = [_wrapped((*path, index), item, _AROUND) for index, item in enumerate(value) if type(item) is dict]
        inside = [found for found in wrapped if found is not None]
        if inside:
            yield History(path, [message for _, message in inside], not any(is_message(message) for _, message in inside), [place for place, _ in inside])
        elif levels:
            for index, item in enumerate(value):
                if type(item) in (dict, list):
                    yield from _histories((*path, index), item, levels - 1)


def _wrapped(path: Path, value: dict[str, Any], around: int) -> tuple[Path, dict[str, Any]] | None:
    """Find the message that an item of a list holds under a key."""
    for key, inner in value.items():
        if type(inner) is dict:
            here = (*path, key)
            found = (here, inner) if is_message(inner) or is_session_message(inner) else _wrapped(here, inner, around - 1) if around > 1 else None
            if found is not None:
                return found
    return None


def is_message(value: Any) -> bool:
    """Tell whether a value is a message of PydanticAI, sound or not."""
    if type(value) is not dict:
        return False
    parts = value.get("parts")
    if value.get("kind") in ("request", "response"):
        return True
    return type(parts) is list and ("kind" in value or any(type(part) is dict and "part_kind" in part for part in parts))
