"""Parquet files of histories: `run` reduces a column of each row group and keeps the layout of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING

from reducer.analysis.look import Look, LookOptions, joined, look_at_line
from reducer.analysis.report import LineSum, Tally
from reducer.errors import FileError
from reducer.inputs.chunks import Chunk
from reducer.inputs.sources import Source
from reducer.rules import Ruleset

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

ENDING = ".parquet"
_ROWS = 32
"""Rows in memory as Python objects."""


def is_parquet(source: Source) -> bool:
    """Return whether the name of a source stands for Parquet."""
    return source.name.lower().endswith(ENDING)


def row_groups(name: str, column: str | None) -> Iterator[Chunk]:
    """Yield a chunk for each row group of a file, at least one. Raises `FileError`."""
    with _opened(name) as file:
        from reducer.arrow import column_index, columns

        if column is None:
            raise FileError(f"{name}: add --column with the column of the histories; {columns(file.schema_arrow)}")
        try:
            column_index(file.schema_arrow, column)
        except ValueError as error:
            raise FileError(f"{name}: {error}") from None
        count = max(1, file.num_row_groups)
    for number in range(count):
        yield Chunk("row group", number, b"")


def look_at_row_group(ruleset: Ruleset, name: str, number: int, column: str, options: LookOptions) -> Look:
    """Reduce a column of a row group. The output is an Arrow stream of the row group. Raises `FileError`."""

    def reduce(row: bytes) -> tuple[bytes, Look]:
        found = look_at_line(ruleset, row, options, name)
        return found.output if options.writes else row, found._replace(output=b"")

    def looks() -> Iterator[Look]:
        from reducer.arrow import map_column

        for batch in file.iter_batches(_ROWS, row_groups=[number] if number < file.num_row_groups else []):
            batch, found = map_column(batch, column, reduce)
            if options.writes:
                stream.write(batch)
            yield joined(one or Look(Tally(), LineSum("", lines=1)) for one in found)

    sink = BytesIO()
    with _opened(name) as file:
        import pyarrow as pa

        small = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.ipc.new_stream(sink, file.schema_arrow, options=small) as stream:
            found = joined(looks())
    return found._replace(output=sink.getvalue())


@contextmanager
def writer(name: str, target: IO[bytes]) -> Iterator[Callable[[bytes], None]]:
    """Write a file like the file `name`; yield a function that writes the Arrow stream of a row group.

    The schema, the metadata, the codec of each column and the row groups stay the same. Raises `FileError` and
    OSError.
    """
    codecs = {}
    with _opened(name) as file:
        schema = file.schema_arrow
        if file.num_row_groups:
            group = file.metadata.row_group(0)
            for index in range(group.num_columns):
                column = group.column(index)
                codecs[column.path_in_schema] = column.compression.replace("UNCOMPRESSED", "NONE")
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(stream: bytes) -> None:
        table = pa.ipc.open_stream(stream).read_all()
        if table.num_rows:
            output.write_table(table, table.num_rows)

    with pq.ParquetWriter(target, schema, compression=codecs) as output:
        yield write


@contextmanager
def _opened(name: str) -> Iterator[ParquetFile]:
    """Open a Parquet file, and report errors in it. Raises `FileError`."""
    if not Path(name).is_file():
        raise FileError(f"{name}: not a regular file")
    try:
        import reducer.arrow  # noqa: F401  # names the extra if pyarrow is missing
    except ImportError as error:
        raise FileError(str(error)) from None
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(name) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{name}: not a Parquet file, or damaged: {error}") from None
