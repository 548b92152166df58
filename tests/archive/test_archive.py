"""What is filed is found again: by its place, once, from several threads and processes, and through whatever happens to them."""

from __future__ import annotations

import json
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from reducer.archive import Archive
from reducer.archive.entries import Entry, canonical
from reducer.archive.writer import Job
from reducer.values import stored_json
from tests.archive.samples import entry, found, rows
from tests.doors.test_history import CONTENTS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with Archive(tmp_path / "returns.db") as made:
        yield made


def test_what_is_filed_is_found(archive: Archive) -> None:
    one = entry(list(range(100)), [0, 1], returned=7)
    archive.file([one])
    assert archive.flush(10)
    assert found(archive, one).form == one.original
    assert found(archive, one, call_id="other") == (None, "")
    assert found(archive, one, tool="other") == (None, "")
    assert found(archive, one._replace(reduced=b"[0,2]")) == (None, "")
    assert (archive.failures, archive.dropped) == (0, 0)


def test_the_same_original_is_stored_once_and_the_same_return_filed_once(archive: Archive) -> None:
    archive.file([entry([1, 2, 3], [1], call_id=f"c{number}") for number in range(3)] * 2)
    archive.flush()
    archive.file([entry([1, 2, 3], [1], call_id="c1")])
    archive.flush()
    assert (rows(archive), rows(archive, "originals")) == (3, 1)


def test_a_place_tells_originals_with_one_reduced_form_apart(archive: Archive) -> None:
    first, second = entry([1, 2], [1], nth=1, returned=10_000), entry([1, 3], [1], nth=2, returned=20_000)
    archive.file([first, second])
    archive.flush()
    assert found(archive, first).form == b"[1,2]"
    assert found(archive, second).form == b"[1,3]"
    # A time that was kept in milliseconds is the same time; without one the number decides.
    assert found(archive, first, returned=10_900, nth=2).form == b"[1,2]"
    assert found(archive, first, returned=0, nth=2).form == b"[1,3]"
    # At another time, or as another one, it is another return: one that was never reduced, or one that is not here.
    assert found(archive, first, returned=30_000) == (None, "elsewhere")
    assert found(archive, first, returned=0, nth=3) == (None, "elsewhere")


def test_nothing_is_guessed_where_several_fit(archive: Archive) -> None:
    archive.file([entry([1, 2], [1])])
    archive.flush()
    archive.file([entry([1, 3], [1])])
    archive.flush()
    assert found(archive, entry([], [1])) == (None, "several")
    assert found(archive, entry([], [1]), newest=True).form == b"[1,3]"


def test_a_text_with_a_mark_has_its_only_original_under_any_number(archive: Archive) -> None:
    cut = entry("a long text indeed", "a long …[12 more characters]", nth=3)
    archive.file([cut])
    archive.flush()
    assert found(archive, cut, nth=1).form == cut.original
    assert found(archive, cut, nth=1, returned=5).form == cut.original


def test_what_was_reduced_again_by_other_rules_is_followed_back(archive: Archive) -> None:
    archive.file([entry([1, 2, 3, 4], [1, 2, 3], returned=5), entry([1, 2, 3], [1, 2], returned=5), entry([1, 2], [1], returned=5)])
    archive.flush()
    assert found(archive, entry([], [1], returned=5)).form == b"[1,2,3,4]"


def test_a_ring_of_originals_ends(archive: Archive) -> None:
    archive.file([entry([1], [2]), entry([2], [1])])
    archive.flush()
    assert found(archive, entry([], [2])).form in (b"[1]", b"[2]")


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3))


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3), st.integers(1, 3), st.integers(0, 2), JSON, JSON), max_size=8))
def test_every_original_with_a_place_of_its_own_comes_back(tmp_path_factory: pytest.TempPathFactory, cases: list[Any]) -> None:
    entries = []
    for tool, call_id, nth, returned, original, reduced in cases:
        try:
            entries.append(entry(original, reduced, tool=tool, call_id=call_id, nth=nth, returned=returned * 10_000))
        except ValueError:  # a lone surrogate has no stored form
            continue
    with Archive(tmp_path_factory.mktemp("archive") / "returns.db") as archive:
        archive.file(entries)
        assert archive.flush(20)
        assert archive.failures == 0
        for one in entries:
            result = found(archive, one)
            same = [other for other in entries if (other.place.tool, other.place.call_id) == (one.place.tool, one.place.call_id)]
            event("alone" if len(same) == 1 else "among others")
            if len(same) == 1:
                assert result.form == one.original
            else:
                assert result.doubt == "several" or result.form in {other.original for other in same}


@given(CONTENTS)
def test_what_is_read_from_a_stored_history_has_the_key_of_what_was_live(content: Any) -> None:
    try:
        written = stored_json(content)
    except ValueError:
        return
    read = json.loads(written)
    event(type(content).__name__)
    assert canonical(read) == written or has_one_key_twice(content)


