"""A file that cannot be used is refused with the reason; later errors are logged once and counted."""

from __future__ import annotations

import logging
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


@contextmanager
def locked(path: Path) -> Iterator[None]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    yield
    connection.execute("ROLLBACK")
    connection.close()


def no_sqlite(path: Path) -> None:
    path.write_bytes(b"these are notes, and no database at all " * 40)


def of_another_application(path: Path) -> None:
    execute(path, "CREATE TABLE cookies (id)")


def of_an_application_with_an_id(path: Path) -> None:
    execute(path, "PRAGMA application_id = 1234", "CREATE TABLE cookies (id)")


def newer(path: Path) -> None:
    Archive(path).close()
    execute(path, "PRAGMA user_version = 9")


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (no_sqlite, "file is not a database"),
        (of_another_application, "is not an archive, but the SQLite file of another application"),
        (of_an_application_with_an_id, "is not an archive, but the SQLite file of another application"),
        (newer, "was written by a newer reducer (format 9, this reducer needs 2); use a new file"),
        (folder, "is a folder; name a file"),
    ],
)
def test_another_file_is_refused_and_stays_unchanged(tmp_path: Path, make: Callable[[Path], None], why: str) -> None:
    path = tmp_path / "returns.db"
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


def test_a_locked_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "returns.db"
    execute(path, "VACUUM")
    with locked(path), pytest.raises(ArchiveError, match=r"returns.db: database is locked$"):
        Archive(path, timeout=0.05)
    Archive(path).close()


def test_an_empty_file_becomes_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "returns.db"
    path.touch()
    Archive(path).close()
    with open_to_read(path) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


@pytest.mark.parametrize(
    "limit",
    [
        {"max_bytes": 0},
        {"max_bytes": "much"},
        {"max_bytes": True},
        {"max_age": "soon"},
        {"max_age": -1},
        {"max_age": float("nan")},
        {"max_waiting": "many"},
        {"max_waiting": 0},
    ],
)
def test_wrong_limits_are_refused(tmp_path: Path, limit: dict[str, object]) -> None:
    with pytest.raises(
        ValueError,
        match=r"is not (a size; write 1000000, 500MB or 2GiB|an age; write 30d|a number of originals; write 10000)",
    ):
        Archive(tmp_path / "returns.db", **limit)  # type: ignore[arg-type]
    assert not (tmp_path / "returns.db").exists()


def run(code: str, path: Path, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        **more,
    )  # type: ignore[call-overload,no-any-return]


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
    path = public / "returns.db"
    one = entry([1, 2], [1])
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    full = [True]

    def small(path: Path, timeout: float) -> sqlite3.Connection:
        connection = open_to_write(path, timeout)
        if full[0]:
            connection.execute("PRAGMA max_page_count = 20")
        return connection

    monkeypatch.setattr(archive_module, "open_to_write", small)
    with caplog.at_level(logging.DEBUG, "reducer"), Archive(tmp_path / "returns.db") as archive:
        for round in range(3):
            archive.add([entry(os.urandom(90_000).hex(), [round], nth=number) for number in range(4)])
            assert archive.flush(10)
        assert archive.failures == 12
        assert [record.getMessage() for record in caplog.records] == [
            f"originals of tool returns are not archived: {archive.path}: database or disk is full"
        ]
        full[0] = False
        archive.add([entry([1, 2], [1])])
        archive.flush()
        assert archive.failures == 12
        assert rows(archive) == 1


def test_a_file_size_limit_is_counted_and_the_process_continues(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom reducer.archive import Archive\nfrom tests.archive.samples import entry\n"
        "archive = Archive(sys.argv[1])\n"
        "archive.add([entry(os.urandom(400_000).hex(), [1])])\narchive.flush()\nprint(archive.failures)\n"
    )
    limit = (300_000, 300_000)
    result = run(code, tmp_path / "returns.db", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert result.stdout == "1\n", result.stderr
    assert "originals of tool returns are not archived: " in result.stderr
    assert rows(tmp_path / "returns.db") == 0


def test_a_lock_is_logged_once_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Archive(tmp_path / "returns.db", timeout=0.05) as archive:
        with locked(archive.path):
            for round in range(3):
                archive.add([entry([round], [0], nth=number) for number in range(100)])
                assert archive.flush(10)
        assert archive.failures == 300
        assert [record.getMessage() for record in caplog.records] == [
            f"originals of tool returns are not archived: {archive.path}: database is locked"
        ]
        archive.add([entry([1, 2], [1])])
        archive.flush()
        assert (archive.failures, rows(archive)) == (300, 1)


def test_a_damaged_file_is_logged_once_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        archive.add([entry([number, "x" * 3000], [0], nth=number) for number in range(50)])
        archive.close()
        archive.path.write_bytes(b"\xff" * archive.path.stat().st_size)
        for number in range(3):
            archive.add([entry([number], [1])])
            archive.flush()
        assert archive.failures == 3
        assert [record.getMessage() for record in caplog.records] == [
            f"originals of tool returns are not archived: {archive.path}: file is not a database"
        ]


def test_a_closed_file_that_is_deleted_is_created_again(tmp_path: Path) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        archive.add([entry([1], [0])])
        archive.close()
        archive.path.unlink()
        archive.add([entry([2], [0])])
        archive.flush()
        assert (archive.failures, rows(archive)) == (0, 1)


def test_reading_does_not_create_a_file(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"none.db: does not exist$"), open_to_read(tmp_path / "none.db"):
        pass
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("replaced", [False, True])
def test_entries_in_a_file_that_is_deleted_while_open_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, replaced: bool
) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        archive.add([entry([number], [0], nth=number) for number in range(3)])
        archive.flush()
        for file in tmp_path.iterdir():  # the database, its write-ahead log and its index
            file.unlink()
        if replaced:
            Archive(tmp_path / "other.db").close()
            (tmp_path / "other.db").rename(archive.path)
        archive.add([entry([9], [0])])
        archive.flush()
        assert (archive.failures, rows(archive)) == (3, 1)
        archive.path.unlink()
        archive.flush()
        assert archive.failures == 4
        archive.flush()
        assert archive.failures == 4
    assert [record.getMessage() for record in caplog.records] == [
        f"originals of tool returns are not archived: {archive.path}: was deleted or replaced while it was open"
    ]


def test_closing_counts_the_entries_in_a_deleted_file(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "returns.db")
    archive.add([entry([1], [0])])
    archive.flush()
    archive.path.unlink()
    archive.close()
    assert archive.failures == 1


def test_a_file_of_an_older_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "returns.db"
    Archive(path).close()
    execute(path, "PRAGMA user_version = 1")
    with pytest.raises(ArchiveError) as caught:
        Archive(path)
    assert (
        str(caught.value) == f"{path}: was written by an older reducer (format 1, this reducer needs 2); use a new file"
    )
