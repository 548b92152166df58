"""Files with planted mistakes: as many findings, each at its line and column, and nothing besides."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reducer.rule import compile_rules
from reducer.rule.fix import fixed

FILES = sorted((Path(__file__).parent / "planted").glob("*.yaml"))
_PLANTED = re.compile(r" *#!((?: [EW]\d{3}:\d+)+)$")


def planted(file: Path) -> tuple[str, list[tuple[int, int, str]]]:
    """Give the rule file without its notes, and what they say: line, column, code."""
    text, expected = [], []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        note = _PLANTED.search(line)
        text.append(line[: note.start()] if note else line)
        for found in note[1].split() if note else ():
            code, column = found.split(":")
            expected.append((number, int(column), code))
    return "\n".join(text) + "\n", expected


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_mistake_is_found_once_and_at_its_place(file: Path) -> None:
    text, expected = planted(file)
    _, problems = compile_rules([("r.yaml", text)])
    assert sorted((problem.location.line, problem.location.column, problem.code) for problem in problems) == expected


def test_twenty_are_twenty() -> None:
    assert len(planted(Path(__file__).parent / "planted" / "twenty.yaml")[1]) == 20


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_most_of_them_are_corrected_unasked(file: Path) -> None:
    text, expected = planted(file)
    better = fixed({"r.yaml": text.encode()})["r.yaml"]
    assert len(compile_rules([("r.yaml", better)])[1]) <= len(expected) // 2
    assert [line.partition("#")[2] for line in better.decode().splitlines() if line.startswith("#")] == [
        line.partition("#")[2] for line in text.splitlines() if line.startswith("#")
    ]
