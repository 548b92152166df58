"""Stored bytes read as JSON values, with what is wrong with them as JSON: one history, or one on each line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import JSONDecodeError
from typing import Any, NamedTuple

from pydantic_core import PydanticSerializationError, from_json, to_json

from reducer.reading import first_fault, is_deep
from reducer.stored.text import JsonText
from reducer.validate.finding import Finding, Path

_PLACE = re.compile(r"(.*) at line (\d+) column (\d+)$", re.DOTALL)
_NOT_READ = object()
_BEGINNING = 200


class Document(NamedTuple):
    """One JSON text of a file: what it says, the line on which it starts, and what is wrong with it as JSON.

    `is_read` is false when it cannot be looked into; `value` is None then.
    """

    text: str
    value: Any
    line: int
    findings: tuple[Finding, ...]
    is_read: bool
    starts: tuple[int, ...] = ()  # where each item of an outermost list starts


def documents(stored: bytes) -> Iterator[Document]:
    """Read a file: one JSON text, or one on each line that is not blank. A file without any gives one document that says so."""
    first = document(stored, 1)
    if first.is_read or not _has_lines(stored):
        yield first
        return
    for number, line in enumerate(stored.split(b"\n"), 1):
        if line.strip():
            yield document(line, number)


def _has_lines(stored: bytes) -> bool:
    """Tell whether at least one of the first lines is an object or a list by itself, and there is more than one."""
    start = 0
    lines: list[bytes] = []
    while len(lines) < 3 and 0 <= start < len(stored):
        end = stored.find(b"\n", start)
        end = len(stored) if end < 0 else end
        if line := stored[start:end].strip():
            lines.append(line)
        start = end + 1
    return len(lines) > 1 and any(line[:1] in b"{[" and line[-1:] in b"]}" and len(line) > 2 and document(line, 1).is_read for line in lines)


def document(stored: bytes, line: int) -> Document:
    """Read one JSON text that starts on a line of its file."""
    try:
        text = stored.decode()
    except UnicodeDecodeError as error:
        here = line + stored.count(b"\n", 0, error.start)
        column = len(stored[stored.rfind(b"\n", 0, error.start) + 1 : error.start].decode(errors="replace")) + 1
        return _unread("", line, Finding("V001", (), f"not UTF-8 text: byte 0x{stored[error.start]:02x}", here, column))
    findings: list[Finding] = []
    if text.startswith("\ufeff"):
        findings.append(Finding("V004", (), "starts with a byte order mark: PydanticAI's reader takes none", line, 1))
        text, stored = text[1:], stored[3:]
    if not text.strip(" \t\n\r"):
        return _unread(text, line, Finding("V002", (), "empty: expected a list of messages", line, 1), *findings)
    value = _plain(stored)
    if value is not _NOT_READ and not is_deep(value, len(text)):
        return Document(text, value, line, tuple(findings), True)
    repeated: list[dict[str, Any]] = []
    constants: list[str] = []
    starts: list[int] = []
    value = _NOT_READ
    try:
        read = _read(text, repeated, constants, starts)
        value = _NOT_READ if is_deep(read, len(text)) else read
    except JSONDecodeError as error:
        fault = first_fault(error)
        if fault is not None:
            here, column = place(text, fault.pos)
            reason = fault.msg.removesuffix(" at").removesuffix(" starting")
            cut = reason.startswith("Unterminated") or not text[fault.pos :].strip()
            what = "cut off: the text ends in the middle" if cut else f"not JSON: {reason}"
            return _unread(text, line, Finding("V002", (), what, line + here - 1, column), *findings)
    except RecursionError:
        pass
    refused = _refused(stored, line)
    if refused is not None:
        findings.append(refused)
    if value is _NOT_READ:
        return _unread(text, line, *findings)
    if repeated or constants:
        findings += _odd(value, {id(item) for item in repeated}, bool(constants))
    return Document(text, value, line, tuple(findings), True, tuple(starts))


def _plain(stored: bytes) -> Any:
    """Read a JSON text as PydanticAI's reader does, if its writer gives the same bytes back, as it does for what it wrote itself.

    Then no key stands twice, no number is lost, and nothing is refused: known in three quarters of the time of `json.loads`.
    """
    if b'": ' in stored[:_BEGINNING]:
        return _NOT_READ
    try:
        value = from_json(stored, allow_inf_nan=False)
        return value if to_json(value) == stored.strip(b" \t\n\r") else _NOT_READ
    except (ValueError, PydanticSerializationError):
        return _NOT_READ


def _unread(text: str, line: int, *findings: Finding) -> Document:
    return Document(text, None, line, findings, False)


def _read(text: str, repeated: list[dict[str, Any]], constants: list[str], starts: list[int]) -> Any:
    """Read a JSON text and note the objects that have a key twice, the numbers that are none, and where the items of an outermost list start."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(items)
        if len(value) != len(items):
            repeated.append(value)
        return value

    def constant(name: str) -> float:
        constants.append(name)
        return float(name)

    try:
        return _items(text, json.JSONDecoder(object_pairs_hook=pairs, parse_constant=constant), starts)
    except JSONDecodeError:
        raise
    except ValueError:
        # Python reads no whole number of more than 4,300 digits, and neither does PydanticAI.
        for noted in (repeated, constants, starts):
            noted.clear()
        return _items(text, json.JSONDecoder(object_pairs_hook=pairs, parse_constant=constant, parse_int=float), starts)


def _items(text: str, decoder: json.JSONDecoder, starts: list[int]) -> Any:
    # Item by item costs 2% more than as a whole, and spares looking for the items again: that takes as long as reading.
    source = JsonText(text)
    begin = source.white(0)
    if text[begin : begin + 1] != "[":
        return decoder.decode(text)
    scan = decoder.scan_once  # type: ignore[attr-defined]
    value: list[Any] = []
    for at in source.items(begin):
        starts.append(at)
        try:
            item, source.at = scan(text, at)
        except StopIteration as error:
            raise JSONDecodeError("Expecting value", text, error.value) from None
        value.append(item)
    source.finish()
    return value


def _refused(stored: bytes, line: int) -> Finding | None:
    """Tell what PydanticAI's own reader of JSON says, if it refuses the text: its bounds are not those of Python's."""
    try:
        from_json(stored)
    except ValueError as error:
        match = _PLACE.match(str(error))
        what, here, column = (match[1], int(match[2]), int(match[3])) if match else (str(error), 1, 1)
        return Finding("V004", (), f"PydanticAI's reader of JSON refuses it: {what}", line + here - 1, column)
    return None


def _odd(value: Any, repeated: set[int], constants: bool) -> Iterator[Finding]:
    """Find the objects that had a key twice, and the numbers that are none; without recursion."""
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        kind = type(item)
        if kind is dict:
            if id(item) in repeated:
                yield Finding("V005", path, "an object has the same key twice: readers take the last")
            waiting.extend(((*path, key), inner) for key, inner in item.items())
        elif kind is list:
            waiting.extend(((*path, index), inner) for index, inner in enumerate(item))
        elif constants and kind is float and item - item != 0:
            yield Finding("V006", path, f"{item} as a number: JSON has none; expected null or a finite number")


def place(text: str, at: int) -> tuple[int, int]:
    """Give line and column of a character."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
