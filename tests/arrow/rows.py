"""Rows of histories, with which the tests of this folder fill columns. They are skipped without `pyarrow`."""

from __future__ import annotations

from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")

from reducer import HistoryError, Reducer  # noqa: E402
from tests.cli.conftest import LONG, RECORDS, history  # noqa: E402

SHORT = history(("lookup", {"records": RECORDS[:2]}))
USED = history(("lookup", {"records": RECORDS}), text="Look at host29.")
BAD = (b"no history", b"", b"\xff", LONG[:99], b'{"\\ud800": 1}', b"[" * 100_000)
ROWS = (LONG, None, SHORT, USED, *BAD)
COLUMNS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")


def column(rows: Any, kind: str) -> Any:
    """Return an array of rows in bytes. A text is not checked, as in a file that another program wrote."""
    return pa.array(rows, pa.large_binary()).cast(getattr(pa, kind)(), safe=False)


def as_bytes(column: Any) -> list[bytes | None]:
    """Return the rows of an array or a chunked array, also if they are dictionary-encoded."""
    if isinstance(column, pa.ChunkedArray):
        return [row for chunk in column.chunks for row in as_bytes(chunk)]
    if isinstance(column, pa.DictionaryArray):
        values = as_bytes(column.dictionary)
        return [None if index is None else values[index] for index in column.indices.to_pylist()]
    return column.cast(pa.large_binary()).to_pylist()  # type: ignore[no-any-return]


def reduced(rows: Any, references: bool = True) -> list[bytes | None]:
    """Reduce rows in a loop with `lookup.yaml`."""
    reducer = Reducer.load("lookup.yaml")

    def one(row: bytes) -> bytes:
        try:
            return reducer.reduce_json(row, references)
        except HistoryError:
            return row

    return [None if row is None else one(row) for row in rows]
