"""Read a source in chunks: whole histories, samples, and pieces of JSON lines that need little memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from itertools import chain
from typing import IO, Literal, NamedTuple

from reducer.analysis.samples import sample_content
from reducer.errors import FileError, HistoryError
from reducer.histories.source import BOM
from reducer.inputs.sources import LINES_ENDINGS, Source, open_source
from reducer.values import loads

MAX_LINE = 16 * 1024 * 1024
"""Maximum length of a line in bytes, including its line end. Longer lines are not read."""
TOO_LONG = "longer than 16 MB"
"""Why a line is not read."""

MAX_HISTORY = 256 * 1024 * 1024
"""Maximum size of a history outside of JSON lines in decompressed bytes. Reducing it needs eight times this memory."""

_MAX_LINES_READ = 300_000
"""Lines that are searched for the first two values, because lines can be blank."""
_MIN_CHUNK = 2 * 1024 * 1024
"""Minimum bytes of a chunk of lines: a process keeps several in memory, and compresses each separately."""
_DAMAGED = re.compile(
    rb'\s*\[\s*\{\s*("parts"\s*:\s*\[\s*\{[^{}]*"(part_kind|type)"|"(kind|role)"[^{[]*"parts"\s*:\s*\[)'
)
"""The beginning of a history that cannot be read."""


class Chunk(NamedTuple):
    """A part of a file: a whole `history`, complete `lines` of JSON lines, or a `long line` and the `rest` of it.

    A long line is not read. A `sample` is a file without a history, as a history with one return. A `row group` of a
    Parquet file has no content. `number` is that of the first line or of the row group, otherwise 0.
    """

    kind: Literal["history", "lines", "long line", "rest", "sample", "row group"]
    number: int
    content: bytes

    def place(self, file: str) -> str:
        """Return the name of the file, with the number of the line in JSON lines."""
        return f"{file}:{self.number}" if self.number else file

    @property
    def is_blank(self) -> bool:
        """Return whether these are empty lines."""
        return self.kind == "lines" and not self.content.strip()


def read_chunks(source: Source, *, tool: str | None = None) -> Iterator[Chunk]:
    """Yield the chunks of a source, at least one. With `tool`, a file without a history is a sample of this tool.

    This decides for all verbs what a file contains:

    - JSON lines, if its name says so, or if its first line is a JSON object or list and another line follows. Each line
      is a history; a line that is none is reported, and the others are read.
    - One history otherwise.
    - One sample, if it contains no history and the verb accepts samples: then JSON lines are a text of this sample.

    Raises `FileError`.
    """
    with open_source(source) as stream:
        chunks = _chunks(stream, source.name)
        yield from chunks if tool is None else _history_or_sample(chunks, source.name, tool)


def read_lines(source: Source, *, tool: str | None = None) -> Iterator[Chunk]:
    """Yield each line of JSON lines, with the beginning of a long one, or one history or sample. Raises `FileError`."""
    for chunk in read_chunks(source, tool=tool):
        if chunk.kind == "lines":
            for number, line in enumerate(BytesIO(chunk.content), chunk.number):
                yield chunk._replace(number=number, content=line.removesuffix(b"\n"))
        elif chunk.kind != "rest":
            yield chunk


def _history_or_sample(chunks: Iterator[Chunk], name: str, tool: str) -> Iterator[Chunk]:
    """Yield chunks that contain a history, or all of them as one sample. Raises `FileError`."""
    first: list[Chunk] = []
    size = 0
    for chunk in chunks:
        first.append(chunk)
        size += len(chunk.content)
        if _has_history(chunk):
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


def _has_history(chunk: Chunk) -> bool:
    """Return whether a chunk is a history, or contains a line that is one."""
    if chunk.kind == "history":
        return _is_history(chunk.content)
    return chunk.kind == "lines" and any(map(_is_history, chunk.content.split(b"\n")))


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
    before a long line or at the end of the file. Raises `FileError` above `MAX_HISTORY` bytes.
    """
    are_lines, head = (True, []) if name.lower().endswith(LINES_ENDINGS) else _detect_lines(stream)
    if not are_lines:
        content = b"".join([*head, stream.read(MAX_HISTORY + 1)])
        if len(content) > MAX_HISTORY:
            raise FileError(f"{name}: larger than {MAX_HISTORY:,} bytes; split it into histories in JSON lines")
        yield Chunk("history", 0, content)
        return
    number, parts = 1, _parts(stream, head)
    for kind, content in chain([next(parts, ("lines", b""))], parts):
        yield Chunk(kind, number, content)
        number += content.count(b"\n")


def _detect_lines(stream: IO[bytes]) -> tuple[bool, list[bytes]]:
    """Return whether the first line that is not blank is a JSON value and another one follows, and the lines read.

    A single line of more than `MAX_LINE` bytes is a history, not JSON lines. So is a value between many blank lines.
    """
    head: list[bytes] = []
    values = 0
    while values < 2 and len(head) < _MAX_LINES_READ and (line := stream.readline(MAX_LINE + 1)):
        head.append(line)
        value = line.removeprefix(BOM).strip(b" \t\r\n")
        values += value != b""
        if len(line) > MAX_LINE or (values == 1 and value and not _is_structure(value)):
            break
    return values == 2, head


def _is_structure(line: bytes) -> bool:
    try:
        return type(loads(line)) in (dict, list)
    except (ValueError, RecursionError):
        return False


def _parts(stream: IO[bytes], head: list[bytes]) -> Iterator[tuple[Literal["lines", "long line", "rest"], bytes]]:
    lines: list[bytes] = []
    size = 0
    for line in chain(head, iter(partial(stream.readline, MAX_LINE + 1), b"")):
        is_long = len(line) > MAX_LINE
        if not is_long:
            lines.append(line)
            size += len(line)
        if lines and (is_long or size >= _MIN_CHUNK):
            yield "lines", b"".join(lines)
            lines, size = [], 0
        if is_long:
            yield "long line", line
        while is_long and not line.endswith(b"\n") and (line := stream.readline(_MIN_CHUNK)):
            yield "rest", line
    if lines:
        yield "lines", b"".join(lines)
