"""What is stored is found again: by its id, once, from several threads and processes, and after they are killed."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from reducer.archive import Archive
from reducer.archive.database import open_to_read
from reducer.archive.entries import NO_TIME, Entry, canonical
from reducer.values import plain, stored_json
from tests.archive.samples import entry, execute, found, rows
from tests.histories.test_live import CONTENTS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with Archive(tmp_path / "returns.db") as made:
        yield made


def store(archive: Archive, *entries: Entry | Callable[[], Entry]) -> None:
    archive.add(entries)
    assert archive.flush(20)


def test_an_original_is_stored_once_and_a_return_once(archive: Archive) -> None:
    store(archive, *[entry([1, 2, 3], [1], call_id=f"c{number}") for number in range(3)] * 2)
    store(archive, entry([1, 2, 3], [1], call_id="c1"))
    assert (rows(archive), rows(archive, "originals")) == (3, 1)


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
        ([FIRST, SECOND], FIRST, {"time": 30_000}, "elsewhere"),
        ([FIRST, SECOND], FIRST, {"time": 0}, "elsewhere"),
        ([FIRST, SECOND], FIRST, {"time": NO_TIME, "nth": 3}, "elsewhere"),
        ([FIRST, SECOND], FIRST, {"time": 30_000, "newest": True}, b"[1,3]"),
        (SAME, SAME[0], {}, "ambiguous"),
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
            same = [other for other in entries if (other.id.tool, other.id.call_id) == (one.id.tool, one.id.call_id)]
            event("alone" if len(same) == 1 else "among others")
            if len(same) == 1:
                assert result.data == one.original
            else:
                assert result.problem == "ambiguous" or result.data in {other.original for other in same}


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
    assert found(archive, one) == (None, "damaged")


def test_threads_write_at_the_same_time(archive: Archive) -> None:
    def work(thread: int) -> None:
        for number in range(50):
            archive.add([entry([thread, number, "x" * 200], [thread], call_id=f"{thread}-{number}")])

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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
        print(number, flush=True)
"""


def worker(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-c", WORKER, str(path), name, str(count)]
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)


def test_processes_write_at_the_same_time_and_write_everything_before_they_exit(tmp_path: Path) -> None:
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
        store(archive, one)
        assert found(archive, one).data == one.original
        with open_to_read(path) as connection:
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


def test_originals_that_cannot_wait_are_counted_and_logged_once(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("reducer.archive.archive._MAX_WAITING", 6)
    started, go = threading.Event(), threading.Event()

    def slow() -> Entry:
        started.set()
        go.wait(20)
        return entry(["slow"], [0])

    archive.add([slow])
    started.wait(20)
    for number in range(10):
        archive.add([entry([number], [0], nth=number + 1)] * 2)
    go.set()
    archive.flush()
    assert (archive.failures, rows(archive)) == (14, 4)
    assert caplog.messages == ["originals of tool returns are not archived: more than 6 originals wait to be written"]


def broken() -> Entry:
    raise KeyError("a secret")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [(broken, "a content cannot be stored: KeyError"), (entry([1], [0], nth=2**70), "{path}: OverflowError")],
)
def test_an_entry_that_cannot_be_stored_is_counted_and_the_next_is_written(
    archive: Archive, caplog: pytest.LogCaptureFixture, wrong: Any, why: str
) -> None:
    with caplog.at_level(logging.DEBUG, "reducer"):
        store(archive, wrong, wrong)
        store(archive, entry([2], [0]))
    assert (rows(archive), archive.failures) == (1, 2)
    assert caplog.messages == [f"originals of tool returns are not archived: {why.format(path=archive.path)}"]
