"""Problems of rule files: the examples of their codes, and the exact output for the cases in `messages.txt`.

Each case is a rule file (or several, each after a line such as `# b.yaml`) and, after `>>>`, the output of `check`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import reducer
from reducer.cli.check import check_with_samples
from reducer.rules import compile_rules
from reducer.rules.diagnostics import Report, Span, catalogue
from tests.rules.examples import example_files, split_files


def codes(folder: Path, example: str) -> list[str]:
    for name, text in example_files(example).items():
        (folder / name).write_bytes(text)
    return [problem.code for problem in check_with_samples(folder)[1]]


@pytest.mark.parametrize("code", [code for code, entry in catalogue().items() if entry.wrong])
def test_the_wrong_example_has_only_this_problem_and_the_right_one_has_none(code: str, tmp_path: Path) -> None:
    assert codes(tmp_path, catalogue()[code].wrong) == [code]
    assert codes(tmp_path, catalogue()[code].right) == []


def test_names_of_codes_are_distinct_and_causes_are_sentences() -> None:
    entries = catalogue().values()
    assert len({entry.name for entry in entries}) == len(entries)
    assert all(entry.cause.endswith(".") for entry in entries)


def test_a_code_without_an_example_has_another_test() -> None:
    files = [file for file in Path(__file__).parents[1].rglob("*.*") if file.suffix in (".py", ".yaml", ".txt")]
    tested = "".join(file.read_text(encoding="utf-8") for file in files if "golden" not in file.parts)
    assert [code for code, entry in catalogue().items() if not entry.wrong and code not in tested] == []


def test_every_code_has_an_entry_and_every_entry_is_used() -> None:
    sources = [file.read_text(encoding="utf-8") for file in Path(reducer.__file__).parent.rglob("*.py")]
    assert set(re.findall(r"[\"']([EW]\d{3})[\"']", "".join(sources))) == set(catalogue())


TEXT = Path(__file__).with_name("messages.txt").read_text(encoding="utf-8")
CASES = re.findall(r"^=== (.+)\n((?s:.*?))^>>>\n((?s:.*?))(?=^=== |\Z)", TEXT, re.MULTILINE)
assert len(CASES) == TEXT.count("\n>>>\n") > 100


@pytest.mark.parametrize(("files", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_messages(files: str, expected: str) -> None:
    problems = compile_rules(split_files("r.yaml", files))[1]
    assert "".join(f"{problem}\n" for problem in problems) == expected


def test_the_first_error_at_a_position_hides_the_others_there_but_a_warning_hides_none() -> None:
    report = Report("r.yaml", ("a: b", "c: d"))
    for line, code in [(2, "W061"), (1, "W061"), (2, "W063"), (1, "E010"), (1, "E020")]:
        report.add(Span(line, 1, 1), code, "")
    assert [(one.location.line, one.code) for one in report.in_order()] == [(1, "E010"), (2, "W061"), (2, "W063")]
