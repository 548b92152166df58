"""Several histories and folders of them, written to a folder."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from reducer import Reducer
from reducer.histories.compressed import compressed
from tests.cli.conftest import RECORDS, Result, history

Cli = Callable[..., Result]
LONG = history(("lookup", {"records": RECORDS}))


@pytest.fixture
def logs(folder: Path) -> dict[str, bytes]:
    """Make a folder `logs` of mixed forms, and give what each file of it is reduced to."""
    (folder / "logs" / "deep").mkdir(parents=True)
    (folder / "logs" / "a.json").write_bytes(LONG)
    (folder / "logs" / "deep" / "b.jsonl").write_bytes(LONG + b"\n" + LONG)
    (folder / "logs" / "deep" / "c.ndjson.gz").write_bytes(compressed(LONG + b"\n[]\n", "gz"))
    (folder / "logs" / "d.json").write_bytes(LONG + b"\n" + LONG + b"\n")
    (folder / "logs" / "notes.txt").write_bytes(b"no history")
    (folder / "logs" / ".cache").mkdir()
    (folder / "logs" / ".cache" / "e.json").write_bytes(LONG)
    short = Reducer.load("lookup.yaml").reduce_json(LONG)
    return {
        "a.json": short,
        "d.json": short + b"\n" + short + b"\n",
        "deep/b.jsonl": short + b"\n" + short,
        "deep/c.ndjson.gz": short + b"\n[]\n",
    }


def written(folder: Path) -> dict[str, bytes]:
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: gzip.decompress(content) if name.endswith(".gz") else content for name, content in files.items()}


@pytest.mark.parametrize(
    "more", [(), ("--jobs", "2"), ("--format", "json"), ("--format", "json", "--jobs", "2"), ("--format", "diff")]
)
def test_a_folder_becomes_a_folder(folder: Path, cli: Cli, logs: dict[str, bytes], more: tuple[str, ...]) -> None:
    result = cli("logs", "--rules", "lookup.yaml", "-o", "out/", *more)
    assert result.code == 0
    assert written(folder / "out") == logs
    size = sum(path.stat().st_size for path in (folder / "out").rglob("*") if path.is_file())
    assert result.err == f"reducer: wrote 4 files in out/, {size:,} bytes\n"


def test_the_table_is_that_of_its_files(folder: Path, cli: Cli, logs: dict[str, bytes]) -> None:
    one, several = cli("logs", "--rules", "lookup.yaml"), cli("logs", "--rules", "lookup.yaml", "--jobs", "2")
    assert one == several
    assert "Read     4 files, 6 lines\n" in one.out
    (row,) = (line.split() for line in one.out.splitlines() if line.startswith(" lookup "))
    assert row[2] == "6"


def test_named_files_go_into_a_folder_by_their_names(folder: Path, cli: Cli, logs: dict[str, bytes]) -> None:
    (folder / "out").mkdir()
    assert cli("logs/a.json", "logs/deep/b.jsonl", "--rules", "lookup.yaml", "-o", "out").code == 0
    assert sorted(written(folder / "out")) == ["a.json", "b.jsonl"]
    assert cli("h.json", "--rules", "lookup.yaml", "-o", "out").code == 0
    assert (folder / "out" / "h.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("logs", "-o", "new"), "--output new: cannot write 4 histories to one file; use -o new/ to write a folder"),
        (("logs/deep", "h.json", "-o", "-"), "--output -: cannot write 3 histories to standard output"),
        (
            ("logs", "-o", "logs/out/"),
            "logs/out/: is inside the input folder logs; the next run would read it",
        ),
        (
            ("logs", "-o", "logs"),
            "logs: is inside the input folder logs; the next run would read it",
        ),
        (("logs/a.json", "h.json", "-o", "./"), "h.json: is also an input; inputs are never overwritten"),
        (("logs", "-o", "lookup.yaml/"), "lookup.yaml/: is a file"),
        (("logs", "-o", "no/such/"), "no/such/: there is no folder "),
        (("logs", "more", "-o", "out/"), "out/: logs/a.json and more/a.json would both be written to a.json"),
        (("h.json", "-", "-o", "out/"), "out/: standard input has no file name; use -o FILE"),
    ],
)
def test_a_folder_that_cannot_be_written(
    folder: Path, cli: Cli, logs: dict[str, bytes], arguments: tuple[str, ...], message: str
) -> None:
    (folder / "more").mkdir()
    (folder / "more" / "a.json").write_bytes(LONG)
    before = sorted(folder.rglob("*"))
    result = cli(*arguments, "--rules", "lookup.yaml")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"reducer: error: {message}")
    assert sorted(folder.rglob("*")) == before


def test_what_is_wrong_in_a_folder_is_left_out(folder: Path, cli: Cli, logs: dict[str, bytes]) -> None:
    (folder / "logs" / "manifest.json").write_text('[{"source": "x"}]')
    (folder / "logs" / "broken.json").write_text("[{")
    (folder / "logs" / "cut.jsonl.gz").write_bytes(compressed(LONG, "gz")[:-4])
    result = cli("logs", "--rules", "lookup.yaml", "-o", "out/", "--jobs", "2")
    assert result.code == 2
    assert [line.split(": ")[1:4] for line in result.err.splitlines()[:2]] == [
        ["error", "logs/broken.json", "cut off"],
        ["error", "logs/cut.jsonl.gz", "cut short"],
    ]
    assert "reducer: skipped logs/manifest.json: not a history: " in result.err
    assert written(folder / "out") == logs
