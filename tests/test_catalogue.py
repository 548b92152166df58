"""The codes of what can be wrong with rule files: each is told by its wrong example alone, and by no right one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import reducer
from reducer.catalogue import CATALOGUE, files
from reducer.cli.verbs.check import found
from reducer.errors import Location, Problem

_CODE = re.compile(r"[EW]\d{3}")
_SHOWN = [entry for entry in CATALOGUE.values() if entry.wrong or entry.right]


def codes(folder: Path, example: str) -> list[str]:
    names = []
    for name, text in files(example).items():
        (folder / name).write_bytes(text)
        names.append(folder / name)
    return [problem.code for problem in found(names)]


@pytest.mark.parametrize("entry", _SHOWN, ids=lambda entry: entry.code)
def test_the_wrong_example_has_this_problem_alone_and_the_right_one_none(entry: reducer.catalogue.Entry, tmp_path: Path) -> None:
    assert codes(tmp_path, entry.wrong) == [entry.code]
    assert codes(tmp_path, entry.right) == []


def test_codes_and_names_are_told_apart() -> None:
    assert all(_CODE.fullmatch(code) and code == entry.code for code, entry in CATALOGUE.items())
    assert len({entry.name for entry in CATALOGUE.values()}) == len(CATALOGUE)
    assert all(entry.cause.endswith(".") for entry in CATALOGUE.values())
    assert {entry.code for entry in CATALOGUE.values() if not entry.wrong and entry.code != "E004"} == {"E006", "E007"}


def written() -> Iterator[str]:
    """Give every code that stands as a text in the sources, outside of the catalogue."""
    root = Path(reducer.__file__).parent
    for file in root.rglob("*.py"):
        if "catalogue" not in file.parts:
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and _CODE.fullmatch(node.value):
                    yield node.value


def test_every_code_is_in_the_catalogue_and_every_entry_in_use() -> None:
    assert set(written()) == set(CATALOGUE)


def test_no_problem_is_made_without_a_code() -> None:
    with pytest.raises(TypeError):
        Problem(Location("a", 1, 1))  # type: ignore[call-arg]
    assert Problem(Location("a", 1, 1), "W010", "message").severity == "warning"
    assert Problem(Location("a", 1, 1), "E001", "message").severity == "error"
