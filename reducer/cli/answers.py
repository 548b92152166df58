"""Answers of tools: the tool returns of histories, and samples, which are files with one answer each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from reducer.cli.files import Selection, Source, find_sources
from reducer.cli.screen import CommandError, say
from reducer.errors import HistoryError
from reducer.formats import decode
from reducer.formats.json_text import read_json, read_string
from reducer.histories.stored import returns

_DAMAGED = re.compile(
    rb'\s*\[\s*\{\s*("parts"\s*:\s*\[\s*\{[^{}]*"(part_kind|type)"|"(kind|role)"[^{[]*"parts"\s*:\s*\[)'
)
"""The beginning of a history that cannot be read."""
_MAX_LINES = 10


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a tool, with the call as `--call` names it. A sample has no call, and its tool may be empty."""

    file: str
    tool: str
    call: str
    content: Any


def each_answer(names: Sequence[str], tool: str | None, call: str | None = None) -> Iterator[Answer]:
    """Yield the answers that `--tool` and `--call` select, at least one. Raises `CommandError` and OSError."""
    selection = Selection(tool, call)
    sources = find_sources(names)
    is_found = False
    for answer in chain.from_iterable(answers_in(source, selection) for source in sources):
        is_found = True
        yield answer
    if not is_found:
        raise selection.nothing_found(sources)


def answers_in(source: Source, selection: Selection) -> Iterator[Answer]:
    """Yield the selected answers of histories, or the answer that a sample contains. Raises `CommandError`."""
    data = source.read()
    histories = _histories(data)
    if not histories and selection.call is None:
        yield Answer(source.name, selection.tool or "", "", read_answer(source.name, data))
    for number, history in enumerate(histories, 1):
        try:
            for entry in returns(history):
                if not entry.untouched and selection.matches(entry):
                    yield Answer(source.name, entry.tool, entry.name, entry.content)
        except HistoryError as error:
            name = f"{source.name}:{number}" if len(histories) > 1 else source.name
            raise CommandError(f"{name}: {error}") from None


def as_history(name: str, data: bytes, tool: str | None) -> bytes:
    """Return data that contains histories, or a history with this answer as its only return, of `tool`.

    Without a tool, return the data. Raises `CommandError` if it contains neither histories nor an answer.
    """
    if tool is None or _histories(data):
        return data
    part = {"part_kind": "tool-return", "tool_name": tool, "tool_call_id": name, "content": read_answer(name, data)}
    return json.dumps([{"kind": "request", "parts": [part]}]).encode()


def _histories(data: bytes) -> list[bytes]:
    """Return the lines of JSON lines with histories, the history in the data, or nothing for an answer."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    in_lines = len(lines) > 1 and any(map(_is_history, lines[:_MAX_LINES]))
    return lines if in_lines else [data] if _is_history(data) else []


def _is_history(data: bytes) -> bool:
    """Return whether data is a history, even a damaged one."""
    try:
        next(returns(data), None)
    except HistoryError:
        return _DAMAGED.match(data) is not None
    return True


def read_answer(name: str, data: bytes) -> Any:
    """Return the JSON object, list or text in a file with one answer. Raises `CommandError`."""
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
    if value is None and name.lower().endswith(".json") and decode(text) == text:
        say(f"{name}: not JSON that rules can read, so it is a text")
    return text if value is None else value
