"""JSON lines: files that hold a history on each line, plain or in an archive, read and written piece by piece; knows nothing of histories."""

from __future__ import annotations

from reducer.lines.archive import ArchiveError, Kind, kind_of, open_archive, packed
from reducer.lines.form import ENDINGS, are_lines, is_lines_name
from reducer.lines.pieces import MAX_LINE, Piece, cut, lines_of
from reducer.lines.stream import Stream
from reducer.lines.weight import is_heavy

__all__ = [
    "ENDINGS",
    "MAX_LINE",
    "ArchiveError",
    "Kind",
    "Piece",
    "Stream",
    "are_lines",
    "cut",
    "is_heavy",
    "is_lines_name",
    "kind_of",
    "lines_of",
    "open_archive",
    "packed",
]
