"""An archive stays within its limits: it deletes the oldest entries first and shrinks the file."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer.archive import Archive
from reducer.archive.archive import parse_age, parse_size
from reducer.archive.database import Limits, delete_oldest, insert, open_to_write, used
from tests.archive.samples import entry, found, rows, store

DAY = 86_400_000_000

SIZES = {"500": 500, "500b": 500, "1.5 kB": 1500, "2MB": 2_000_000, "1g": 10**9, "2GiB": 2**31, 1: 1, None: None}
AGES = {"30d": 30, "12h": 0.5, "90m": 1 / 16, "2 w": 14, "1": 1, 0.5: 0.5, timedelta(days=2): 2, 0: 0}
NO_SIZES = ["", "x", "-1", "0", "1 XB", "1e9", 0, -5, 1.5, True, "9" * 40]
NO_AGES = ["", "x", "-1d", "1y", True, timedelta(-1), float("inf"), float("nan"), "999999999w"]


def test_sizes_and_ages_are_parsed() -> None:
    assert [parse_size(size) for size in SIZES] == [*SIZES.values()]
    assert [parse_age(age) for age in AGES] == [days * DAY for days in AGES.values()]
    assert parse_age(None) is None


@pytest.mark.parametrize(
    ("option", "value", "help"),
    [
        *(("max_bytes", size, "is not a size; write 1000000, 500MB or 2GiB") for size in NO_SIZES),
        *(("max_age", age, "is not an age; write 30d, 12h, 90m or 2w") for age in NO_AGES),
    ],
)
def test_other_sizes_and_ages_are_refused(tmp_path: Path, option: str, value: Any, help: str) -> None:
    options: Any = {option: value}
    with pytest.raises(ValueError, match=help):
        Archive(tmp_path / "returns.db", **options)
    assert not [*tmp_path.iterdir()]


def filled(path: Path, sizes: list[int], shared: bool = False) -> Any:
    """Create an archive with one entry per day. Most originals are random digits, which do not compress."""
    connection = open_to_write(path, 1)
    for day, size in enumerate(sizes):
        one = entry("same" * size if shared else Random(1000 * day + size).randbytes(size).hex(), [day], nth=day + 1)
        insert(connection, one, day * DAY)
    return connection


@given(st.lists(st.integers(1, 20_000) | st.integers(1, 200), max_size=12), st.integers(20_000, 150_000))
@example([18_961, 85, 42, 43, 2403, 13_928], 53_257)
@example([2_000] * 40, 60_000)
def test_the_oldest_are_deleted_until_the_size_fits(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], most: int
) -> None:
    folder = tmp_path_factory.mktemp("bounds")
    connection = filled(folder / "returns.db", sizes)
    empty_file = 40_000
    returns, originals = delete_oldest(connection, Limits(size=most), 0)
    left = [row[0] for row in connection.execute("SELECT nth FROM returns ORDER BY nth")]
    assert left == list(range(returns + 1, len(sizes) + 1))
    assert used(connection) <= max(most, empty_file)
    assert returns == originals
    if returns:
        # With the last deleted entry the size would not fit.
        before = filled(folder / "before.db", sizes)
        before.execute("DELETE FROM returns WHERE nth < ?", (returns,))
        assert used(before) > most
        before.close()
    assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM originals").fetchone() == (len(left),)
    connection.close()


@pytest.mark.parametrize(
    ("shared", "deleted"),
    [(False, [(3, 3), (6, 6), (0, 0)]), (True, [(3, 0), (6, 0), (0, 0)])],
    ids=["originals of their own", "an original stays while a return needs it"],
)
def test_only_entries_that_are_too_old_are_deleted(
    tmp_path: Path, shared: bool, deleted: list[tuple[int, int]]
) -> None:
    connection = filled(tmp_path / "returns.db", [10] * 10, shared)
    assert [delete_oldest(connection, Limits(age=DAY), day * DAY) for day in (4, 10, 10)] == deleted
    assert [row[0] for row in connection.execute("SELECT nth FROM returns ORDER BY nth")] == [10]
    assert delete_oldest(connection, Limits(age=0), 99 * DAY) == (1, 1)
    connection.close()


def test_an_archive_keeps_its_size(tmp_path: Path) -> None:
    with Archive(tmp_path / "returns.db", max_bytes="300kB") as archive:
        made = [entry(Random(number).randbytes(20_000).hex(), [0], nth=number) for number in range(60)]
        for one in made:
            store(archive, one)
        assert archive.failures == 0
        assert found(archive, made[-1]).data == made[-1].original
        assert found(archive, made[0]).data is None
        assert 5 < rows(archive) < 15
        archive.close()
        assert archive.path.stat().st_size <= 300_000


def test_an_age_without_end_deletes_nothing(tmp_path: Path) -> None:
    one = entry([1, 2], [1])
    with Archive(tmp_path / "returns.db", max_age=timedelta.max) as archive:
        store(archive, one)
        assert archive.find(one.id, [1], "owner") == (one.original, "")
        assert archive.failures == 0


def test_an_archive_keeps_its_age(tmp_path: Path) -> None:
    filled(tmp_path / "returns.db", [10] * 5).close()  # in the first days of 1970
    with Archive(tmp_path / "returns.db", max_age="1d") as archive:
        store(archive, entry([1], [0]))
        assert rows(archive) == rows(archive, "originals") == 1
