"""Originals are found again, also if several threads and processes store them and if a process is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from reducer.archive import Archive
from reducer.archive.database import NO_TIME, Entry, canonical, open_to_read
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
    ("stored", "asked", "id", "expected"),
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
        ([FIRST, SECOND], FIRST, {"time": 30_000, "newest": True}, b"[1,3]"),
        (SAME, SAME[0], {}, SEVERAL),
        (SAME, SAME[0], {"newest": True}, b"[1,3]"),
        # A text with a marker was reduced for certain.
        ([CUT], CUT, {"nth": 1}, CUT.original),
        ([CUT], CUT, {"nth": 1, "time": 5}, CUT.original),
        (PASSES, PASSES[-1], {}, b"[1,2,3,4]"),
        (CYCLE, CYCLE[0], {}, b"[2]"),
    ],
)
def test_an_original_is_found_by_its_id_and_its_reduced_content(
    archive: Archive, stored: list[Entry], asked: Entry, id: dict[str, Any], expected: bytes | str
) -> None:
    store(archive, *stored)
    assert found(archive, asked, **id) == ((expected, "") if isinstance(expected, bytes) else (None, expected))
    assert archive.failures == 0


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3),
)
CASES = st.tuples(st.text(max_size=3), st.text(max_size=3), st.integers(1, 3), st.integers(0, 2), JSON, JSON)


@given(st.lists(CASES, max_size=8))
def test_every_original_with_an_id_of_its_own_is_found(
    tmp_path_factory: pytest.TempPathFactory, cases: list[Any]
) -> None:
    entries = [
        entry(original, reduced, tool=tool, call_id=call_id, nth=nth, time=time * 10_000)
        for tool, call_id, nth, time, original, reduced in cases
    ]
    with Archive(tmp_path_factory.mktemp("archive") / "returns.db") as archive:
        store(archive, *entries)
        assert archive.failures == 0
        for one in entries:
            result = found(archive, one)
            same = {other.original for other in entries if other.id[:2] == one.id[:2]}
            event("one original" if len(same) == 1 else "several originals")
            assert result.data in same or (len(same) > 1 and result.problem == SEVERAL)


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


def test_threads_write_at_the_same_time(archive: Archive) -> None:
    def work(thread: int) -> None:
        for number in range(50):
            archive.add([entry([thread, number, "x" * 200], [thread], call_id=f"{thread}-{number}")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert archive.flush(20)
    assert (rows(archive), archive.failures) == (400, 0)


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
    running = [worker(tmp_path / "returns.db", name, 110) for name in "ab"]
    assert [process.wait(60) for process in running] == [0, 0]
    assert rows(tmp_path / "returns.db") == 220


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
def test_a_forked_child_writes_with_a_thread_of_its_own(archive: Archive) -> None:
    store(archive, entry([1], [0], call_id="parent"))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            archive.add([entry([2], [0], call_id="child")])
            code = 0 if archive.flush(10) and archive.failures == 0 else 2
        finally:
            os._exit(code)
    store(archive, entry([3], [0], call_id="parent again"))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert rows(archive) == 3


def test_an_archive_without_references_writes_everything_and_ends_its_thread(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "returns.db")
    archive.add([entry([1], [0])])
    (thread,) = (one for one in threading.enumerate() if one.name.startswith("reducer archive"))
    del archive
    thread.join(10)
    assert not thread.is_alive()
    assert rows(tmp_path / "returns.db") == 1