def has_one_key_twice(value: Any) -> bool:
    if isinstance(value, dict):
        keys = json.loads(stored_json(value))
        return len(keys) < len(value) or any(map(has_one_key_twice, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(has_one_key_twice, value))
    return any(map(has_one_key_twice, vars(value).values())) if hasattr(value, "__dict__") else False


def test_threads_file_at_once(archive: Archive) -> None:
    def work(thread: int) -> None:
        for number in range(50):
            archive.file([entry([thread, number, "x" * 200], [thread], call_id=f"{thread}-{number}")])

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert archive.flush(20)
    assert (rows(archive), archive.failures, archive.dropped) == (400, 0, 0)


WORKER = """
import sys
from reducer.archive import Archive
from tests.archive.samples import entry
archive = Archive(sys.argv[1])
for number in range(int(sys.argv[3])):
    archive.file([entry([sys.argv[2], number, "x" * 500], [number], call_id=f"{sys.argv[2]}-{number}")])
    if number % 20 == 0:
        archive.flush()
        print(number, flush=True)
"""


def worker(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-c", WORKER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths})


def test_processes_file_at_once_and_what_waits_at_exit_is_written(tmp_path: Path) -> None:
    running = [worker(tmp_path / "returns.db", name, 110) for name in "ab"]
    for process in running:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert rows(tmp_path / "returns.db") == 220


def test_a_process_that_is_killed_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "returns.db"
    process = worker(path, "a", 100_000)
    assert process.stdout is not None
    while int(process.stdout.readline()) < 60:
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert rows(path) >= 60
    with Archive(path) as archive:
        one = entry([1, 2], [1])
        archive.file([one])
        archive.flush()
        assert found(archive, one).form == one.original
        with archive.reading() as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_writes_with_a_thread_of_its_own(archive: Archive) -> None:
    archive.file([entry([1], [0], call_id="parent")])
    archive.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            archive.file([entry([2], [0], call_id="child")])
            code = 0 if archive.flush(10) and archive.failures == 0 else 2
        finally:
            os._exit(code)
    archive.file([entry([3], [0], call_id="parent again")])
    archive.flush()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert rows(archive) == 3


def test_a_closed_archive_opens_again(archive: Archive) -> None:
    archive.file([entry([1], [0])])
    assert archive.close(10)
    assert rows(archive) == 1
    assert archive.close()
    archive.file([entry([2], [0])])
    assert archive.close(10)
    assert rows(archive) == 2


def test_an_archive_that_is_dropped_writes_what_waits(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "returns.db")
    archive.file([entry([1], [0])])
    del archive
    end = time.monotonic() + 10
    while any(thread.name == "reducer archive" for thread in threading.enumerate()) and time.monotonic() < end:
        time.sleep(0.02)
    assert rows(tmp_path / "returns.db") == 1


def test_what_finds_the_queue_full_is_counted_and_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    go = threading.Event()

    def slow() -> list[Entry | Exception]:
        go.wait(20)
        return []

    with Archive(tmp_path / "returns.db", waiting=3) as archive:
        archive.put(Job(slow, 0))
        time.sleep(0.15)  # the thread has taken it
        for number in range(10):
            archive.file([entry([number], [0], nth=number + 1)] * 2)
        go.set()
        archive.flush()
        assert archive.dropped == 14
        assert rows(archive) == 3
    assert [record.getMessage() for record in caplog.records] == ["originals of tool returns are not archived: more than 3 requests wait to be written"]


def test_what_cannot_be_filed_is_counted_and_the_rest_is_written(archive: Archive, caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> Iterator[Entry | Exception]:
        yield entry([1], [0], call_id="before")
        yield TypeError("a secret")
        raise KeyError("another secret")

    with caplog.at_level(logging.DEBUG, "reducer"):
        archive.put(Job(broken, 4))
        archive.file([entry([1], [0], call_id="after")])
        archive.flush()
    assert (rows(archive), archive.failures) == (2, 3)
    assert [record.getMessage() for record in caplog.records] == [
        "originals of tool returns are not archived: a return cannot be filed: TypeError",
        "originals of tool returns are not archived: a return cannot be filed: KeyError",
    ]


def test_what_is_damaged_is_no_original(archive: Archive) -> None:
    one = entry([1, 2], [1])
    archive.file([one])
    archive.close()
    connection = sqlite3.connect(archive.path)
    connection.execute("UPDATE originals SET form = x'00'")
    connection.commit()
    connection.close()
    assert found(archive, one) == (None, "damaged")


def test_an_entry_is_the_json_that_was_given(archive: Archive) -> None:
    raw = b'{"a" :  1.50, "b": "\\u00e9", "a2": 1e2}'
    one = entry({}, {"a": 1.5})._replace(original=raw)
    archive.file([one])
    archive.flush()
    assert found(archive, one).form == raw
    assert json.loads(raw)["a"] == 1.5
