"""A file that cannot be used is refused with the reason; later errors are logged once and counted."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reducer.archive import Archive, ArchiveError
from reducer.archive import archive as archive_module
from reducer.archive.database import APPLICATION_ID, open_to_read, open_to_write
from tests.archive.samples import entry, execute, found, rows
from tests.archive.test_archive import ROOT

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


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError) as caught:
        Archive(tmp_path / "none" / "returns.db")
    assert str(caught.value) == f"{tmp_path}/none/returns.db: the folder {tmp_path}/none does not exist"


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


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"max_bytes": "much"}, "'much' is not a size; write 1000000, 500MB or 2GiB"),
        ({"max_age": "soon"}, "'soon' is not an age; write 30d, 12h, 90m or 2w"),
        ({"max_waiting": 0}, "0 is not a number of originals; write 10000"),
    ],
)
def test_wrong_limits_are_refused(path: Path, limit: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Archive(path, **limit)  # type: ignore[arg-type]
    assert not path.exists()


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


def test_a_full_disk_is_logged_once_and_counted(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pages = [20]

    def small(path: Path, timeout: float) -> sqlite3.Connection:
        connection = open_to_write(path, timeout)
        connection.execute(f"PRAGMA max_page_count = {pages[0]}")
        return connection

    monkeypatch.setattr(archive_module, "open_to_write", small)
    with Archive(path) as archive:
        for round in range(3):
            archive.add([entry(os.urandom(90_000).hex(), [round], nth=number) for number in range(4)])
            assert archive.flush(10)
        assert archive.failures == 12
        assert caplog.messages == [f"{LOGGED}{path}: database or disk is full"]
        pages[0] = 1_000_000
        archive.add([entry([1, 2], [1])])
        archive.flush()
        assert (archive.failures, rows(archive)) == (12, 1)


def test_a_file_size_limit_is_counted_and_the_process_continues(path: Path) -> None:
    code = (
        "import os, sys\nfrom reducer.archive import Archive\nfrom tests.archive.samples import entry\n"
        "archive = Archive(sys.argv[1])\n"
        "archive.add([entry(os.urandom(400_000).hex(), [1])])\narchive.flush()\nprint(archive.failures)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)),
    )
    assert result.stdout == "1\n", result.stderr
    assert LOGGED in result.stderr
    assert rows(path) == 0


def test_a_lock_is_logged_once_and_counted(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Archive(path, timeout=0.05) as archive:
        with locked(path):
            for round in range(3):
                archive.add([entry([round], [0], nth=number) for number in range(100)])
                assert archive.flush(10)
        assert archive.failures == 300
        assert caplog.messages == [f"{LOGGED}{path}: database is locked"]
        archive.add([entry([1, 2], [1])])
        archive.flush()
        assert (archive.failures, rows(archive)) == (300, 1)


def test_a_damaged_file_is_logged_once_and_counted(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Archive(path) as archive:
        archive.add([entry([number, "x" * 3000], [0], nth=number) for number in range(50)])
        archive.close()
        path.write_bytes(b"\xff" * path.stat().st_size)
        for number in range(3):
            archive.add([entry([number], [1])])
            archive.flush()
        assert archive.failures == 3
        assert caplog.messages == [f"{LOGGED}{path}: file is not a database"]


def test_reading_does_not_create_a_file(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"none.db: does not exist$"), open_to_read(tmp_path / "none.db"):
        pass
    assert not (tmp_path / "none.db").exists()


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


@pytest.mark.parametrize(("closed", "counts"), [(True, (0, 1)), (False, (1, 1))])
def test_a_deleted_file_is_created_again(path: Path, closed: bool, counts: tuple[int, int]) -> None:
    with Archive(path) as archive:
        archive.add([entry([1], [0])])
        _ = archive.close() if closed else archive.flush()
        path.unlink()
        archive.add([entry([2], [0])])
        archive.close()
        assert (archive.failures, rows(archive)) == counts
