"""A file that cannot be used is refused at once, with the reason; what fails later is logged once, counted, and harms nobody."""

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
from reducer.archive import writer as writing
from reducer.archive.file import APPLICATION, open_file, reading
from tests.archive.samples import entry, found, rows
from tests.archive.test_archive import ROOT


@contextmanager
def locked(path: Path) -> Iterator[None]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    yield
    connection.execute("ROLLBACK")
    connection.close()


def database(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def no_sqlite(path: Path) -> None:
    path.write_bytes(b"these are notes, and no database at all " * 40)


def of_another_application(path: Path) -> None:
    database(path, "CREATE TABLE cookies (id)")


def of_an_application_with_an_id(path: Path) -> None:
    database(path, "PRAGMA application_id = 1234", "CREATE TABLE cookies (id)")


def newer(path: Path) -> None:
    Archive(path).close()
    database(path, "PRAGMA user_version = 9")


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (no_sqlite, "is no SQLite file"),
        (of_another_application, "is no archive: the SQLite file of another application"),
        (of_an_application_with_an_id, "is no archive: the SQLite file of another application"),
        (newer, "was written by a newer reducer: its form is 9, this one knows 1"),
        (folder, "is a folder: name a file"),
    ],
)
def test_a_file_that_is_something_else_is_refused_and_left(tmp_path: Path, make: Callable[[Path], None], why: str) -> None:
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
    assert str(caught.value) == f"{tmp_path}/none/returns.db: there is no folder {tmp_path}/none"


def test_a_locked_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "returns.db"
    database(path, "VACUUM")
    with locked(path), pytest.raises(ArchiveError, match=r"returns.db: is locked by another program$"):
        Archive(path, timeout=0.05)
    Archive(path).close()


def test_an_empty_file_becomes_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "returns.db"
    path.touch()
    Archive(path).close()
    with reading(path) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)


@pytest.mark.parametrize(
    "bound", [{"max_bytes": 0}, {"max_bytes": "much"}, {"max_bytes": True}, {"max_age": "soon"}, {"max_age": -1}, {"max_age": float("nan")}]
)
def test_a_bound_that_is_none_is_refused(tmp_path: Path, bound: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"is no (number of bytes: write 1000000, 500MB or 2GiB|age: write 30d)"):
        Archive(tmp_path / "returns.db", **bound)  # type: ignore[arg-type]
    assert not (tmp_path / "returns.db").exists()


def told_by(code: str, path: Path, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, **more
    )  # type: ignore[call-overload,no-any-return]


@pytest.fixture
def public() -> Iterator[Path]:
    """Make a folder that every user may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def as_somebody_else(told: Callable[[], str]) -> str:
    """Run a function in a child that is not the superuser, for whom nothing is read-only, and give what it says."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            os.write(write, told().encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as result:
        return result.read()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_read_only_file_is_refused_and_can_be_read(public: Path) -> None:
    path = public / "returns.db"
    one = entry([1, 2], [1])
    with Archive(path) as archive:
        archive.file([one])
    path.chmod(0o444)
    public.chmod(0o555)

    def told() -> str:
        try:
            Archive(path)
        except ArchiveError as error:
            return f"{error}; {rows(path)} row"
        return "opened"

    assert as_somebody_else(told) == f"{path}: is read-only; 1 row"
    assert found(archive, one).form == one.original


def test_a_full_disk_later_is_logged_once_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    full = [True]

    def small(path: Path, timeout: float) -> sqlite3.Connection:
        connection = open_file(path, timeout)
        if full[0]:
            connection.execute("PRAGMA max_page_count = 20")
        return connection

    monkeypatch.setattr(writing, "open_file", small)
    with caplog.at_level(logging.DEBUG, "reducer"), Archive(tmp_path / "returns.db") as archive:
        for round in range(3):
            archive.file([entry(os.urandom(90_000).hex(), [round], nth=number) for number in range(4)])
            assert archive.flush(10)
        assert archive.failures == 12
        assert [record.getMessage() for record in caplog.records] == [
            f"originals of tool returns are not archived: {archive.path}: has no room left: the disk is full"
        ]
        full[0] = False
        archive.file([entry([1, 2], [1])])
        archive.flush()
        assert archive.failures == 12
        assert rows(archive) == 1


def test_a_limit_on_the_size_of_files_is_no_end(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom reducer.archive import Archive\nfrom tests.archive.samples import entry\narchive = Archive(sys.argv[1])\n"
        "archive.file([entry(os.urandom(400_000).hex(), [1])])\narchive.flush()\nprint(archive.failures)\n"
    )
    limit = (300_000, 300_000)
    told = told_by(code, tmp_path / "returns.db", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert told.stdout == "1\n", told.stderr
    assert "originals of tool returns are not archived: " in told.stderr
    assert rows(tmp_path / "returns.db") == 0


def test_a_lock_that_is_held_later_is_logged_once_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Archive(tmp_path / "returns.db", timeout=0.05) as archive:
        with locked(archive.path):
            for round in range(3):
                archive.file([entry([round], [0], nth=number) for number in range(100)])
                assert archive.flush(10)
        assert archive.failures == 300
        assert [record.getMessage() for record in caplog.records] == [
            f"originals of tool returns are not archived: {archive.path}: is locked by another program"
        ]
        archive.file([entry([1, 2], [1])])
        archive.flush()
        assert (archive.failures, rows(archive)) == (300, 1)


def test_a_file_that_is_damaged_later_is_logged_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        archive.file([entry([number, "x" * 3000], [0], nth=number) for number in range(50)])
        archive.close()
        archive.path.write_bytes(b"\xff" * archive.path.stat().st_size)
        for number in range(3):
            archive.file([entry([number], [1])])
            archive.flush()
        assert archive.failures == 3
        assert [record.getMessage() for record in caplog.records] == [f"originals of tool returns are not archived: {archive.path}: is no SQLite file"]


def test_a_file_that_is_taken_away_is_made_again(tmp_path: Path) -> None:
    with Archive(tmp_path / "returns.db") as archive:
        archive.file([entry([1], [0])])
        archive.close()
        archive.path.unlink()
        archive.file([entry([2], [0])])
        archive.flush()
        assert (archive.failures, rows(archive)) == (0, 1)


def test_what_is_read_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"none.db: there is no such file$"), reading(tmp_path / "none.db"):
        pass
    assert not (tmp_path / "none.db").exists()
