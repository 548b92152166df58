"""A file that cannot be used is refused with the reason; later errors are logged once and counted."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from reducer.archive import Archive, ArchiveError
from reducer.archive import archive as archive_module
from reducer.archive.database import APPLICATION_ID, open_to_read, open_to_write
from tests.archive.samples import entry, execute, found, rows

LOGGED = "originals of tool returns are not archived: "


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "returns.db"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    yield
    connection.execute("ROLLBACK")
    connection.close()


def of_version(version: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        Archive(path).close()
        execute(path, f"PRAGMA user_version = {version}")

    return make


ANOTHER = "is not an archive, but the SQLite file of another application"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.write_bytes(b"these are notes, and no database at all " * 40), "file is not a database"),
        (lambda path: execute(path, "CREATE TABLE cookies (id)"), ANOTHER),
        (lambda path: execute(path, "PRAGMA application_id = 1234", "CREATE TABLE cookies (id)"), ANOTHER),
        (of_version(9), "was written by a newer reducer (format 9, this reducer needs 2); use a new file"),
        (of_version(1), "was written by an older reducer (format 1, this reducer needs 2); use a new file"),
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
    with pytest.raises(ValueError, match="'much' is not a size; write 1000000, 500MB or 2GiB"):
        Archive(path, max_bytes="much")
    with pytest.raises(ArchiveError, match=r"returns.db: does not exist$"), open_to_read(path):
        pass
    assert not path.exists()


def test_a_locked_file_is_refused(path: Path) -> None:
    execute(path, "VACUUM")
    with locked(path), pytest.raises(ArchiveError, match=r"returns.db: database is locked$"):
        Archive(path, timeout=0.05)
    Archive(path).close()


def test_an_empty_file_becomes_an_archive(path: Path) -> None:
    path.touch()
    Archive(path).close()
    with open_to_read(path) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


@pytest.fixture
def public() -> Iterator[Path]:
    """Create a folder that every user can enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def as_another_user(function: Callable[[], str]) -> str:
    """Return the result of a function in a child that is not root, for which nothing is read-only."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            os.write(write, function().encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as result:
        return result.read()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_read_only_file_is_refused_and_can_be_read(public: Path) -> None:
    path, one = public / "returns.db", entry([1, 2], [1])
    with Archive(path) as archive:
        archive.add([one])
    path.chmod(0o444)
    public.chmod(0o555)

    def open_both_ways() -> str:
        try:
            Archive(path)
        except ArchiveError as error:
            return f"{error}; {rows(path)} row"
        return "opened"

    assert as_another_user(open_both_ways) == f"{path}: attempt to write a readonly database; 1 row"
    assert found(archive, one).data == one.original


@contextmanager
def full(path: Path) -> Iterator[None]:
    def small(path: Path, timeout: float) -> sqlite3.Connection:
        connection = open_to_write(path, timeout)
        connection.execute("PRAGMA max_page_count = 20")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive_module, "open_to_write", small)
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
            for round in range(3):
                archive.add([entry(os.urandom(90_000).hex(), [round], nth=number) for number in range(4)])
                assert archive.flush(10)
        assert archive.failures == 12
        assert caplog.messages == [f"{LOGGED}{path}: {why}"]
        archive.add([entry([1, 2], [1])])
        archive.flush()
        assert (archive.failures, rows(archive)) == (12, 1)


@pytest.mark.parametrize("replaced", [False, True])
def test_entries_in_a_file_that_is_deleted_while_open_are_counted(
    path: Path, caplog: pytest.LogCaptureFixture, replaced: bool
) -> None:
    with Archive(path) as archive:
        archive.add([entry([number], [0], nth=number) for number in range(3)])
        archive.flush()
        for file in path.parent.iterdir():  # the database, its write-ahead log and its index
            file.unlink()
        if replaced:
            Archive(path.with_name("other.db")).close()
            path.with_name("other.db").rename(path)
        archive.add([entry([9], [0])])
        archive.flush()
        assert (archive.failures, rows(archive)) == (3, 1)
        path.unlink()
        archive.flush()
        archive.flush()
        assert archive.failures == 4
    assert caplog.messages == [f"{LOGGED}{path}: was deleted or replaced while it was open"]


def test_a_file_that_is_deleted_while_closed_is_created_again(path: Path) -> None:
    with Archive(path) as archive:
        archive.add([entry([1], [0])])
        archive.close()
        path.unlink()
        archive.add([entry([2], [0])])
        archive.close()
        assert (archive.failures, rows(archive)) == (0, 1)
