"""Ray and Spark reduce a column with two workers, one of which is killed: no row is lost, and none is there twice."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reducer import Reducer
from tests.arrow.rows import ROWS, as_bytes, pa, reduced
from tests.cli.conftest import ENVIRONMENT

from reducer import arrow  # isort: skip  # needs pyarrow

KILLED = 17
"""The id of the row after which a worker is killed."""


@pytest.fixture
def table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])  # workers import this module
    return pa.table({"id": range(60), "messages": pa.array([*ROWS] * 6, pa.binary())})


def kill_once(batch: Any, marker: Path) -> None:
    """Kill the worker that has the row `KILLED`, the first time."""
    if KILLED in batch["id"].to_pylist() and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def assert_reduced(result: Any, table: Any, marker: Path) -> None:
    assert marker.exists(), "no worker was killed"
    result = result.sort_by("id")
    assert result["id"].to_pylist() == table["id"].to_pylist()
    assert as_bytes(result["messages"]) == reduced(as_bytes(table["messages"]))


def test_ray(folder: Path, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    reducer, marker, copy = Reducer.load("lookup.yaml"), folder / "killed", folder / "copy.yaml"
    shutil.move("lookup.yaml", copy)

    def reduce_or_die(batch: Any) -> Any:
        kill_once(batch, marker)
        return arrow.reduce_column(batch, "messages", reducer)

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        rows = ray.data.from_arrow(table).repartition(8)
        result = rows.map_batches(reduce_or_die, batch_format="pyarrow", batch_size=4)
        tables = ray.get(result.to_arrow_refs())
    finally:
        ray.shutdown()
    shutil.move(copy, "lookup.yaml")
    assert_reduced(pa.concat_tables(tables), table, marker)


def test_spark(folder: Path, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    reducer, marker, copy = Reducer.load("lookup.yaml"), folder / "killed", folder / "copy.yaml"
    shutil.move("lookup.yaml", copy)

    def reduce_or_die(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield arrow.reduce_column(batch, "messages", reducer)  # the worker has written some rows when it dies
            kill_once(batch, marker)

    # Two workers; a task may fail three times.
    builder = sql.SparkSession.builder.master("local[2, 4]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", 4).getOrCreate()
    try:
        rows = spark.createDataFrame(table).repartition(4)
        result = rows.mapInArrow(reduce_or_die, rows.schema).toArrow()
    finally:
        spark.stop()
    shutil.move(copy, "lookup.yaml")
    assert_reduced(result, table, marker)
