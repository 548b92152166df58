"""An archive refuses a file that it cannot use; later errors are logged once and counted."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reducer.archive import Archive, ArchiveError
from reducer.archive.database import Entry, open_to_read, open_to_write
from tests.archive.samples import entry, execute, found, rows, store

LOGGED = "originals of tool returns are not archived: "


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "returns.db"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


def write_version(version: int, path: Path) -> None:
    Archive(path).close()
    execute(path, f"PRAGMA user_version = {version}")


VERSION = "was written by another version of reducer"
ANOTHER = "is not an archive, but the SQLite file of another application"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.write_bytes(b"these are notes, and no database at all " * 40), "file is not a database"),
        (lambda path: execute(path, "CREATE TABLE cookies (id)"), ANOTHER),
        (lambda path: execute(path, "PRAGMA application_id = 1234", "CREATE TABLE cookies (id)"), ANOTHER),
        (partial(write_version, 9), f"{VERSION} (format 9, this one needs 3); use a new file"),
        (partial(write_version, 1), f"{VERSION} (format 1, this one needs 3); use a new file"),
        (Path.mkdir, "is a folder; name a file"),
    ],
)
def test_another_file_is_refused_and_stays_unchanged(path: Path, make: Callable[[Path], None], why: str) -> None:
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ArchiveError) as caught:
        Archive(path)
    assert str(caught.value) == f"{path}: {why}"
    assert before is None or path.read_bytes() == before


def test_a_file_that_cannot_be_created_is_refused(path: Path) -> None:
    missing = path.parent / "none"
    with pytest.raises(ArchiveError) as caught:
        Archive(missing / "returns.db")
    assert str(caught.value) == f"{missing}/returns.db: the folder {missing} does not exist"
    with pytest.raises(ArchiveError, match=r"returns.db: does not exist$"), open_to_read(path):
        pass
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("x" * 300, "File name too long"),
        ("a/" * 3000, "File name too long"),
        ("a\0.db", "embedded null"),
        ("a\ud800.db", "'utf-8' codec can't encode character"),
    ],
    ids=["name", "path", "nul", "surrogate"],
)
def test_a_path_that_the_system_does_not_accept_is_refused(tmp_path: Path, name: str, why: str) -> None:
    for opened in (Archive, lambda path: open_to_read(path).__enter__()):
        with pytest.raises(ArchiveError) as caught:
            opened(tmp_path / name)
        assert str(caught.value).startswith(f"{str(tmp_path / name)[:200]!r}: ")
        assert why in str(caught.value)
    assert [*tmp_path.iterdir()] == []


def test_a_file_name_that_is_not_utf8_is_accepted(tmp_path: Path) -> None:
    one = entry([1, 2], [1])
    with Archive(tmp_path / "\udcff.db") as archive:
        store(archive, one)
        assert found(archive, one).data == one.original
    assert [os.fsencode(path.name) for path in tmp_path.iterdir()] == [b"\xff.db"]


def test_an_empty_file_becomes_an_archive_unless_it_is_locked(path: Path) -> None:
    path.touch()
    with locked(path), pytest.raises(ArchiveError, match=r"returns.db: database is locked$"):
        Archive(path, timeout=0.05)
    Archive(path).close()
    assert rows(path) == 0


@contextmanager
def another_user() -> Iterator[None]:
    """Be another user than root, who ignores file permissions."""
    user = os.geteuid()
    other = user or 65534
    os.setresuid(other, other, user)
    try:
        yield
    finally:
        os.setresuid(user, user, user)


@pytest.mark.skipif(not hasattr(os, "setresuid"), reason="needs users")
def test_a_read_only_file_is_refused_and_can_be_read() -> None:
    def open_both_ways() -> str:
        with another_user():
            with pytest.raises(ArchiveError) as caught:
                Archive(path)
            return f"{caught.value}; {rows(path)} row"

    with tempfile.TemporaryDirectory() as folder:  # every user can enter it, unlike those of pytest
        path, one = Path(folder) / "returns.db", entry([1, 2], [1])
        with Archive(path) as archive:
            archive.add([one])
        path.chmod(0o444)
        path.parent.chmod(0o555)
        assert open_both_ways() == f"{path}: the folder {folder} cannot be written; 1 row"
        path.parent.chmod(0o777)
        assert open_both_ways() == f"{path}: attempt to write a readonly database; 1 row"
        assert found(archive, one).data == one.original
        path.parent.chmod(0o755)


@contextmanager
def full(path: Path) -> Iterator[None]:
    @contextmanager
    def small(path: Path, timeout: float) -> Iterator[sqlite3.Connection]:
        with open_to_write(path, timeout) as connection:
            connection.execute("PRAGMA max_page_count = 20")
            yield connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reducer.archive.database.open_to_write", small)
        yield


@contextmanager
def damaged(path: Path) -> Iterator[None]:
    content = path.read_bytes()
    path.write_bytes(b"\xff" * len(content))
    yield
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("broken", "why"),
    [(full, "database or disk is full"), (locked, "database is locked"), (damaged, "file is not a database")],
)
def test_an_error_is_logged_once_and_counted_and_later_entries_are_written(
    path: Path, caplog: pytest.LogCaptureFixture, broken: Callable[[Path], AbstractContextManager[None]], why: str
) -> None:
    with Archive(path, timeout=0.05) as archive:
        with broken(path):
            for turn in range(3):
                store(archive, *[entry(os.urandom(90_000).hex(), [turn], nth=number) for number in range(4)])
        assert archive.failures == 12
        assert caplog.messages == [f"{LOGGED}{path}: {why}"]
        store(archive, entry([1, 2], [1]))
        assert (archive.failures, rows(archive)) == (12, 1)


def broken() -> Entry:
    raise KeyError("a secret")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [(broken, "a content cannot be stored: KeyError"), (entry([1], [0], nth=2**70), "{path}: OverflowError")],
)
def test_an_entry_that_cannot_be_stored_is_counted_and_the_next_is_written(
    archive: Archive, caplog: pytest.LogCaptureFixture, wrong: Any, why: str
) -> None:
    store(archive, wrong, wrong)
    store(archive, entry([2], [0]))
    assert (rows(archive), archive.failures) == (1, 2)
    assert caplog.messages == [f"{LOGGED}{why.format(path=archive.path)}"]


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
    assert caplog.messages == [f"{LOGGED}more than 6 originals wait to be written"]


def test_a_file_that_is_deleted_or_replaced_is_created_again(archive: Archive) -> None:
    store(archive, entry([1], [0]))
    archive.path.unlink()
    store(archive, entry([2], [0]))
    assert (archive.failures, rows(archive)) == (0, 1)
    Archive(archive.path.with_name("other.db")).close()
    archive.path.with_name("other.db").rename(archive.path)
    store(archive, entry([3], [0]))
    assert (archive.failures, rows(archive)) == (0, 1)
