"""An archive keeps within its limits: the oldest entries are deleted first, and the file gets smaller."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer.archive import Archive
from reducer.archive.database import open_to_write
from reducer.archive.entries import insert
from reducer.archive.limits import Limits, delete_oldest, parse_age, parse_size, used
from tests.archive.samples import entry, found, rows

DAY = 86_400_000_000


SIZES = {"500": 500, "500b": 500, "1.5 kB": 1500, "2MB": 2_000_000, "1g": 10**9, "2GiB": 2**31, 1: 1, None: None}
AGES = {"30d": 30, "12h": 0.5, "90m": 1 / 16, "2 w": 14, "1": 1, 0.5: 0.5, timedelta(days=2): 2, 0: 0}


def test_sizes_and_ages_are_parsed() -> None:
    assert [parse_size(size) for size in SIZES] == [*SIZES.values()]
    assert [parse_age(age) for age in AGES] == [days * DAY for days in AGES.values()]
    assert parse_age(None) is None


@pytest.mark.parametrize("size", ["", "x", "-1", "0", "1 XB", "1e9", 0, -5, 1.5, True, "9" * 40])
def test_other_sizes_are_refused(size: Any) -> None:
    with pytest.raises(ValueError, match="write 1000000, 500MB or 2GiB"):
        parse_size(size)


@pytest.mark.parametrize("age", ["", "x", "-1d", "1y", True, timedelta(-1), float("inf"), float("nan"), "999999999w"])
def test_other_ages_are_refused(age: Any) -> None:
    with pytest.raises(ValueError, match="write 30d, 12h, 90m or 2w"):
        parse_age(age)


def filled(path: Path, sizes: list[int], shared: bool = False) -> Any:
    """Create an archive with one entry a day, whose originals are random digits, which do not compress."""
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


def test_only_entries_that_are_too_old_are_deleted(tmp_path: Path) -> None:
    connection = filled(tmp_path / "returns.db", [10] * 10)
    assert delete_oldest(connection, Limits(age=3 * DAY), 9 * DAY) == (6, 6)
    assert [row[0] for row in connection.execute("SELECT nth FROM returns ORDER BY nth")] == [7, 8, 9, 10]
    assert delete_oldest(connection, Limits(age=3 * DAY), 9 * DAY) == (0, 0)
    connection.close()


def test_an_original_stays_while_a_return_needs_it(tmp_path: Path) -> None:
    connection = filled(tmp_path / "returns.db", [10] * 4, shared=True)
    assert delete_oldest(connection, Limits(age=DAY), 3 * DAY) == (2, 0)
    assert delete_oldest(connection, Limits(age=DAY), 9 * DAY) == (2, 1)
    connection.close()


def test_an_archive_keeps_its_size(tmp_path: Path) -> None:
    with Archive(tmp_path / "returns.db", max_bytes="300kB") as archive:
        made = [entry(Random(number).randbytes(20_000).hex(), [0], nth=number) for number in range(60)]
        for one in made:
            archive.add([one])
            archive.flush()
        assert archive.failures == 0
        assert found(archive, made[-1]).data == made[-1].original
        assert found(archive, made[0]).data is None
        assert 5 < rows(archive) < 15
        archive.close()
        assert archive.path.stat().st_size <= 300_000


def test_an_archive_keeps_its_age(tmp_path: Path) -> None:
    filled(tmp_path / "returns.db", [10] * 5).close()  # in the first days of 1970
    with Archive(tmp_path / "returns.db", max_age="1d") as archive:
        archive.add([entry([1], [0])])
        archive.flush()
        assert rows(archive) == rows(archive, "originals") == 1
