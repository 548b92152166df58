"""`--watch`: a verb runs again when what it reads is saved, and tells what changed."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.conftest import RULE, history, start

TESTED = RULE + "tests:\n  - {name: five stay, given: {file: sample.json}, expect: {values: {length(records): 5}}}\n"


@contextmanager
def watched(folder: Path, *arguments: str) -> Iterator[Callable[[], str]]:
    """Watch a verb in a process; yield a function that waits for the next run, and returns what it prints."""
    printed = folder / "printed.log"
    seen = 0

    def next_run() -> str:
        nonlocal seen
        for _ in range(1200):
            text = printed.read_text(encoding="utf-8")[seen:]
            if "; Ctrl-C ends\n" in text:
                seen += len(text)
                return text
            assert done.poll() is None, text
            time.sleep(0.05)
        raise AssertionError(text)

    with printed.open("wb") as file:
        done = start(*arguments, "--watch", cwd=folder, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    try:
        yield next_run
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
    with watched(folder, "test", "lookup.yaml") as next_run:
        first = next_run()
        assert "1 test of 1 rule: passed\n" in first
        assert "Since the last run" not in first
        save(folder / "lookup.yaml", TESTED.replace("limit: 5", "limit: 4"))
        second = next_run()
        assert (
            "1 test of 1 rule: 1 failed\n\nSince the last run\n  lookup.yaml: five stay: failed, was passed\n" in second
        )
        save(folder / "lookup.yaml", TESTED.replace("limit: 5", "limt: 5"))
        assert "did you mean `limit`?" in next_run()
        save(folder / "lookup.yaml", TESTED)
        assert "lookup.yaml: five stay: passed, was failed\n" in next_run()
        save(folder / "sample.json", '{"records": []}')
        assert "lookup.yaml: five stay: failed, was passed\n" in next_run()


def test_rules_are_checked_again(folder: Path) -> None:
    with watched(folder, "check", ".") as next_run:
        assert "1 rule file: no problems\n" in next_run()
        save(folder / "other.yaml", RULE.replace("lookup", "other").replace("limit: 5", "limt: 5"))
        second = next_run()
        assert "Since the last run\n  new: other.yaml: error[" in second
        assert "unknown key `limt`" in second
        (folder / "other.yaml").unlink()
        assert "  gone: other.yaml: error[" in next_run()


def test_the_dry_run_is_run_again(folder: Path) -> None:
    with watched(folder, "h.json", "--rules", "lookup.yaml") as next_run:
        next_run()
        save(folder / "lookup.yaml", RULE.replace("limit: 5", "limit: 2"))
        assert "  lookup: 87 of 2,913 characters kept, was 198 of 2,913 characters kept\n" in next_run()
        save(folder / "h.json", history(("lookup", {"records": []}), ("other", {})))
        third = next_run()
        assert "  new: other: 2 of 2 characters kept\n" in third
