"""`check`: the mistakes in rule files, their corrections, and problems as JSON and workflow commands."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import RULE, Cli, Result

MISSPELT = RULE.replace("limit: 5", "limt: 5  # few")
WRONG = MISSPELT.replace("keep: [name, seen]", "keep: [name, @seen]")
RIGHT = RULE.replace("limit: 5", "limit: 5  # few").replace("keep: [name, seen]", 'keep: [name, "@seen"]')


def test_sound_rules(folder: Path, cli: Cli) -> None:
    assert json.loads(cli("check", "lookup.yaml", "--format", "json").out) == {"problems": []}
    assert " in the rules bundled with reducer" in cli("check").out
    (folder / "rules").mkdir()
    (folder / "rules" / "a.yaml").write_text(RULE)
    assert cli("check").out == "1 rule file in ./rules: no problems\n"


def test_a_step_that_preserve_undoes_on_a_sample(folder: Path, cli: Cli) -> None:
    rule = RULE + "preserve: [ip]\ntests:\n  - {name: many, given: {file: many.json}, expect: {unchanged: false}}\n"
    (folder / "lookup.yaml").write_text(rule)
    records = [{"name": f"192.0.2.{number}", "seen": "2024-01-01"} for number in range(30)]
    (folder / "many.json").write_text(json.dumps({"records": records}))
    result = cli("check", "lookup.yaml")
    assert result.code == 0
    assert "lookup.yaml:4:5: warning[W051]: preserve restores " in result.out
    assert "`preserve: []` on the step restores nothing" in result.out
    (folder / "many.json").unlink()
    unreadable = "lookup.yaml:1:1: warning[W050]: cannot read the sample of the test `many`: many.json: No such file"
    assert unreadable in cli("check", "lookup.yaml").out
    (folder / "lookup.yaml").write_text(rule.replace("preserve: [ip]", "preserve: []"))
    assert cli("check", "lookup.yaml").out == "1 rule file: no problems\n"


def test_fix_corrects_in_place_and_checks_again(folder: Path, cli: Cli) -> None:
    file = folder / "lookup.yaml"
    file.write_text(WRONG)
    file.chmod(0o640)
    corrected = Result(0, "1 rule file: no problems\n", "reducer: corrected 1 rule file: lookup.yaml\n")
    assert cli("check", "lookup.yaml", "--fix") == corrected
    assert file.read_text() == RIGHT
    assert file.stat().st_mode & 0o777 == 0o640
    assert cli("check", "lookup.yaml", "--fix").err == ""
    assert list(folder.glob("*.tmp*")) == []
    unclear = RULE.replace("limit: 5", "frobnicate: 5")
    file.write_text(unclear)
    assert cli("check", "lookup.yaml", "--fix").code == 1
    assert file.read_text() == unclear


def test_formats_for_programs(folder: Path, cli: Cli) -> None:
    (folder / "a,b%.yaml").write_text(MISSPELT)
    result = cli("check", "a,b%.yaml", "--format", "json")
    assert result.code == 1
    assert json.loads(result.out)["problems"] == [
        {
            "file": "a,b%.yaml", "line": 5, "column": 5, "width": 4, "severity": "error", "code": "E010",
            "name": "unknown-key", "message": "unknown key `limt`", "help": "did you mean `limit`?",
            "excerpt": "    limt: 5  # few", "fix": [{"line": 5, "column": 5, "width": 4, "text": "limit"}],
        }
    ]  # fmt: skip
    result = cli("check", "a,b%.yaml", "--format", "github")
    assert result.code == 1
    assert result.out == (
        "::error file=a%2Cb%25.yaml,line=5,endLine=5,col=5,endColumn=9,title=E010 unknown-key"
        "::unknown key `limt`%0Ahelp: did you mean `limit`?\n"
    )
