"""Reduce a column of stored histories in Arrow tables.

`reduce_column(batch, column, rules)` takes and returns a `pyarrow` record batch or table. The workers of Ray, Spark and
`multiprocessing` can call it with a `Reducer`, which is pickled with the texts of its rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from operator import is_
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from reducer.analysis.look import LookOptions, look
from reducer.api import Reducer
from reducer.errors import HistoryError, did_you_mean, nearest

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise ImportError("Arrow and Parquet need the package pyarrow: pip install 'reducer[arrow]'") from None

_BYTES = pa.large_binary()
_TYPES = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
"""The types of columns that can contain histories."""
_T = TypeVar("_T")


class RowReport(NamedTuple):
    """What the rules did to the tool returns of the history in a row. Null if the row is null or not a history.

    - `characters_before` and `characters_after` are sizes, `returns_reduced` counts the returns that changed.
    - `entities_kept` and `references_kept` count what the result still contains of the `entities`, and of the values to
      which the agent made `references` later.
    - `error` is the reason why the row is not a history, or null.
    """

    characters_before: int | None = None
    characters_after: int | None = None
    returns_reduced: int | None = None
    entities: int | None = None
    entities_kept: int | None = None
    references: int | None = None
    references_kept: int | None = None
    error: str | None = None


def reduce_column(
    batch: Any,
    column: str,
    rules: Reducer | Path | str,
    *,
    report: bool = False,
    references: bool = True,
    repeats: bool = False,
) -> Any:
    """Reduce a column of stored histories (text or binary, also dictionary-encoded) of a record batch or table.

    Rows that are null or not a history stay. Chunks without changes stay the same objects, and so does a batch without
    changes. `report` adds a column for each field of `RowReport`, named `COLUMN_FIELD`. `references` and
    `repeats`: see `Reducer.reduce`. Raises `RuleError`, and `ValueError` with the names of the columns if the column is
    missing or has another type, or if the batch already has a column of the report.
    """
    reducer = rules if isinstance(rules, Reducer) else Reducer.load(rules)
    if not report:
        return map_column(batch, column, partial(_reduce_row, reducer, references, repeats))[0]
    names = {f"{column}_{name}": name for name in RowReport._fields}
    for title in names:
        if title in batch.schema.names:
            raise ValueError(f"the report needs the name of the column `{title}`; {columns(batch.schema)}")
    batch, reports = map_column(batch, column, partial(_report_row, reducer, references, repeats))
    for title, name in names.items():
        values = [getattr(one, name, None) for one in reports]
        batch = batch.append_column(title, pa.array(values, pa.string() if name == "error" else pa.int64()))
    return batch


# --- one row


def _reduce_row(reducer: Reducer, references: bool, repeats: bool, row: bytes) -> tuple[bytes, None]:
    try:
        return reducer.reduce_json(row, references, repeats), None
    except HistoryError:
        return row, None


def _report_row(reducer: Reducer, references: bool, repeats: bool, row: bytes) -> tuple[bytes, RowReport]:
    options = LookOptions(writes=True, measured=True, as_written=True, references=references, repeats=repeats)
    try:
        found = look(reducer.ruleset, "", row, options)
    except HistoryError as error:
        return row, RowReport(error=str(error).encode(errors="backslashreplace").decode())
    total = sum(found.tally.tools.values(), Counter[str]())
    measures = found.tally.measures
    assert measures is not None
    return found.output, RowReport(
        characters_before=total["before"],
        characters_after=total["after"],
        returns_reduced=total["reduced"],
        entities=measures.recall.total,
        entities_kept=measures.recall.kept,
        references=measures.references,
        references_kept=measures.kept,
    )


# --- columns


def map_column(batch: Any, column: str, function: Callable[[bytes], tuple[bytes, _T]]) -> tuple[Any, list[_T | None]]:
    """Apply `function` to the bytes of a column; return the batch with the new bytes, and the other result by row.

    The function returns the same object to keep a row. It is not called for null, which has the result None, and once
    for each value of a dictionary. A batch without changes stays the same object. Raises `ValueError`.
    """
    index = column_index(batch.schema, column)
    old = batch.column(index)
    is_chunked = isinstance(old, pa.ChunkedArray)
    chunks = old.chunks if is_chunked else [old]
    results: list[_T | None] = []
    arrays = []
    for chunk in chunks:
        array, of_chunk = _map(chunk, function)
        arrays.append(array)
        results += of_chunk
    if all(map(is_, arrays, chunks)):
        return batch, results
    new = pa.chunked_array(arrays, old.type) if is_chunked else arrays[0]
    return batch.set_column(index, batch.schema.field(index), new), results


def _map(array: Any, function: Callable[[bytes], tuple[bytes, _T]]) -> tuple[Any, list[_T | None]]:
    """Map an array, and return the same object if nothing changes."""
    if isinstance(array, pa.ExtensionArray):
        old = array.storage
        new, results = _map(old, function)
        return array if new is old else pa.ExtensionArray.from_storage(array.type, new), results
    if isinstance(array, pa.DictionaryArray):
        return _map_dictionary(array, function)
    rows: list[bytes | None] = []
    results = []
    is_changed = False
    for value in array:
        row = new = result = None
        if value.is_valid:
            row = value.as_buffer().to_pybytes()
            new, result = function(row)
        rows.append(new)
        results.append(result)
        is_changed = is_changed or new is not row
    # `safe` would raise an error for rows that are not UTF-8, which stay.
    return pa.array(rows, _BYTES).cast(array.type, safe=False) if is_changed else array, results


def _map_dictionary(array: Any, function: Callable[[bytes], tuple[bytes, _T]]) -> tuple[Any, list[_T | None]]:
    """Map the values that a dictionary array uses. Those that become equal share one entry."""
    used = array.indices.unique().drop_null()
    old = array.dictionary.cast(_BYTES).take(used)
    new, of_used = _map(old, function)
    positions = pc.index_in(array.indices, used)
    results = [None if position is None else of_used[position] for position in positions.to_pylist()]
    if new is old:
        return array, results
    values = new.unique().drop_null()
    indices = pc.index_in(new, values).take(positions).cast(array.type.index_type)
    dictionary = values.cast(array.type.value_type, safe=False)
    return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=array.type.ordered), results


def column_index(schema: Any, column: str) -> int:
    """Return the index of a column of text or binary. Raises `ValueError` with the names of the columns."""
    indices = schema.get_all_field_indices(column)
    if len(indices) != 1:
        if indices:
            raise ValueError(f"{len(indices)} columns are called `{column}`; {columns(schema)}")
        question = did_you_mean(nearest(column, schema.names))
        hint = f"; {question}" if question else ""
        raise ValueError(f"no column is called `{column}`; {columns(schema)}{hint}")
    kind = stored = schema.field(indices[0]).type
    if isinstance(kind, pa.BaseExtensionType):
        stored = kind.storage_type
    if isinstance(stored, pa.DictionaryType):
        stored = stored.value_type
    if str(stored) not in _TYPES:
        raise ValueError(f"the column `{column}` has the type {kind}, not text or binary; {columns(schema)}")
    return int(indices[0])


def columns(schema: Any) -> str:
    """List the columns with their types."""
    return f"columns: {', '.join(f'{field.name} ({field.type})' for field in schema)}"
