"""Check stored histories: what PydanticAI refuses to load, what providers refuse to answer, and what is unusual.

PydanticAI's own type adapter checks the fields. It is imported only when a history of PydanticAI is found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from pydantic_core import from_json

from reducer.histories.findings import Finding, Path, described, locate
from reducer.histories.pairing import Messages, check_calls, check_order, check_session, is_session_message
from reducer.histories.source import BOM, position

_WRAPPERS = 16
"""Levels of wrapping that are searched for messages."""
_MAX_ERRORS = 10_000
_ERROR_PLACE = re.compile(r"(.*) at line (\d+) column (\d+)$", re.DOTALL)


class Document(NamedTuple):
    """One JSON text, its value, its first line in its file, and why PydanticAI cannot read it."""

    data: bytes
    value: Any
    line: int
    fault: Finding | None = None


class History(NamedTuple):
    """Messages that belong together, with their paths; not `is_whole` for a message that is not in a list."""

    messages: Messages
    is_whole: bool


def validate(stored: bytes) -> list[Finding]:
    """Return everything that is wrong with a stored history, in the order of the file.

    `stored` is a list of PydanticAI messages, one message, a session history or a wrapper around one of these, as UTF-8
    JSON. Raises nothing: bytes that are not a history are a finding too.
    """
    return check_document(read_document(stored))


def read_document(stored: bytes, line: int = 1) -> Document:
    """Read one JSON text that starts on `line` of its file."""
    try:
        stored.decode()
        return Document(stored, from_json(stored), line)
    except UnicodeDecodeError as error:
        at = error.start
        code, message = "V001", f"byte 0x{stored[at]:02x} is not UTF-8 text"
    except ValueError as error:
        found = _ERROR_PLACE.fullmatch(str(error))
        words, row, column = (found[1], int(found[2]), int(found[3])) if found else (str(error), 1, 1)
        at = sum(len(one) + 1 for one in stored.split(b"\n")[: row - 1]) + max(column - 1, 0)
        words = "starts with a byte order mark" if stored.startswith(BOM) else words
        words = words.replace("EOF", "the text ends").replace("ident", "a value")
        code, message = "V002", f"PydanticAI cannot parse the JSON: {words}"
    row, column = position(stored, at)
    return Document(stored, None, line, Finding(code, (), message, line + row - 1, column))


def check_document(document: Document) -> list[Finding]:
    """Return everything that is wrong with one JSON text, with lines and columns."""
    if document.fault is not None:
        return [document.fault]
    return locate(document.data, list(_check_value(document.value)), document.line)


def _check_value(value: Any) -> Iterator[Finding]:
    found = _histories(value)
    if not found and value != [] and not (type(value) is dict and value.get("messages") == []):
        words = "expected a list of messages, each an object with `kind` and `parts`"
        yield Finding("V003", (), f"no history: found {described(value)}, {words}")
    for messages, is_whole in found:
        if not any(_is_message(message) for _, message in messages):
            yield from check_session(messages)
            continue
        yield from _check_fields(messages)
        if is_whole:
            yield from check_order(messages)
            yield from check_calls(messages)


def _histories(value: Any) -> list[History]:
    """Return the lists of messages in a JSON value, and the messages that are in no list as one history."""
    found = list(_search(value, ()))
    alone = [message for one in found if not one.is_whole for message in one.messages]
    return [*(one for one in found if one.is_whole), *([History(alone, len(alone) > 1)] if alone else [])]


def _search(value: Any, path: Path) -> Iterator[History]:
    if _is_message(value) or is_session_message(value):
        yield History([(path, value)], is_whole=False)
        return
    items = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    within = [((*path, key), item) for key, item in items]
    if type(value) is list and any(_is_message(item) or is_session_message(item) for item in value):
        yield History(within, is_whole=True)
    elif len(path) < _WRAPPERS:
        for inner, item in within:
            yield from _search(item, inner)


def _is_message(value: Any) -> bool:
    if type(value) is not dict:
        return False
    parts = value.get("parts")
    return value.get("kind") in ("request", "response") or (
        type(parts) is list and ("kind" in value or any(type(part) is dict and "part_kind" in part for part in parts))
    )


class _Error(NamedTuple):
    """An error of pydantic: its path in the messages, and how many union branches on it have the kind of the value."""

    path: Path
    kinds: int
    message: str


def _check_fields(messages: Messages) -> Iterator[Finding]:
    """Yield what PydanticAI's type adapter refuses; of each field, the errors that are most likely meant."""
    from pydantic import ValidationError
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    values = [message for _, message in messages]
    try:
        ModelMessagesTypeAdapter.validate_json(json.dumps(values))
        return
    except ValidationError as refused:
        details = refused.errors(include_url=False, include_input=False)[:_MAX_ERRORS]
    errors = [_error(detail, values) for detail in details]
    for _, of_field in groupby(errors, key=lambda error: error.path[:4]):
        likely: dict[Path, list[str]] = {}
        same = list(of_field)
        best = max((error.kinds, len(error.path)) for error in same)
        for error in same:
            if (error.kinds, len(error.path)) == best:
                likely.setdefault(error.path, []).append(error.message)
        for (index, *rest), words in likely.items():
            first, *others = dict.fromkeys(words)
            message = " or ".join([first, *(word.rpartition("input should be ")[2] for word in others)])
            yield Finding("V010", (*messages[int(index)][0], *rest), message)


def _error(detail: Any, messages: Sequence[Any]) -> _Error:
    """Turn an error's location into a path: pydantic writes the names of union branches between keys and indexes."""
    value: Any = messages
    path: Path = ()
    kinds = 0
    for step in detail["loc"]:
        is_kind = type(value) is dict and step in (value.get("kind"), value.get("part_kind"))
        kinds += is_kind
        if not is_kind and (step in value if type(value) is dict else type(value) is list and type(step) is int):
            path, value = (*path, step), value[step]
    kind, last, words = detail["type"], detail["loc"][-1], detail["msg"]
    if kind.startswith("union_tag") and type(value) is dict:
        last = "part_kind" if path[-2:-1] == ("parts",) else "kind"
        # Tags with the prefix `legacy-` are PydanticAI's own: no part has such a kind.
        tags = re.findall(r"'(?!legacy-)[^']+'", detail["ctx"].get("expected_tags", ""))
        words = f"Input should be {', '.join(tags)}"
        kind = kind if last in value else "missing"
        path, value = ((*path, last), value[last]) if last in value else (path, value)
    if kind == "missing":
        return _Error((*path, last), kinds, f"`{last}` is missing")
    return _Error(path, kinds, f"found {described(value)}; {words[0].lower()}{words[1:]}")
