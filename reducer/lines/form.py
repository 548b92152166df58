"""Which files hold JSON lines: by name, or by how they begin."""

from __future__ import annotations

import re

from reducer.lines.pieces import MAX_LINE
from reducer.lines.stream import Stream
from reducer.reading import loads

_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+")
_LINES = (".jsonl", ".ndjson")
_ARCHIVES = ("", ".gz", ".zst")
ENDINGS = tuple(ending + archive for ending in (".json", *_LINES) for archive in _ARCHIVES)
"""How the names of files end that may hold histories."""


def is_lines_name(name: str) -> bool:
    """Tell whether a file of this name holds JSON lines, whatever it begins with."""
    lower = name.lower()
    return lower.endswith(tuple(ending + archive for ending in _LINES for archive in _ARCHIVES))


def are_lines(stream: Stream) -> bool:
    """Tell whether the first line that is not blank is a JSON value and something follows it. Nothing is read of the stream in the end.

    One line of more than `MAX_LINE` bytes is a JSON text of its own.
    """
    head = bytearray()
    start = end = searched = 0
    try:
        while len(head) <= MAX_LINE + 1:
            found = stream.read(max(1 << 16, len(head)))
            head += found
            if not end:
                start = _BLANK.match(head, start).end()  # type: ignore[union-attr]
                end = max(0, head.find(b"\n", max(start, searched)))
                searched = len(head)
                if end - start > MAX_LINE or (end and not _is_value(head[start:end])):
                    return False
            if end and head[end:].strip(b" \t\r\n"):
                return True
            if not found:
                return False
        return False
    finally:
        stream.back(bytes(head))


def _is_value(line: bytearray) -> bool:
    if not line.startswith((b"{", b"[")):
        return False
    try:
        loads(line)
    except (ValueError, RecursionError):
        return False
    return True
