"""Originals are found again, also if threads and processes store them, and an archive stays within its limits."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.archive import Archive, database
from reducer.archive.archive import parse_age, parse_size
from reducer.archive.database import NO_TIME, Entry, Limits, canonical, open_to_read, open_to_write, used
from reducer.values import plain, stored_json
from tests.archive.samples import entry, execute, found, rows, store
from tests.histories.test_live import CONTENTS


def test_an_original_is_stored_once_and_a_return_once(archive: Archive) -> None:
    store(archive, *[entry([1, 2, 3], [1], call_id=f"c{number}") for number in range(3)] * 2)
    store(archive, entry([1, 2, 3], [1], call_id="c1"))
    assert (rows(archive), rows(archive, "originals")) == (3, 1)


SEVERAL = "the archive has several originals that fit"
ELSEWHERE = "the archive has an original that belongs to another return"
ONE = entry(list(range(100)), [0, 1], time=7)
FIRST, SECOND = entry([1, 2], [1], nth=1, time=10_000), entry([1, 3], [1], nth=2, time=20_000)
SAME = [entry([1, 2], [1]), entry([1, 3], [1])]
CUT = entry("a long text indeed", "a long …[12 more characters]", nth=3)
PASSES = [entry(before, before[:-1], time=5) for before in ([1, 2, 3, 4], [1, 2, 3], [1, 2])]
CYCLE = [entry([1], [2]), entry([2], [1])]
RAW = entry({}, {"a": 1.5})._replace(original=b'{"a" :  1.50, "b": "\\u00e9", "a2": 1e2}')


@pytest.mark.parametrize(
    ("stored", "asked", "changes", "expected"),
    [
        ([ONE], ONE, {}, ONE.original),
        ([ONE], ONE, {"call_id": "other"}, ""),
        ([ONE], ONE, {"tool": "other"}, ""),
        ([ONE], ONE._replace(reduced=b"[0,2]"), {}, ""),
        ([RAW], RAW, {}, RAW.original),
        ([FIRST, SECOND], FIRST, {}, b"[1,2]"),
        ([FIRST, SECOND], SECOND, {}, b"[1,3]"),
        # A time that was stored in milliseconds is the same time; without a time the number decides.
        ([FIRST, SECOND], FIRST, {"time": 10_900, "nth": 2}, b"[1,2]"),
        ([FIRST, SECOND], FIRST, {"time": NO_TIME, "nth": 2}, b"[1,3]"),
        # Another time or number is another return: one that was never reduced, or one that is not archived.
        ([FIRST, SECOND], FIRST, {"time": 30_000}, ELSEWHERE),
        ([FIRST, SECOND], FIRST, {"time": 0}, ELSEWHERE),
        ([FIRST, SECOND], FIRST, {"time": NO_TIME, "nth": 3}, ELSEWHERE),
        (SAME, SAME[0], {}, SEVERAL),
        # A text with a marker was reduced for certain.
        ([CUT], CUT, {"nth": 1}, CUT.original),
        ([CUT], CUT, {"nth": 1, "time": 5}, CUT.original),
        (PASSES, PASSES[-1], {}, b"[1,2,3,4]"),
        (CYCLE, CYCLE[0], {}, b"[2]"),
    ],
)
def test_an_original_is_found_by_its_id_and_its_reduced_content(
    archive: Archive, stored: list[Entry], asked: Entry, changes: dict[str, Any], expected: bytes | str
) -> None:
    store(archive, *stored)
    assert found(archive, asked, **changes) == ((expected, "") if isinstance(expected, bytes) else (None, expected))
    assert archive.failures == 0


@given(CONTENTS)
def test_a_stored_content_has_the_canonical_form_of_the_live_one(content: Any) -> None:
    try:
        written = stored_json(content)
    except ValueError:
        return
    event(type(content).__name__)
    assert canonical(json.loads(written)) == written or written != stored_json(plain(content))


def test_a_damaged_original_is_not_returned(archive: Archive) -> None:
    one = entry([1, 2], [1])
    store(archive, one)
    archive.close()
    execute(archive.path, "UPDATE originals SET data = x'00'")
    assert found(archive, one) == (None, "its original is damaged")


def test_threads_write_at_the_same_time_and_end_without_references_to_the_archive(tmp_path: Path) -> None:
    def work(archive: Archive, thread: int) -> None:
        for number in range(50):
            archive.add([entry([thread, number, "x" * 200], [thread], call_id=f"{thread}-{number}")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(work, Archive(tmp_path / "returns.db")), range(8)))
    for thread in threading.enumerate():
        if thread.name.startswith("reducer archive"):
            thread.join(20)
            assert not thread.is_alive()
    assert rows(tmp_path / "returns.db") == 400


WORKER = """
import sys
from reducer.archive import Archive
from tests.archive.samples import entry
archive = Archive(sys.argv[1])
for number in range(int(sys.argv[3])):
    archive.add([entry([sys.argv[2], number, "x" * 500], [number], call_id=f"{sys.argv[2]}-{number}")])
    if number % 20 == 0:
        archive.flush()
