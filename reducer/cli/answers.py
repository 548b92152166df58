"""Answers of tools, from stored histories and from samples: files that contain one answer each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reducer.cli.inputs import Selection, find_sources
from reducer.cli.messages import CommandError
from reducer.errors import HistoryError
from reducer.formats.json_text import read_json, read_string
from reducer.histories.stored import Return, returns
from reducer.strict_json import loads


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its file, its tool, and its call as `--call` names it; a sample has neither tool nor call."""

    file: str
    tool: str
    call: str
    content: Any


def each_answer(names: Sequence[str], tool: str | None, call: str | None = None) -> Iterator[Answer]:
    """Yield the answers in histories and samples that `--tool` and `--call` select.

    Raises `CommandError`, also if there are none.
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
            name = f"{entry.call_id}#{entry.nth}" if entry.nth > 1 else entry.call_id
            yield Answer(source.name, entry.tool, name, entry.content)
    if not is_found:
        raise selection.nothing_found()


def _of_history(name: str, data: bytes) -> list[Return] | None:
    """Return the reducible returns of a history or of JSON lines, None for a sample. Raises `CommandError`."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    in_lines = len(lines) > 1 and _looks_like_history(lines[0])
    found: list[Return] = []
    for number, text in enumerate(lines if in_lines else [data], 1):
        try:
            found += (entry for entry in returns(text) if not entry.untouched)
        except HistoryError as error:
            if in_lines or _looks_like_history(data):
                raise CommandError(f"{name}:{number}: {error}" if in_lines else f"{name}: {error}") from None
            return None
    return found


def _looks_like_history(data: bytes) -> bool:
    """Tell whether JSON is probably meant as a history: its first item is an object with parts."""
    try:
        value = loads(data)
    except (ValueError, RecursionError):
        return False
    first = value[0] if type(value) is list and value else None
    return type(first) is dict and type(first.get("parts")) is list and ("kind" in first or "role" in first)


def _of_sample(name: str, data: bytes) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at byte {error.start + 1:,}"
        raise CommandError(f"{name}: not UTF-8 text: {byte}; expected JSON, or the text of an answer") from None
    if not text.strip():
        raise CommandError(f"{name}: empty; expected a history, or one answer of a tool")
    # Anything but JSON is an answer in words, including JSON that rules would not read.
    value = read_json(text)
    if value is None and text.lstrip()[:1] == '"':
        value = read_string(text)
    return text if value is None else value
