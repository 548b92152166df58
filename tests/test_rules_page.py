"""What `rules/README.md` says is what happens: its commands run, its recipes give what they show, each line about quotes is true."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from reducer.cli import VERBS
from reducer.engine import reduce_content
from reducer.rule import compile_rules
from reducer.source import parse, plain
from tests.schema.test_schema import MODELINE, errors, read, refusals
from tests.shipped import RULES
from tests.test_readme import reducer
from tests.tools.write_rules_page import BEGIN, END, PAGE, actions

TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)([^\n]*)\n(.*?)^```$", TEXT.replace(actions(), ""), re.MULTILINE | re.DOTALL)
RECIPES = re.findall(r"^### ([^\n]+)\n[^#]*?```yaml\n(.*?)```\n\n```\w+ given\n(.*?)\n```\n\n```\w+ left\n(.*?)\n```\n", TEXT, re.MULTILINE | re.DOTALL)
QUOTES = re.findall(r"^\| ``(.+?)``  ?\| ``(.+?)``  ?\| .+ \|$", TEXT.replace(" `` |", "``  |"), re.MULTILINE)


def content(written: str) -> Any:
    """Read what a block shows: JSON if all of it is, else a text."""
    try:
        return json.loads(written)
    except ValueError:
        return written


@pytest.mark.parametrize(("rule", "given", "left"), [recipe[1:] for recipe in RECIPES], ids=[recipe[0] for recipe in RECIPES])
def test_recipes_leave_what_they_show(rule: str, given: str, left: str) -> None:
    ruleset, problems = compile_rules([("recipe.yaml", rule)])
    assert [str(problem) for problem in problems] == []
    assert ruleset is not None
    assert refusals(read(rule)) == []
    before = content(given)
    after = reduce_content(ruleset, ruleset.rules[0].name, before)
    assert after != before
    assert after == content(left)


def test_all_recipes_are_run() -> None:
    assert len(RECIPES) == len([body for name, tag, body in BLOCKS if name == "yaml" and not tag]) >= 6


def rule_with(line: str) -> str:
    """Put a line of a rule where it may stand."""
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


def test_the_actions_are_as_their_code_has_them() -> None:
    assert f"{BEGIN}{actions()}{END}" in TEXT


def test_the_ten_minutes(tmp_path: Path) -> None:
    (tmp_path / "rules").symlink_to(RULES)
    ran = 0
    for name, tag, body in BLOCKS:
        if name != "console":
            continue
        if tag.strip() == "take":
            draft_file = tmp_path / "mine" / "find_incidents.yaml"
            draft_file.write_text(draft_file.read_text(encoding="utf-8").replace("limit: 20", "take: 20"), encoding="utf-8")
        first, _, expected = body.partition("\n")
        words = shlex.split(first)[1:]
        if words[0] == "cp":
            shutil.copy(tmp_path / words[1], tmp_path / words[2])
        else:
            assert words[:3] == ["python", "-m", "reducer"]
            assert words[3] in VERBS
            assert expected.strip() in reducer(tmp_path, *words[3:])
            ran += 1
    assert ran >= 6
    assert json.loads((tmp_path / "mine" / ".schema.json").read_bytes())
    # The step that is shown fits into the draft.
    [step] = [read(body) for name, tag, body in BLOCKS if (name, tag.strip()) == ("yaml", "step")]
    tree, _ = parse((tmp_path / "mine" / "find_incidents.yaml").read_bytes(), "draft")
    assert tree is not None
    draft = plain(tree)
    assert draft["steps"][0]["path"] == step["path"]
    draft["steps"][0] = step
    assert errors(json.dumps(draft)) == []
    # So does the test, which passes then.
    [tests] = [read(body) for name, tag, body in BLOCKS if (name, tag.strip()) == ("yaml", "tests")]
    (tmp_path / "mine" / "find_incidents.yaml").write_text(json.dumps({**draft, **tests}), encoding="utf-8")
    assert reducer(tmp_path, "test", "mine/").startswith("1 test of 1 rule: passed\n")


def test_the_line_for_editors() -> None:
    assert [body for name, tag, body in BLOCKS if tag.strip() == "modeline"] == [MODELINE]


def test_links_lead_somewhere() -> None:
    headings = {re.sub(r"[^a-z -]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)}
    links = re.findall(r"\]\(#([^)]+)\)", TEXT)
    assert len(links) >= 5
    assert set(links) <= headings
