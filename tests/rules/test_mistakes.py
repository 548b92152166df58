"""Typical mistakes of analysts: `check` reports each at its line, with the cause and a correction to copy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from reducer.cli.check import check_with_samples
from reducer.errors import Diagnostic
from reducer.rules import compile_rules
from tests.helpers import table

TABLE = table(__file__, "mistakes.yaml")
MISTAKES: list[dict[str, Any]] = TABLE["mistakes"]
HABITS: list[tuple[str, str]] = table(__file__, "habits.yaml")["habits"]
_HEAD = "version: 1\ntool: lookup\nsteps:\n  - "
_LINE = re.compile(r"(- ?|)\w+:.*")


def problems(rule: str) -> list[tuple[str, str, str]]:
    Path("r.yaml").write_text(rule, encoding="utf-8")
    found = check_with_samples("r.yaml")[1]
    return [(f"{one.location.line}:{one.location.column} {one.code}", one.message, one.help) for one in found]


@pytest.mark.parametrize("case", MISTAKES, ids=[case["name"] for case in MISTAKES])
def test_a_mistake_is_reported_at_its_line_and_its_help_corrects_it(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tests = TABLE["tests"] if "sampled" in case else ""
    place, message, advice = problems(case["rule"] + tests)[0]
    assert (place, message, advice) == (case["problem"], case["message"], case.get("help", ""))
    lines = case["rule"].splitlines()
    number = int(place.partition(":")[0]) - 1
    wrong = lines[number].lstrip(" ").removeprefix("- ")
    if advice.startswith("write ") and _LINE.fullmatch(advice[6:]) and _LINE.fullmatch(wrong):
        lines[number] = lines[number].replace(wrong, advice[6:])
        assert place not in [at for at, *_ in problems("\n".join(lines))]


def found(*lines: str) -> tuple[Diagnostic, ...]:
    return compile_rules([("r.yaml", _HEAD + "\n    ".join(lines) + "\n")])[1]


@pytest.mark.parametrize(("text", "advice"), HABITS, ids=[text for text, _ in HABITS])
def test_a_habit_is_reported_at_the_last_line_and_the_line_that_its_help_suggests_is_valid(
    text: str, advice: str
) -> None:
    *others, wrong = text.splitlines() if "path:" in text else ["path: items", *text.splitlines()]
    problem = found(*others, wrong)[0]
    assert problem.help == advice
    assert problem.code == "E013" or problem.location.line == 4 + len(others)
    right = advice.rpartition("write ")[2].removeprefix("a step of its own: ")
    if right.startswith("- "):
        assert found(right.removeprefix("- ")) == ()
    elif _LINE.fullmatch(right):
        kept = [line for line in others if line.partition(":")[0] != right.partition(":")[0]]
        in_its_place = found(*kept, right)
        in_braces = found(*others, re.sub(r"\{.*\}", f"{{{right}}}", wrong))
        assert [] in [[one for one in some if one.code != "W015"] for some in (in_its_place, in_braces)]
