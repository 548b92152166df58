"""`--watch`: a verb runs again when what it reads is saved, and tells what changed."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reducer.cli.watch import changes
from tests.cli.conftest import RULE, Result, history, start

Cli = Callable[..., Result]
TESTED = RULE + "tests:\n  - {name: five stay, given: {file: sample.json}, expect: {values: {length(records): 5}}}\n"


class Running:
    """A verb that is watched in a process: `until` waits for what it prints next, and gives it."""

    def __init__(self, done: subprocess.Popen[bytes], printed: Path) -> None:
        self.process = done
        self._printed = printed
        self._seen = 0

    def until_it_waits(self) -> str:
        for _ in range(1200):
            text = self._printed.read_text(encoding="utf-8")[self._seen :]
            if "; Ctrl-C ends\n" in text:
                self._seen += len(text)
                return text
            assert self.process.poll() is None, text
            time.sleep(0.05)
        raise AssertionError(text)


@contextmanager
def watched(folder: Path, *arguments: str) -> Iterator[Running]:
    printed = folder / "printed.log"
    with printed.open("wb") as file:
        done = start(*arguments, "--watch", cwd=folder, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    try:
        yield Running(done, printed)
        done.send_signal(signal.SIGINT)
        assert done.wait(60) == 130
        assert "Traceback" not in printed.read_text(encoding="utf-8")
    finally:
        done.kill()
        done.wait()


def save(file: Path, content: str | bytes) -> None:
    """Save a file in one step, as editors do."""
    new = file.with_suffix(".new")
    new.write_bytes(content.encode() if isinstance(content, str) else content)
    new.replace(file)


def test_tests_are_run_again(folder: Path) -> None:
    save(folder / "sample.json", '{"records": [{}, {}, {}, {}, {}, {}]}')
    save(folder / "lookup.yaml", TESTED)
    with watched(folder, "test", "lookup.yaml") as running:
        first = running.until_it_waits()
        assert "1 test of 1 rule: passed\n" in first
        assert "Since the last run" not in first
        save(folder / "lookup.yaml", TESTED.replace("limit: 5", "limit: 4"))
        second = running.until_it_waits()
        assert (
            "1 test of 1 rule: 1 failed\n\nSince the last run\n  lookup.yaml: five stay: failed, was passed\n" in second
        )
        save(folder / "lookup.yaml", TESTED.replace("limit: 5", "limt: 5"))
        assert "did you mean `limit`?" in running.until_it_waits()
        save(folder / "lookup.yaml", TESTED)
        assert "lookup.yaml: five stay: passed, was failed\n" in running.until_it_waits()
        save(folder / "sample.json", '{"records": []}')
        assert "lookup.yaml: five stay: failed, was passed\n" in running.until_it_waits()


def test_rules_are_checked_again(folder: Path) -> None:
    with watched(folder, "check", ".") as running:
        assert "1 rule file: no problems\n" in running.until_it_waits()
        save(folder / "other.yaml", RULE.replace("lookup", "other").replace("limit: 5", "limt: 5"))
        second = running.until_it_waits()
        assert "Since the last run\n  new: other.yaml: error[" in second
        assert "unknown key `limt`" in second
        (folder / "other.yaml").unlink()
        assert "  gone: other.yaml: error[" in running.until_it_waits()


def test_the_dry_run_is_run_again(folder: Path) -> None:
    with watched(folder, "h.json", "--rules", "lookup.yaml") as running:
        running.until_it_waits()
        save(folder / "lookup.yaml", RULE.replace("limit: 5", "limit: 2"))
        assert "  lookup: 87 of 2,913 characters kept, was 198 of 2,913 characters kept\n" in running.until_it_waits()
        save(folder / "h.json", history(("lookup", {"records": []}), ("other", {})))
        third = running.until_it_waits()
        assert "  new: other: 2 of 2 characters kept\n" in third


@pytest.mark.parametrize(
    "arguments",
    [
        ["-"],
        ["h.json", "-o", "out.json"],
        ["h.json", "--format", "json"],
        ["check", "--fix"],
        ["check", "--format", "json"],
        ["test", "--format", "junit"],
    ],
)
def test_what_cannot_be_watched(folder: Path, cli: Cli, arguments: list[str]) -> None:
    result = cli(*arguments, "--watch")
    assert (result.code, result.out) == (2, "")
    assert "--watch" in result.err
    assert "leave out" in result.err


def test_what_changed() -> None:
    assert list(changes({"a": "1", "b": "2", "c": ""}, {"a": "1", "b": "3", "d": "", "e": "4"})) == [
        "b: 3, was 2",
        "new: d",
        "new: e: 4",
        "gone: c",
    ]
    assert list(changes({"a": "1"}, {"a": "1"})) == []
