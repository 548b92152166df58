"""`check --fix` and `--diff`; problems as JSON and workflow commands; `explain`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from reducer.rules.diagnostics import catalogue
from tests.cli.conftest import RULE, Result, process

Cli = Callable[..., Result]
WRONG = RULE.replace("limit: 5", "limt: 5  # few").replace("keep: [name, seen]", "keep: [name, @seen]")
MISSPELT = RULE.replace("limit: 5", "limt: 5  # few")
RIGHT = RULE.replace("limit: 5", "limit: 5  # few").replace("keep: [name, seen]", 'keep: [name, "@seen"]')


@pytest.fixture
def wrong(folder: Path) -> Path:
    file = folder / "lookup.yaml"
    file.write_text(WRONG)
    return file


def test_fix_corrects_in_place_and_checks_again(wrong: Path, cli: Cli) -> None:
    wrong.chmod(0o640)
    result = cli("check", "lookup.yaml", "--fix")
    assert (result.code, result.out) == (0, "1 rule file: no problems\n")
    assert result.err == "reducer: corrected 1 rule file: lookup.yaml\n"
    assert wrong.read_text() == RIGHT
    assert wrong.stat().st_mode & 0o777 == 0o640
    assert cli("check", "lookup.yaml", "--fix").err == ""
    assert [file.name for file in wrong.parent.iterdir() if ".tmp" in file.name] == []


def test_diff_shows_and_writes_nothing(wrong: Path) -> None:
    result = process("check", "--diff", "lookup.yaml")
    assert result.code == 1
    assert wrong.read_text() == WRONG
    lines = result.out.splitlines()
    assert lines[:2] == ["--- lookup.yaml", "+++ lookup.yaml"]
    assert "-    limt: 5  # few" in lines
    assert "+    limit: 5  # few" in lines
    assert lines[-1] == "1 error in 1 rule file"


def test_what_is_not_clear_stays(folder: Path, cli: Cli) -> None:
    text = RULE.replace("limit: 5", "frobnicate: 5")
    (folder / "lookup.yaml").write_text(text)
    assert cli("check", "lookup.yaml", "--fix").code == 1
    assert (folder / "lookup.yaml").read_text() == text


def test_the_bundled_rules_are_not_changed(folder: Path, cli: Cli) -> None:
    result = cli("check", "--fix")
    assert (result.code, result.err) == (
        2,
        "reducer: error: the bundled rules are never changed; name your own\n",
    )
    assert cli("check", "--diff", "--format", "json").code == 2


def test_json_has_every_field(wrong: Path, cli: Cli) -> None:
    wrong.write_text(MISSPELT)
    result = cli("check", "lookup.yaml", "--format", "json")
    assert result.code == 1
    [problem] = json.loads(result.out)["problems"]
    assert problem == {
        "file": "lookup.yaml",
        "line": 5,
        "column": 5,
        "width": 4,
        "severity": "error",
        "code": "E010",
        "name": "unknown-key",
        "message": "unknown key `limt`",
        "help": "did you mean `limit`?",
        "excerpt": "    limt: 5  # few",
        "fix": [{"line": 5, "column": 5, "width": 4, "text": "limit"}],
    }
    wrong.write_text(RULE)
    assert json.loads(cli("check", "lookup.yaml", "--format", "json").out) == {"problems": []}


def test_workflow_commands(folder: Path, cli: Cli) -> None:
    (folder / "a,b%.yaml").write_text(MISSPELT)
    result = cli("check", "a,b%.yaml", "--format", "github")
    assert result.code == 1
    assert result.out.splitlines() == [
        "::error file=a%2Cb%25.yaml,line=5,endLine=5,col=5,endColumn=9,title=E010 unknown-key::unknown key `limt`%0Ahelp: did you mean `limit`?"
    ]


def test_explain_prints_cause_wrong_and_right(cli: Cli) -> None:
    result = cli("explain", "e010")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "E010 unknown-key: The rule language has no such key here.\n"
        "\nwrong:\n  - path: items\n    limt: 20\n\nright:\n  - path: items\n    limit: 20\n"
    )
    assert cli("explain", "unknown-key").out == result.out
    assert cli("explain", "V030").out.startswith("V030 error: A tool call has no tool return before the next response.")


@pytest.mark.parametrize(("given", "near"), [("E0100", "E010"), ("unknown-kex", "unknown-key"), ("W0111", "W011")])
def test_explain_of_no_code_names_the_nearest(cli: Cli, given: str, near: str) -> None:
    result = cli("explain", given)
    assert (result.code, result.out) == (2, "")
    assert result.err == f"reducer: error: {given}: unknown code; did you mean {near}?\n"


def test_every_code_is_explained(cli: Cli) -> None:
    for code, entry in catalogue().items():
        result = cli("explain", code)
        assert result.code == 0
        assert result.out.startswith(f"{code} {entry.name}: {entry.cause}\n")
