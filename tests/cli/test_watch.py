"""`--watch`: a verb runs again when one of its files is saved."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from reducer.cli import main, watch
from tests.cli.conftest import RULE

Watched = Callable[..., list[str]]


@pytest.fixture
def watched(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Watched:
    """Return a function that runs a verb with `--watch`, and returns the output of each run.

    Whenever the verb waits for a change, the next of the `steps` saves files, or deletes files without content. The
    last step is followed by Ctrl-C.
    """

    def printed_by(command: str, *steps: dict[str, str]) -> list[str]:
        printed, pauses, todo = [], count(), iter(steps)

        def sleep(seconds: float) -> None:
            if next(pauses) % 2:
                return  # after a change
            printed.append("".join(capfd.readouterr()))
            for name, content in next(todo, {"": ""}).items():
                if not name:
                    raise KeyboardInterrupt
                (folder / name).unlink(missing_ok=True)
                if content:
                    (folder / f"{name}.new").write_text(content)
                    (folder / f"{name}.new").replace(folder / name)

        monkeypatch.setattr(watch.time, "sleep", sleep)
        assert main([*command.split(), "--watch"]) == 130
        assert all(text.endswith("; press Ctrl-C to stop\n") for text in printed)
        assert len(printed) == len(steps) + 1
        return printed

    return printed_by


def test_rules_are_checked_again(watched: Watched) -> None:
    other = RULE.replace("lookup", "other").replace("limit: 5", "limt: 5")
    first, second, third = watched("check .", {"other.yaml": other}, {"other.yaml": ""})
    assert "1 rule file: no problems\n" in first
    assert "unknown key `limt`" in second
    assert "1 rule file: no problems\n" in third


def test_a_rule_is_tried_again(folder: Path, watched: Watched) -> None:
    (folder / "sample.json").write_text('{"records": [{"name": "b"}, {"name": "192.0.2.1"}]}')
    steps = [{"lookup.yaml": RULE.replace("limit: 5", text)} for text in ("limit: 1", "limt: 1", "limit: 5")]
    first, second, third, fourth = watched("try lookup.yaml sample.json", *steps)
    assert "  47 characters, unchanged: " in first
    assert "  47 -> 26 characters, " in second
    assert "did you mean `limit`?" in third
    assert "  47 characters, unchanged: " in fourth


def test_a_rule_is_tried_again_on_the_samples_of_its_tool(folder: Path, watched: Watched) -> None:
    (folder / "samples").mkdir()
    (folder / "samples" / "lookup_1.json").write_text('{"records": []}')
    _, second = watched("try lookup.yaml", {"samples/lookup_2.json": '{"records": [7]}'})
    assert "sample lookup_2.json (lookup.yaml)\n  15 characters, unchanged: " in second
