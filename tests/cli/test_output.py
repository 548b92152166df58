"""`--output`: histories are written completely or not at all, and never over an input."""

from __future__ import annotations

import gzip
import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reducer import Reducer
from reducer.inputs.compression import compressed
from tests.cli.conftest import LONG, Cli, Result, start

RULES = ("--rules", "lookup.yaml")


def test_the_output_equals_the_result_of_the_library(folder: Path, cli: Cli) -> None:
    result = cli("h.json", *RULES, "-o", "out.json")
    expected = Reducer.load("lookup.yaml").reduce_json(LONG)
    assert (folder / "out.json").read_bytes() == expected != (folder / "h.json").read_bytes() == LONG
    assert result.err == f"reducer: wrote out.json, {len(expected):,} bytes\n"
    assert "lookup.yaml" in result.out
    printed = cli("h.json", *RULES, "-o", "-")
    assert (printed.out.encode(), "Nothing needs attention." in printed.err) == (expected, True)


def test_an_output_that_is_also_an_input_is_refused(folder: Path, cli: Cli) -> None:
    (folder / "link.json").symlink_to("h.json")
    for output in ("h.json", str(folder / "h.json"), "link.json", "lookup.yaml"):
        result = cli("h.json", *RULES, "-o", output)
        assert result == Result(2, "", f"reducer: error: {output}: is also an input; inputs are never overwritten\n")
    # This also holds for a file that is read through standard input.
    with (folder / "h.json").open("rb") as file:
        done = start("-", *RULES, "-o", "h.json", stdin=file, stderr=subprocess.PIPE)
    assert (
        done.communicate(timeout=60)[1] == b"reducer: error: h.json: is also an input; inputs are never overwritten\n"
    )
    assert done.returncode == 2
    assert (folder / "h.json").read_bytes() == LONG


def test_a_failed_write_keeps_the_old_file(folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "out.json").write_text("old")
    before = sorted(folder.iterdir())

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    result = cli("h.json", *RULES, "-o", "out.json")
    assert result == Result(2, "", "reducer: error: out.json: No space left on device\n")
    assert ((folder / "out.json").read_text(), sorted(folder.iterdir())) == ("old", before)


def test_links_permissions_and_devices_are_kept(folder: Path, cli: Cli) -> None:
    (folder / "real.json").write_text("old")
    (folder / "real.json").chmod(0o640)
    (folder / "link.json").symlink_to("real.json")
    assert cli("h.json", *RULES, "-o", "link.json").code == 0
    assert (folder / "link.json").is_symlink()
    assert stat.S_IMODE((folder / "real.json").stat().st_mode) == 0o640
    assert json.loads((folder / "real.json").read_bytes())
    old = os.umask(0o027)
    try:
        assert cli("h.json", *RULES, "-o", "new.json").code == 0
    finally:
        os.umask(old)
    assert stat.S_IMODE((folder / "new.json").stat().st_mode) == 0o640
    assert cli("h.json", *RULES, "-o", "/dev/null").code == 0
    assert not Path("/dev/null").is_file()


# --- folders


@pytest.fixture
def logs(folder: Path) -> dict[str, bytes]:
    """Create the folder `logs` with files of several formats, and return the reduction of each file."""
    files = {
        "a.json": LONG,
        "d.json": LONG + b"\n" + LONG + b"\n",
        "deep/b.jsonl": LONG + b"\n" + LONG,
        "deep/c.ndjson.gz": LONG + b"\n[]\n",
    }
    for name, content in {**files, "notes.txt": b"no history", ".cache/e.json": LONG}.items():
        (folder / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "logs" / name).write_bytes(compressed(content, name))
    short = Reducer.load("lookup.yaml").reduce_json(LONG)
    return {name: content.replace(LONG, short) for name, content in files.items()}


def written(folder: Path) -> dict[str, bytes]:
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: gzip.decompress(content) if name.endswith(".gz") else content for name, content in files.items()}


@pytest.mark.parametrize("more", [(), ("--format", "json", "--jobs", "2"), ("--format", "diff")])
def test_a_folder_is_reduced_into_a_folder(folder: Path, cli: Cli, logs: dict[str, bytes], more: Any) -> None:
    result = cli("logs", *RULES, "-o", "out/", *more)
    assert result.code == 0
    assert written(folder / "out") == logs
    assert cli("logs/a.json", "logs/deep/b.jsonl", "h.json", *RULES, "-o", "named/").code == 0
    assert sorted(written(folder / "named")) == ["a.json", "b.jsonl", "h.json"]
    size = sum(path.stat().st_size for path in (folder / "out").rglob("*") if path.is_file())
    assert result.err == f"reducer: wrote out/, {size:,} bytes\n"


def test_invalid_files_in_a_folder_are_skipped(folder: Path, cli: Cli, logs: dict[str, bytes]) -> None:
    (folder / "logs" / "manifest.json").write_text('[{"source": "x"}]')
    (folder / "logs" / "broken.json").write_text("[{")
    (folder / "logs" / "cut.jsonl.gz").write_bytes(compressed(LONG, "a.gz")[:-4])
    result = cli("logs", *RULES, "-o", "out/", "--jobs", "2")
    assert result.code == 2
    assert [line.split(": ")[1:4] for line in result.err.splitlines()[:2]] == [
        ["error", "logs/broken.json", "cut off"],
        ["error", "logs/cut.jsonl.gz", "cut short"],
    ]
    assert "reducer: skipped logs/manifest.json: not a history: " in result.err
    assert written(folder / "out") == logs
