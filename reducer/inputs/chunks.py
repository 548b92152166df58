"""Read a source in chunks: whole histories, samples, and pieces of JSON lines that need little memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain, islice
from typing import IO, Literal, NamedTuple

from reducer.analysis.samples import sample_content
from reducer.errors import FileError, HistoryError
from reducer.histories.source import BOM
from reducer.inputs.sources import LINES_ENDINGS, Source, open_source
from reducer.values import loads

MAX_HISTORY = 256 * 1024 * 1024
"""Maximum size of a history in decompressed bytes. Reducing it needs eight times this memory."""
_MAX_LINES_READ = 300_000
"""Lines that are searched for the first two values, because lines can be blank."""
_MIN_CHUNK = 2 * 1024 * 1024
"""Minimum bytes of a chunk of lines: a process keeps several in memory, and compresses each separately."""
_DAMAGED = re.compile(
    rb'\s*\[\s*\{\s*("parts"\s*:\s*\[\s*\{[^{}]*"(part_kind|type)"|"(kind|role)"[^{[]*"parts"\s*:\s*\[)'
)
"""The beginning of a history that cannot be read."""


class Chunk(NamedTuple):
    """A part of a file: a whole `history`, or complete `lines` of JSON lines.

    A `sample` is a file without a history, as a history with one return. A `row group` of a Parquet file has no
    content. `number` is that of the first line or of the row group, otherwise 0.
    """

    kind: Literal["history", "lines", "sample", "row group"]
    number: int
    content: bytes

    def place(self, file: str) -> str:
        """Return the name of the file, with the number of the line in JSON lines."""
        return f"{file}:{self.number}" if self.number else file

    @property
    def is_blank(self) -> bool:
        """Return whether these are empty lines."""
        return self.kind == "lines" and not self.content.strip()

    @property
    def histories(self) -> list[bytes]:
        """The history, or each line without its end."""
        return self.content.split(b"\n") if self.kind == "lines" else [self.content]


def read_chunks(source: Source, *, tool: str | None = None) -> Iterator[Chunk]:
    """Yield the chunks of a source, at least one. With `tool`, a file without a history is a sample of this tool.

    This decides for all verbs what a file contains:

    - JSON lines, if its name says so, or if its first line is a JSON object or list and another line follows. Each line
      is a history; a line that is none is reported, and the others are read.
    - One history otherwise, or if the first line is of a format that stores one history as JSON lines.
    - One sample, if it contains no history and the verb accepts samples: then JSON lines are a text of this sample.

    Raises `FileError`.
    """
    with open_source(source) as stream:
        chunks = _chunks(stream, source.name)
        yield from chunks if tool is None else _history_or_sample(chunks, source.name, tool)


def read_lines(source: Source, *, tool: str | None = None) -> Iterator[Chunk]:
    """Yield each line of JSON lines, or one history or sample. Raises `FileError`."""
    for chunk in read_chunks(source, tool=tool):
        if chunk.kind == "lines":
            for number, line in enumerate(BytesIO(chunk.content), chunk.number):
                yield chunk._replace(number=number, content=line.removesuffix(b"\n"))
        else:
            yield chunk


def _history_or_sample(chunks: Iterator[Chunk], name: str, tool: str) -> Iterator[Chunk]:
    """Yield chunks that contain a history, or all of them as one sample. Raises `FileError`."""
    first: list[Chunk] = []
    size = 0
    for chunk in chunks:
        first.append(chunk)
        size += len(chunk.content)
        if any(map(_is_history, chunk.histories)):
            yield from first
            yield from chunks
            return
        if size > MAX_HISTORY:
            raise FileError(f"{name}: the first {MAX_HISTORY:,} bytes contain no history, and a sample is smaller")
    content = b"".join(chunk.content for chunk in first)
    if first[0].kind != "history" and _is_history(content):
        raise FileError(f"{name}: one history, not JSON lines; its name must end in .json")
    yield Chunk("sample", 0, _as_history(name, content, tool))


def _as_history(name: str, sample: bytes, tool: str) -> bytes:
    """Return a history with a sample as its only return. Raises `FileError`."""
    content = sample_content(name, sample)
    part = {"part_kind": "tool-return", "tool_name": tool, "tool_call_id": name, "content": content}
    return json.dumps([{"kind": "request", "parts": [part]}]).encode()


def _is_history(data: bytes) -> bool:
    """Return whether data is a history, even a damaged one."""
    from reducer.histories.stored import returns  # takes time to import

    try:
        next(returns(data), None)
    except HistoryError:
        return _DAMAGED.match(data) is not None
    return True


def _chunks(stream: IO[bytes], name: str) -> Iterator[Chunk]:
    """Yield the chunks of a stream, at least one. The joined chunks are its bytes.

    The split depends only on these bytes. A chunk of lines ends with the first line end at or after `_MIN_CHUNK` bytes,
    or at the end of the file. Raises `FileError` for a history above `MAX_HISTORY` bytes.
    """
    ahead: list[bytes] = []
    has_lines_ending = name.lower().endswith(LINES_ENDINGS)
    if (_are_lines(stream, name, ahead) or has_lines_ending) and not _are_one_history(ahead):
        yield from _lines(chain(ahead, _each_line(stream, name)))
    else:
        content = b"".join([*ahead, stream.read(MAX_HISTORY + 1)])
        _check_size(content, name)
        yield Chunk("history", 0, content)


def _each_line(stream: IO[bytes], name: str) -> Iterator[bytes]:
    while line := stream.readline(MAX_HISTORY + 1):
        _check_size(line, name)
        yield line


def _check_size(history: bytes, name: str) -> None:
    if len(history) > MAX_HISTORY:
        raise FileError(f"{name}: a history larger than {MAX_HISTORY:,} bytes; split it")


def _are_lines(stream: IO[bytes], name: str, ahead: list[bytes]) -> bool:
    """Return whether the first line that is not blank is a JSON value and another one follows.

    The lines that were read are added to `ahead`. A value between many blank lines is a history.
    """
    values: list[bytes] = []
    for line in islice(_each_line(stream, name), _MAX_LINES_READ):
        ahead.append(line)
        if value := line.removeprefix(BOM).strip(b" \t\r\n"):
            values.append(value)
        if len(values) == 2:
            return _is_structure(values[0])
    return False


def _are_one_history(ahead: list[bytes]) -> bool:
    from reducer.histories.stored import are_one_history  # takes time to import

    return are_one_history(b"".join(ahead))


def _is_structure(line: bytes) -> bool:
    try:
        return type(loads(line)) in (dict, list)
    except (ValueError, RecursionError):
        return False


def _lines(lines: Iterable[bytes]) -> Iterator[Chunk]:
    """Yield chunks of lines, at least one."""
    number, size = 1, 0
    waiting: list[bytes] = []
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size >= _MIN_CHUNK:
            yield Chunk("lines", number, b"".join(waiting))
            number += len(waiting)
            waiting, size = [], 0
    if waiting or number == 1:
        yield Chunk("lines", number, b"".join(waiting))
