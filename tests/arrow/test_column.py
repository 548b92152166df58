"""A column of an Arrow table is reduced like its rows in a loop, and nothing else of the table changes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from reducer import HistoryError, Reducer
from tests.arrow.rows import BAD, COLUMNS, ROWS, SHORT, as_bytes, column, pa, reduced
from tests.cli.conftest import ENVIRONMENT, LONG, history

from reducer import arrow  # isort: skip  # needs pyarrow

REPORT = ("characters_before", "characters_after", "returns_reduced", "entities", "entities_kept")
REPORT = (*REPORT, "references", "references_kept", "error")
COLUMN_NAMES = "columns: id (int64), messages (string), messages_error (null)"


@pytest.fixture
def rules(folder: Path) -> Reducer:
    return Reducer.load("lookup.yaml")


def addresses(array: Any) -> list[int | None]:
    return [buffer and buffer.address for buffer in array.buffers()]


# --- rows


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize(("references", "is_dictionary"), [(True, False), (False, True)])
def test_the_rows_of_a_batch_are_reduced(rules: Reducer, kind: str, references: bool, is_dictionary: bool) -> None:
    array = column(ROWS, kind)
    if is_dictionary:
        array = pa.DictionaryArray.from_arrays(pa.array([*range(10), 0, None], pa.uint8()), array, ordered=True)
    fields = [pa.field("id", pa.int64()), pa.field("messages", array.type, metadata={"a": "b"})]
    batch = pa.record_batch([pa.array(range(len(array))), array], pa.schema(fields, metadata={"k": "v"}))
    result = arrow.reduce_column(batch, "messages", rules, references=references)
    result.validate(full="view" not in kind and kind not in ("string", "large_string"))
    assert result.schema.equals(batch.schema, check_metadata=True)
    assert as_bytes(result["messages"]) == reduced(as_bytes(array), references)
    assert addresses(result["id"]) == addresses(batch["id"])
    assert arrow.reduce_column(result, "messages", rules, references=references) is result


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_table_is_reduced_like_its_rows_in_a_loop(rules: Reducer, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(COLUMNS))
    rows = st.lists(st.sampled_from(ROWS), max_size=6)
    chunks = [column(chunk, kind) for chunk in data.draw(st.lists(rows, max_size=4))]
    start = data.draw(st.integers(0, 3))
    chunks = [chunk[start:] for chunk in chunks]
    if kind in ("binary", "large_binary") and data.draw(st.booleans()):
        chunks = [chunk.dictionary_encode() for chunk in chunks]
    table = pa.table({"messages": pa.chunked_array(chunks, chunks[0].type if chunks else column([], kind).type)})
    result = arrow.reduce_column(table, "messages", rules)
    expected = reduced(as_bytes(table["messages"]))
    assert result.schema == table.schema
    assert as_bytes(result["messages"]) == expected
    event(f"changed: {result is not table}")
    for old, new in zip(table["messages"].chunks, result["messages"].chunks, strict=True):
        if as_bytes(old) == as_bytes(new):
            assert addresses(old) == addresses(new)


def test_a_value_of_a_dictionary_is_reduced_once_and_equal_results_share_an_entry() -> None:
    array = pa.DictionaryArray.from_arrays(
        pa.array([2, 0, None, 2, 1, 4], pa.int8()), pa.array([b"aa", b"aB", b"b", b"unused", None])
    )
    seen = []

    def first(row: bytes) -> tuple[bytes, int]:
        seen.append(row)
        return (row[:1], len(seen)) if len(row) > 1 else (row, len(seen))

    result, found = arrow.map_column(pa.record_batch({"m": array[1:]}), "m", first)
    assert seen == [b"aa", b"b", b"aB"]
    assert result["m"].to_pylist() == [b"a", None, b"b", b"a", None]
    assert result["m"].dictionary.to_pylist() == [b"a", b"b"]
    assert result["m"].type == array.type
    assert found == [1, None, 2, 3, None]


def test_a_json_column_stays_one(rules: Reducer) -> None:
    array = pa.array([LONG.decode(), None]).cast(pa.json_())
    result = arrow.reduce_column(pa.table({"m": array}), "m", rules)
    assert result["m"].type == pa.json_()
    assert as_bytes(result["m"].chunk(0).storage) == reduced([LONG, None])
    same = pa.table({"m": array[1:]})
    assert arrow.reduce_column(same, "m", rules) is same


def test_repeats_are_left_out(rules: Reducer) -> None:
    text = "seen by the sensor in the north " * 9
    row = history(("lookup", text), ("lookup", text))
    batch = pa.record_batch({"messages": pa.array([row, None])})
    for report in (False, True):
        result = arrow.reduce_column(batch, "messages", rules, report=report, repeats=True)
        assert as_bytes(result["messages"]) == [rules.reduce_json(row, repeats=True), None]
    assert result["messages_returns_reduced"].to_pylist() == [1, None]


# --- the report


def test_a_report_describes_each_row(rules: Reducer) -> None:
    batch = pa.record_batch({"messages": pa.array(ROWS), "id": pa.array(range(len(ROWS)))})
    result = arrow.reduce_column(batch, "messages", rules, report=True)
    assert result.schema.names == ["messages", "id", *(f"messages_{name}" for name in REPORT)]
    assert as_bytes(result["messages"]) == reduced(ROWS)
    long, null, short, used, *bad = [tuple(row.values())[2:] for row in result.to_pylist()]
    assert null == (None,) * 8
    assert long == (2913, 217, 1, 0, 0, 0, 0, None)
    assert short == (205, 87, 1, 0, 0, 0, 0, None)
    assert used == (2913, 235, 1, 0, 0, 1, 1, None)
    unprotected = arrow.reduce_column(batch, "messages", rules, report=True, references=False).to_pylist()[3]
    assert (unprotected["messages_characters_after"], unprotected["messages_references_kept"]) == (217, 0)
    assert [row[:-1] for row in bad] == [(None,) * 7] * len(BAD)
    for row, of_row in zip(BAD, bad, strict=True):
        with pytest.raises(HistoryError) as problem:
            rules.reduce_json(row)
        assert of_row[-1] == str(problem.value)
    table = pa.table({"messages": pa.chunked_array([pa.array(ROWS[:2]), pa.array(ROWS[2:])])})
    in_chunks = arrow.reduce_column(table, "messages", rules, report=True)
    assert in_chunks.to_pylist() == [{name: row[name] for name in in_chunks.schema.names} for row in result.to_pylist()]


def test_a_report_of_a_dictionary_repeats_the_values(rules: Reducer) -> None:
    array = pa.array([LONG, SHORT, None, LONG]).dictionary_encode()
    result = arrow.reduce_column(pa.table({"m": array}), "m", rules, report=True)
    assert result["m_characters_after"].to_pylist() == [217, 87, None, 217]


# --- what cannot be reduced


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("message", f"no column is called `message`; {COLUMN_NAMES}; did you mean `messages`?"),
        ("x", f"no column is called `x`; {COLUMN_NAMES}"),
        ("id", f"the column `id` has the type int64, not text or binary; {COLUMN_NAMES}"),
        ("messages", f"the report needs the name of the column `messages_error`; {COLUMN_NAMES}"),
    ],
)
def test_errors_list_the_columns(rules: Reducer, name: str, message: str) -> None:
    table = pa.table({"id": [1], "messages": ["[]"], "messages_error": [None]})
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        arrow.reduce_column(table, name, rules, report=True)


def test_two_columns_of_one_name_are_an_error(rules: Reducer) -> None:
    table = pa.Table.from_arrays([pa.array(["[]"]), pa.array([1])], names=["m", "m"])
    with pytest.raises(ValueError, match=r"^2 columns are called `m`; columns: m \(string\), m \(int64\)$"):
        arrow.reduce_column(table, "m", rules)


RUN = "from reducer.cli import main; sys.exit(main(['h.parquet', '--column', 'm']))"


@pytest.mark.parametrize("command", ["from reducer import arrow", RUN])
def test_a_missing_package_is_named(folder: Path, command: str) -> None:
    (folder / "h.parquet").touch()
    without = f"import sys; sys.modules['pyarrow'] = None; {command}"
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode in (1, 2)
    assert done.stderr.endswith("rror: Arrow and Parquet need the package pyarrow: pip install 'reducer[arrow]'\n")
    assert ("Traceback" in done.stderr) == (done.returncode == 1)
