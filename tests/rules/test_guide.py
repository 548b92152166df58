"""The reference in `rules/README.md` is true: each line about quotes, the actions, and the line for editors."""

from __future__ import annotations

import re

import pytest

from reducer.rules import compile_rules
from tests.rules.test_schema import MODELINE, errors
from tests.tools.write_rules_page import BEGIN, END, PAGE, actions

TEXT = PAGE.read_text(encoding="utf-8")
QUOTES = re.findall(r"^\| ``(.+?)``  ?\| ``(.+?)``  ?\| .+ \|$", TEXT.replace(" `` |", "``  |"), re.MULTILINE)


def rule_with(line: str) -> str:
    """Return a rule with this line at a place where it is allowed."""
    key = line.split(":")[0]
    if key == "tool":
        return f"version: 1\n{line}\nmax_chars: 9\n"
    beside = {"path": "    compact: true\n", "always_keep": "    limit: 3\n", "sort_by": "    limit: 3\n"}
    return f"version: 1\ntool: t\nsteps:\n  - {line}\n{beside.get(key, '')}"


@pytest.mark.parametrize(("instead", "written"), QUOTES, ids=[written for _, written in QUOTES])
def test_each_line_about_quotes_is_true(instead: str, written: str) -> None:
    assert compile_rules([("r.yaml", rule_with(instead))])[1] != ()
    ruleset, problems = compile_rules([("r.yaml", rule_with(written))])
    assert [str(problem) for problem in problems] == []
    assert ruleset is not None


def test_all_lines_about_quotes_are_tried() -> None:
    section = TEXT.partition("## Quotes")[2].partition("\n## ")[0]
    assert len(QUOTES) == len([line for line in section.splitlines() if line.startswith("| ``")]) > 20
    assert errors(rule_with("keep: [last-seen, source.ip]")) == []


def test_the_actions_and_the_line_for_editors_are_as_their_code_has_them() -> None:
    assert f"{BEGIN}{actions()}{END}" in TEXT
    assert f"```yaml part\n{MODELINE}```\n" in TEXT
