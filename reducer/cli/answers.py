"""Answers of tools: the tool returns of histories, and samples, which are files with one answer each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reducer.cli.files import Selection, find_sources
from reducer.cli.screen import CommandError
from reducer.errors import HistoryError
from reducer.formats.json_text import read_json, read_string
from reducer.histories.stored import Return, returns
from reducer.strict_json import loads

_CUT_HISTORY = re.compile(rb'\s*\[\s*\{\s*"(parts"|role"|kind"\s*:\s*"(request|response)")')


_MAX_LINES = 10


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a tool, with the call as `--call` names it. A sample has no call, and its tool may be empty."""

    file: str
    tool: str
    call: str
    content: Any


def each_answer(names: Sequence[str], tool: str | None, call: str | None = None) -> Iterator[Answer]:
    """Yield the answers that `--tool` and `--call` select in histories and samples.

    Raises `CommandError`, also if there are no answers.
    """
    selection = Selection(tool, call)
    is_found = False
    for source in find_sources(names):
        data = source.read()
        entries = _of_history(source.name, data)
        if entries is None and call is None:
            is_found = True
            yield Answer(source.name, tool or "", "", _of_sample(source.name, data))
        for entry in filter(selection.matches, entries or ()):
            is_found = True
            yield Answer(source.name, entry.tool, entry.name, entry.content)
    if not is_found:
        raise selection.nothing_found()


def as_history(name: str, data: bytes, tool: str | None, input_format: str = "auto") -> bytes:
    """Return data that contains a history, otherwise a history with this answer as its only return, of `tool`.

    Raises `CommandError` if the data is neither.
    """
    if tool is None or _is_history(data, input_format) or any(_is_history(line) for line in _first_lines(data)):
        return data
    part = {"part_kind": "tool-return", "tool_name": tool, "tool_call_id": name, "content": _of_sample(name, data)}
    return json.dumps([{"kind": "request", "parts": [part]}]).encode()


def _first_lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n", _MAX_LINES)[:_MAX_LINES] if line.strip()]


def _is_history(data: bytes, input_format: str = "auto") -> bool:
    """Tell whether data is a history, even a damaged one."""
    try:
        next(returns(data, input_format), None)
    except HistoryError:
        return _is_meant_as_history(data)
    return True


def _is_meant_as_history(data: bytes) -> bool:
    """Tell whether data starts like a history: with an object that has parts."""
    try:
        value = loads(data)
    except (ValueError, RecursionError):
        return _CUT_HISTORY.match(data) is not None
    first = value[0] if type(value) is list and value else None
    return type(first) is dict and type(first.get("parts")) is list and ("kind" in first or "role" in first)


def _of_history(name: str, data: bytes) -> list[Return] | None:
    """Return the reducible returns of a history or of JSON lines, or None for a sample. Raises `CommandError`."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    in_lines = len(lines) > 1 and _is_history(lines[0])
    entries: list[Return] = []
    for number, text in enumerate(lines if in_lines else [data], 1):
        try:
            entries += (entry for entry in returns(text) if not entry.untouched)
        except HistoryError as error:
            if in_lines or _is_meant_as_history(data):
                raise CommandError(f"{name}:{number}: {error}" if in_lines else f"{name}: {error}") from None
            return None
    return entries


def _of_sample(name: str, data: bytes) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at byte {error.start + 1:,}"
        raise CommandError(f"{name}: not UTF-8 text: {byte}; expected JSON, or the text of an answer") from None
    if not text.strip():
        raise CommandError(f"{name}: empty; expected a history, or one answer of a tool")
    # Anything else is a text, including JSON that rules do not read.
    value = read_json(text)
    if value is None and text.lstrip()[:1] == '"':
        value = read_string(text)
    return text if value is None else value
