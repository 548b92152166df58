"""`--output`: the reduced history, all of it or nothing, and never over what is read."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reducer import Reducer
from tests.cli.conftest import ROOT, Result, process

Cli = Callable[..., Result]


def test_the_reduced_history_is_what_the_library_gives(folder: Path, cli: Cli) -> None:
    result = cli("h.json", "--rules", "lookup.yaml", "-o", "out.json")
    expected = Reducer.load("lookup.yaml").reduce_json((folder / "h.json").read_bytes())
    assert (folder / "out.json").read_bytes() == expected
    assert len(expected) < (folder / "h.json").stat().st_size
    assert result.err == f"reducer: wrote out.json, {len(expected):,} bytes\n"
    assert "lookup.yaml" in result.out


def test_a_history_without_changes_keeps_its_bytes(folder: Path, cli: Cli) -> None:
    odd = b'\xef\xbb\xbf [ {"kind" : "request","parts":[ ]} ]\n'
    (folder / "odd.json").write_bytes(odd)
    assert cli("odd.json", "--rules", "lookup.yaml", "-o", "out.json").code == 0
    assert (folder / "out.json").read_bytes() == odd


def test_standard_output_has_the_history_alone(folder: Path, cli: Cli) -> None:
    result = process("h.json", "--rules", "lookup.yaml", "--output", "-")
    assert len(json.loads(result.out)[2]["parts"][0]["content"]["records"]) == 5
    assert "Nothing needs attention." in result.err


def test_an_output_that_is_read_is_refused(folder: Path, cli: Cli) -> None:
    before = (folder / "h.json").read_bytes()
    (folder / "link.json").symlink_to("h.json")
    os.link("h.json", "hard.json")
    for output in ("h.json", "./h.json", str(folder / "h.json"), "link.json", "hard.json", "lookup.yaml"):
        result = cli("h.json", "--rules", "lookup.yaml", "-o", output)
        assert (result.code, result.out) == (2, "")
        assert result.err == f"reducer: error: {output}: is also an input; inputs are never overwritten\n"
    assert (folder / "h.json").read_bytes() == before


def test_an_output_that_is_read_through_standard_input_is_refused(folder: Path) -> None:
    before = (folder / "h.json").read_bytes()
    command = [sys.executable, "-m", "reducer", "-", "--rules", "lookup.yaml", "-o", "h.json"]
    with (folder / "h.json").open("rb") as file:
        done = subprocess.run(
            command, stdin=file, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60
        )
    assert done.returncode == 2
    assert done.stderr == b"reducer: error: h.json: is also an input; inputs are never overwritten\n"
    assert (folder / "h.json").read_bytes() == before


def test_an_output_that_cannot_be_written(folder: Path, cli: Cli) -> None:
    missing = folder / "no" / "such"
    result = cli("h.json", "--rules", "lookup.yaml", "-o", "no/such/out.json")
    assert (result.code, result.err) == (2, f"reducer: error: no/such/out.json: there is no folder {missing}\n")
    (folder / "two.json").write_bytes((folder / "h.json").read_bytes())
    result = cli("h.json", "two.json", "--rules", "lookup.yaml", "-o", "out.json")
    assert (result.code, result.err) == (
        2,
        "reducer: error: --output out.json: cannot write 2 histories to one file; use -o out.json/ to write a folder\n",
    )
    assert not (folder / "out.json").exists()
    assert not any(path.name.endswith(".tmp") for path in folder.iterdir())


def test_a_report_is_not_what_output_writes(folder: Path, cli: Cli) -> None:
    result = cli("h.json", "--rules", "lookup.yaml", "--format", "html", "-o", "report.html")
    told = "--output report.html: writes the reduced history; for the report, use --format html > report.html"
    assert (result.code, result.out, result.err) == (2, "", f"reducer: error: {told}\n")
    assert not (folder / "report.html").exists()


def test_a_fault_while_writing_leaves_the_old_file(folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "out.json").write_text("old")

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    result = cli("h.json", "--rules", "lookup.yaml", "-o", "out.json")
    assert (result.code, result.out) == (2, "")
    assert result.err == "reducer: error: out.json: No space left on device\n"
    assert (folder / "out.json").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == ["h.json", "lookup.yaml", "out.json"]


def test_links_and_permissions_stay(folder: Path, cli: Cli) -> None:
    (folder / "real.json").write_text("old")
    (folder / "real.json").chmod(0o640)
    (folder / "link.json").symlink_to("real.json")
    assert cli("h.json", "--rules", "lookup.yaml", "-o", "link.json").code == 0
    assert (folder / "link.json").is_symlink()
    assert stat.S_IMODE((folder / "real.json").stat().st_mode) == 0o640
    assert json.loads((folder / "real.json").read_bytes())
    old = os.umask(0o027)
    try:
        assert cli("h.json", "--rules", "lookup.yaml", "-o", "new.json").code == 0
    finally:
        os.umask(old)
    assert stat.S_IMODE((folder / "new.json").stat().st_mode) == 0o640


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="has no devices")
def test_a_device_stays_a_device(folder: Path, cli: Cli) -> None:
    assert cli("h.json", "--rules", "lookup.yaml", "-o", "/dev/null").code == 0
    assert not Path("/dev/null").is_file()
