"""Problems of rule files: the examples of their codes, and the exact output for the cases in `messages.txt`.

Each case is a rule file (or several, each after a line such as `# b.yaml`) and, after `>>>`, the output of `check`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import reducer
from reducer.cli.check import check_with_samples
from reducer.rules import compile_rules
from reducer.rules.diagnostics import Report, Span, catalogue
from tests.rules.examples import example_files, split_files

_CODE = re.compile(r"[EW]\d{3}")


def codes(folder: Path, example: str) -> list[str]:
    for name, text in example_files(example).items():
        (folder / name).write_bytes(text)
    return [problem.code for problem in check_with_samples(folder)[1]]


@pytest.mark.parametrize("code", [code for code, entry in catalogue().items() if entry.wrong])
def test_the_wrong_example_has_only_this_problem_and_the_right_one_has_none(code: str, tmp_path: Path) -> None:
    assert codes(tmp_path, catalogue()[code].wrong) == [code]
    assert codes(tmp_path, catalogue()[code].right) == []


def test_codes_and_names_are_distinct() -> None:
    entries = catalogue()
    assert all(_CODE.fullmatch(code) for code in entries)
    assert len({entry.name for entry in entries.values()}) == len(entries)
    assert all(entry.cause.endswith(".") for entry in entries.values())
    assert all(bool(entry.wrong) is bool(entry.right) for entry in entries.values())


def test_a_code_without_an_example_has_another_test() -> None:
    files = [file for file in Path(__file__).parents[1].rglob("*.*") if file.suffix in (".py", ".yaml", ".txt")]
    tested = "".join(file.read_text(encoding="utf-8") for file in files if "golden" not in file.parts)
    assert [code for code, entry in catalogue().items() if not entry.wrong and code not in tested] == []


def codes_in_sources() -> Iterator[str]:
    """Yield every code that occurs in the sources."""
    for file in Path(reducer.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _CODE.fullmatch(node.value):
                yield node.value


def test_every_code_has_an_entry_and_every_entry_is_used() -> None:
    assert set(codes_in_sources()) == set(catalogue())


TEXT = Path(__file__).with_name("messages.txt").read_text(encoding="utf-8")
CASES = re.findall(r"^=== (.+)\n((?s:.*?))^>>>\n((?s:.*?))(?=^=== |\Z)", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("files", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_messages(files: str, expected: str) -> None:
    problems = compile_rules(split_files("r.yaml", files))[1]
    assert "".join(f"{problem}\n" for problem in problems) == expected


def test_the_first_error_at_a_position_hides_the_others_there_but_a_warning_hides_none() -> None:
    report = Report("r.yaml", ("a: b", "c: d"))
    for line, code in [(2, "W061"), (1, "W061"), (2, "W063"), (1, "E010"), (1, "E020")]:
        report.add(Span(line, 1, 1), code, "")
    assert [(one.location.line, one.code) for one in report.in_order()] == [(1, "E010"), (2, "W061"), (2, "W063")]


def test_every_case_is_read() -> None:
    assert len(CASES) == TEXT.count("\n>>>\n") > 100
