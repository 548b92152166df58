"""Answers of tools: the tool returns of histories, and samples, which are files with one answer each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from reducer.cli.files import Selection, Source, find_sources, history_in, read_lines
from reducer.cli.screen import CommandError, say, say_skipped
from reducer.errors import HistoryError
from reducer.formats import decode
from reducer.formats.json_text import read_json, read_string
from reducer.histories.stored import returns


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
    skipped: list[str] = []
    is_found = False
    for answer in chain.from_iterable(answers_in(source, selection, skipped) for source in sources):
        is_found = True
        yield answer
    say_skipped(skipped)
    if not is_found:
        raise selection.nothing_found(sources)


def answers_in(source: Source, selection: Selection, skipped: list[str]) -> Iterator[Answer]:
    """Yield the selected answers of histories, or the answer that a sample contains.

    Lines of JSON lines that are no histories are added to `skipped`. Raises `CommandError`.
    """
    for line in read_lines(source, or_sample=selection.call is None):
        if line.kind == "sample":
            yield Answer(source.name, selection.tool or "", "", read_answer(source.name, line.content))
            continue
        try:
            for entry in returns(history_in(line)):
                if not entry.untouched and selection.matches(entry):
                    yield Answer(source.name, entry.tool, entry.name, entry.content)
        except HistoryError as error:
            if not line.number:
                raise CommandError(f"{source.name}: {error}") from None
            if not line.is_blank:
                skipped.append(f"{source.name}:{line.number}: {error}")


def as_history(name: str, data: bytes, tool: str) -> bytes:
    """Return a history with the answer in a sample as its only return, of `tool`. Raises `CommandError`."""
    part = {"part_kind": "tool-return", "tool_name": tool, "tool_call_id": name, "content": read_answer(name, data)}
    return json.dumps([{"kind": "request", "parts": [part]}]).encode()


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