"""


def worker(path: Path, name: str, count: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WORKER, path, name, str(count)], cwd=Path(__file__).parents[2])


def test_processes_write_at_the_same_time_and_write_everything_before_they_exit(tmp_path: Path) -> None:
    names = "abcd"  # `tests.archive.soak` starts 100
    running = [worker(tmp_path / "returns.db", name, 45) for name in names]
    assert [process.wait(120) for process in running] == [0] * len(names)
    assert rows(tmp_path / "returns.db") == 45 * len(names)


def test_a_process_that_is_killed_leaves_a_whole_file(archive: Archive) -> None:
    process = worker(archive.path, "a", 100_000)
    while rows(archive) < 60:
        time.sleep(0.02)
    process.kill()
    process.wait()
    one = entry([1, 2], [1])
    store(archive, one)
    assert found(archive, one).data == one.original
    assert rows(archive) > 60
    with open_to_read(archive.path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_writes_to_an_archive_that_was_closed(archive: Archive) -> None:
    store(archive, entry([1], [0], call_id="parent"))
    archive.close()
    fork = multiprocessing.get_context("fork")
    child = fork.Process(target=store, args=(archive, entry([2], [0], call_id="child")))
    child.start()
    store(archive, entry([3], [0], call_id="parent again"))
    child.join(20)
    assert (child.exitcode, archive.failures, rows(archive)) == (0, 0, 3)


# --- limits: the oldest entries are deleted first, and the file shrinks

DAY = 86_400_000_000


def test_sizes_and_ages_are_parsed() -> None:
    sizes = {"500": 500, "500b": 500, "1.5 kB": 1500, "2MB": 2_000_000, "1g": 10**9, "2GiB": 2**31, 1: 1, None: None}
    ages = {"30d": 30 * DAY, "12h": DAY // 2, "90m": DAY // 16, "2w": 14 * DAY, "0d": 0, None: None}
    assert [parse_size(size) for size in sizes] == [*sizes.values()]
    assert [parse_age(age) for age in ages] == [*ages.values()]


@pytest.mark.parametrize("size", ["", "x", "-1", "0", "1 XB", "1e9", 0, -5, 1.5, "9" * 40])
@pytest.mark.parametrize("age", ["", "x", "-1d", "1y", "30", 30, "9" * 9 + "w"])
def test_other_sizes_and_ages_are_refused(tmp_path: Path, size: Any, age: Any) -> None:
    with pytest.raises(ValueError, match="is not a size; write 1000000, 500MB or 2GiB"):
        Archive(tmp_path / "returns.db", max_bytes=size)
    with pytest.raises(ValueError, match="is not an age; write 30d, 12h, 90m or 2w"):
        Archive(tmp_path / "returns.db", max_age=age)
    assert not [*tmp_path.iterdir()]


@contextmanager
def filled(path: Path, sizes: list[int], shared: bool = False) -> Iterator[Any]:
    """Open an archive with one entry per day. Most originals are random digits, which do not compress."""
    with open_to_write(path, 1) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for day, size in enumerate(sizes):
            text = "same" * size if shared else Random(1000 * day + size).randbytes(size).hex()
            database.store(connection, [entry(text, [day], nth=day + 1)], day * DAY, Limits())
        yield connection


def numbers(connection: Any) -> list[int]:
    return [row[0] for row in connection.execute("SELECT nth FROM returns ORDER BY nth")]


@given(st.lists(st.integers(1, 20_000) | st.integers(1, 200), max_size=12), st.integers(20_000, 150_000))
@example([18_961, 85, 42, 43, 2403, 13_928], 53_257)
@example([2_000] * 40, 60_000)
def test_the_oldest_are_deleted_until_the_size_fits(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], most: int
) -> None:
    folder = tmp_path_factory.mktemp("bounds")
    empty_file = 40_000
    with filled(folder / "returns.db", sizes) as connection:
        returns, originals = database.store(connection, [], 0, Limits(size=most))
        left = numbers(connection)
        assert left == list(range(returns + 1, len(sizes) + 1))
        assert used(connection) <= max(most, empty_file)
        assert returns == originals
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM originals").fetchone() == (len(left),)
    if returns:
        # With the last deleted entry the size would not fit.
        with filled(folder / "before.db", sizes) as before:
            before.execute("DELETE FROM returns WHERE nth < ?", (returns,))
            assert used(before) > most


@pytest.mark.parametrize("shared", [False, True], ids=["own originals", "an original stays while a return needs it"])
def test_only_entries_that_are_too_old_are_deleted(tmp_path: Path, shared: bool) -> None:
    with filled(tmp_path / "returns.db", [10] * 10, shared) as connection:
        deleted = [database.store(connection, [], day * DAY, Limits(age=DAY)) for day in (4, 10, 10)]
        assert deleted == [(3, 0 if shared else 3), (6, 0 if shared else 6), (0, 0)]
        assert numbers(connection) == [10]
        assert database.store(connection, [], 99 * DAY, Limits(age=0)) == (1, 1)


def test_an_archive_keeps_its_limits(tmp_path: Path) -> None:
    with filled(tmp_path / "returns.db", [10] * 5):
        pass  # in the first days of 1970
    with Archive(tmp_path / "returns.db", max_age="99999w") as archive:
        store(archive, entry([1], [0]))
        assert rows(archive) == 6
    with Archive(tmp_path / "returns.db", max_bytes="300kB", max_age="1d") as archive:
        made = [entry(Random(number).randbytes(20_000).hex(), [0], nth=number) for number in range(30)]
        for one in made:
            store(archive, one)
        assert archive.failures == 0
        assert found(archive, made[-1]).data == made[-1].original
        assert found(archive, made[0]).data is None
        assert 5 < rows(archive) < 15
        assert archive.path.stat().st_size <= 300_000
