"""The command line reduces a column of Parquet files by row group, and keeps everything else of the files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.arrow.rows import ROWS, as_bytes, column, pa, reduced
from tests.cli.conftest import ENVIRONMENT, LONG, Cli, history

pq = pytest.importorskip("pyarrow.parquet")

RUN = ("--rules", "lookup.yaml", "--column", "m")
COLUMNS = "columns: id (int64), m (string)"
LAYOUTS: tuple[dict[str, Any], ...] = (
    {"compression": {"id": "zstd", "m": "gzip", "l.list.element": "none", "t": "brotli"}},
    {"compression": "lz4", "use_dictionary": False, "store_schema": False},
)


def write(name: str, rows: Any = ROWS, kind: str = "string", size: int = 4, **layout: Any) -> None:
    """Write a table with metadata, in row groups of `size` rows."""
    ids, lists = range(len(rows)), [[number] for number in range(len(rows))]
    times = pa.array(ids, pa.timestamp("us"))
    table = pa.table({"id": ids, "l": lists, "t": times, "m": column(rows, kind)})
    table = table.replace_schema_metadata({"key": "value"})
    pq.write_table(table, name, row_group_size=size, **layout)


def layout(name: str) -> Any:
    """Return the schema of a file, its metadata, the sizes of its row groups and the codecs of their columns."""
    file = pq.ParquetFile(name)
    groups = [file.metadata.row_group(index) for index in range(file.num_row_groups)]
    columns = [one for group in groups for one in map(group.column, range(group.num_columns))]
    codecs = [(one.path_in_schema, one.compression) for one in columns]
    return file.schema, file.schema_arrow.metadata, [group.num_rows for group in groups], codecs


@pytest.mark.parametrize(("kept", "jobs"), [(LAYOUTS[0], ("--jobs", "2")), (LAYOUTS[1], ())])
def test_only_the_column_changes(folder: Path, cli: Cli, kept: dict[str, Any], jobs: tuple[str, ...]) -> None:
    write("h.parquet", **kept)
    old = pq.read_table("h.parquet")
    result = cli("h.parquet", *RUN, "-o", "out/", *jobs)
    assert result.code == 0
    new = pq.read_table("out/h.parquet")
    assert as_bytes(new["m"]) == reduced(ROWS)
    assert new.drop_columns("m").equals(old.drop_columns("m"))
    assert new.schema.equals(old.schema, check_metadata=True)
    assert layout("out/h.parquet") == layout("h.parquet")
    assert result.err.endswith(f"reducer: wrote out/, {os.path.getsize('out/h.parquet'):,} bytes\n")
    assert os.listdir("out") == ["h.parquet"]


@pytest.mark.parametrize("kind", ["binary", "large_string", "string_view", "dictionary"])
def test_every_type_of_text_is_reduced(folder: Path, cli: Cli, kind: str) -> None:
    rows = [LONG, None, LONG, b"no"]
    array = column(rows, "string").dictionary_encode() if kind == "dictionary" else column(rows, kind)
    pq.write_table(pa.table({"m": array}), "h.parquet")
    result = cli("h.parquet", *RUN, "-o", "out.parquet", "--format", "json")
    new = pq.read_table("out.parquet")["m"]
    assert (new.type, as_bytes(new)) == (array.type, reduced(rows))
    assert result.json["totals"]["calls"] == 2
    bad = {"line": 4, "why": "not JSON: Expecting value at column 1"}
    line_sum = {"history": "h.parquet", "lines": 4, "bad": 1, "first_bad": [bad], "noun": "row"}
    assert result.json["lines"] == [line_sum]


def test_the_dry_run_reads_parquet(folder: Path, cli: Cli) -> None:
    write("h.parquet", [LONG, None, *[b"no"] * 7], size=2)
    write("i.parquet", [LONG])
    result = cli("h.parquet", "i.parquet", *RUN)
    assert result.code == 0
    assert result.out.startswith("Read     2 files, 10 rows\n")
    assert "  Rows that cannot be read, kept unchanged\n    h.parquet: 7 of 9 rows: 3, 4, 5, 6, 7, …\n" in result.out
    assert result.err.endswith("reducer: h.parquet:7: not JSON: Expecting value at column 1\n")
    assert cli("h.parquet", *RUN, "--strict").code == 1
    details = cli("h.parquet", *RUN, "--format", "diff").out
    assert "h.parquet:1\n\nlookup c1 (lookup.yaml, message 3, part 1)\n" in details


def test_standard_output_and_a_file_without_row_groups(folder: Path, cli: Cli) -> None:
    write("h.parquet", [LONG])
    command = [sys.executable, "-m", "reducer", "h.parquet", *RUN, "-o", "-"]
    done = subprocess.run(command, capture_output=True, env=ENVIRONMENT, check=True)
    assert as_bytes(pq.read_table(pa.BufferReader(done.stdout))["m"]) == reduced([LONG])
    pq.ParquetWriter("empty.parquet", pa.schema({"m": pa.string()})).close()
    assert cli("empty.parquet", "h.parquet", *RUN, "-o", "out/").code == 0
    assert layout("out/empty.parquet") == layout("empty.parquet")


def test_a_folder_contains_parquet_files(folder: Path, cli: Cli) -> None:
    (folder / "in" / "day=1").mkdir(parents=True)
    (folder / "in" / "a.json").write_bytes(LONG)
    write("in/day=1/b.parquet")
    assert cli("in", *RUN, "-o", "out/").code == 0
    assert as_bytes(pq.read_table("out/day=1/b.parquet")["m"]) == reduced(ROWS)
    assert (folder / "out" / "a.json").read_bytes() == reduced([LONG])[0]
    assert cli("in", *RUN[:2]).out.startswith("Read     in/a.json\n")


def damage(folder: Path) -> None:
    """Write files that cannot be read, next to the file `h.parquet`."""
    pq.write_table(pa.table({"id": range(10), "m": [LONG.decode()] * 10}), "h.parquet", compression="zstd")
    whole = (folder / "h.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[:-9])
    start = whole.index(b"\x28\xb5\x2f\xfd")
    (folder / "damaged.parquet").write_bytes(whole[:start] + b"\0" * 4 + whole[start + 4 :])
    (folder / "empty.parquet").write_bytes(b"")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("h.parquet", f"h.parquet: add --column with the column of the histories; {COLUMNS}"),
        ("h.parquet --column id", f"h.parquet: the column `id` has the type int64, not text or binary; {COLUMNS}"),
        ("cut.parquet --column m", "cut.parquet: not a Parquet file, or damaged: Parquet magic bytes not found"),
        ("empty.parquet --column m", "empty.parquet: not a Parquet file, or damaged: Parquet file size is 0 bytes"),
        ("damaged.parquet --column m", "damaged.parquet: not a Parquet file, or damaged: "),
        ("damaged.parquet --column m --jobs 2", "damaged.parquet: not a Parquet file, or damaged: "),
        ("h.json --column m", "--column requires Parquet files (.parquet)"),
        ("h.parquet --column m --archive a.db", "--archive does not support Parquet files"),
    ],
)
def test_an_error_leaves_no_file(folder: Path, cli: Cli, arguments: str, error: str) -> None:
    damage(folder)
    before = set(os.listdir())
    result = cli(*arguments.split(), "--rules", "lookup.yaml", "-o", "out.parquet")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"reducer: error: {error}")
    assert set(os.listdir()) == before


def test_other_files_are_written_despite_a_damaged_one(folder: Path, cli: Cli) -> None:
    damage(folder)
    assert (cli("damaged.parquet", "h.parquet", *RUN, "-o", "out/").code, os.listdir("out")) == (2, ["h.parquet"])


def test_a_full_disk_leaves_no_file(folder: Path) -> None:
    write("h.parquet", [history(("other", {"text": os.urandom(50_000).hex()}))])
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))"
    run = f"from reducer.cli import main; sys.exit(main({['h.parquet', *RUN, '-o', 'out/h.parquet']}))"
    done = subprocess.run([sys.executable, "-c", f"{limited}; {run}"], capture_output=True, env=ENVIRONMENT, text=True)
    assert (done.returncode, done.stderr) == (2, "reducer: error: out/h.parquet: File too large\n")
    assert os.listdir("out") == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the unit of the memory differs")
def test_a_worker_needs_less_than_400_mb_for_row_groups_of_64_mb(folder: Path) -> None:
    rows = [history(("lookup", {"records": [os.urandom(5_000).hex()] * 10})) for _ in range(670)]
    write("h.parquet", rows, size=len(rows))
    group = pq.ParquetFile("h.parquet").metadata.row_group(0)
    assert group.total_byte_size > 64 * 2**20
    usage = "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
    run = f"from reducer.cli import main; main({['h.parquet', *RUN, '-o', 'out.parquet', '--jobs', '2']})"
    command = [sys.executable, "-c", f"import resource; {run}; {usage}"]
    done = subprocess.run(command, capture_output=True, env=ENVIRONMENT, text=True, check=True)
    assert int(done.stdout.split()[-1]) < 400
