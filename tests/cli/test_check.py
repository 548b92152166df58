"""`check`: the mistakes in rule files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import RULE, Result, process

Cli = Callable[..., Result]


def test_sound_rules(folder: Path, cli: Cli) -> None:
    result = cli("check", "lookup.yaml")
    assert (result.code, result.out, result.err) == (0, "1 rule file: no problems\n", "")


def test_the_rules_that_a_dry_run_would_use(folder: Path, cli: Cli) -> None:
    assert " in the rules bundled with reducer" in cli("check").out
    (folder / "rules").mkdir()
    (folder / "rules" / "a.yaml").write_text(RULE)
    assert cli("check").out == "1 rule file in ./rules: no problems\n"


def test_every_problem_of_every_file(folder: Path) -> None:
    (folder / "a.yaml").write_text(RULE.replace("limit: 5", "limt: 5"))
    (folder / "b.yaml").write_text(RULE.replace("keep: [name, seen]", "keep: 3").replace("lookup", "other"))
    (folder / "lookup.yaml").unlink()
    result = process("check", ".")
    assert (result.code, result.err) == (1, "")
    lines = result.out.splitlines()
    assert "a.yaml:5:5: error[E010]: unknown key `limt`" in lines
    assert "  help: did you mean `limit`?" in lines
    assert any(line.startswith("b.yaml:7:11: error[E020]: ") for line in lines)
    assert lines[-1] == "2 errors in 2 rule files"


def test_warnings_count_with_strict(folder: Path, cli: Cli) -> None:
    (folder / "a.yaml").write_text(RULE.replace("lookup", "'look*'"))
    (folder / "b.yaml").write_text(RULE.replace("lookup", "'look?'"))
    result = cli("check", "a.yaml", "b.yaml")
    assert result.code == 0
    assert result.out.splitlines()[-1] == "1 warning in 2 rule files"
    assert cli("check", "a.yaml", "b.yaml", "--strict").code == 1


def test_what_is_no_rule_folder(folder: Path, cli: Cli) -> None:
    (folder / "none").mkdir()
    result = cli("check", "none")
    assert (result.code, result.out) == (2, "")
    assert result.err == "reducer: error: none: no rule files (.yaml or .yml) in this folder\n"
    assert cli("check", "nothing.yaml").err == "reducer: error: nothing.yaml: No such file or directory\n"
    assert cli("check", "--what").code == 2


def test_a_file_that_is_no_rule(folder: Path, cli: Cli) -> None:
    result = cli("check", "h.json")
    assert result.code == 1
    assert result.out.startswith("h.json:1:")
    for content in (b"", b"\xff\xfe", b"\x00" * 9, b"[" * 100_000):
        (folder / "odd.yaml").write_bytes(content)
        result = cli("check", "odd.yaml")
        assert (result.code, result.err) == (1, "")
        assert result.out.startswith("odd.yaml:1:")


def test_names_in_rules_cannot_steer_the_terminal(folder: Path, cli: Cli) -> None:
    (folder / "odd.yaml").write_text(RULE.replace("limit: 5", '"\\e[2Jlimt": 5'))
    result = cli("check", "odd.yaml")
    assert result.code == 1
    assert "\x1b" not in result.out
    assert "\\x1b[2Jlimt" in result.out
    assert "\x1b" not in cli("h.json", "--rules", "odd.yaml").err


def test_a_step_that_preserve_undoes_on_a_sample_is_told_with_the_ways_out(folder: Path, cli: Cli) -> None:
    rule = RULE + "preserve: [ip]\ntests:\n  - {name: many, given: {file: many.json}, expect: {unchanged: false}}\n"
    (folder / "lookup.yaml").write_text(rule)
    records = [{"name": f"192.0.2.{number}", "seen": "2024-01-01"} for number in range(30)]
    (folder / "many.json").write_text(json.dumps({"records": records}))
    result = cli("check", "lookup.yaml")
    assert result.code == 0
    assert "lookup.yaml:4:5: warning[W051]: preserve restores " in result.out
    assert "`preserve: []` on the step restores nothing" in result.out
    (folder / "many.json").unlink()
    assert (
        "lookup.yaml:1:1: warning[W050]: cannot read the sample of the test `many`: many.json: No such file"
        in cli("check", "lookup.yaml").out
    )
    (folder / "lookup.yaml").write_text(rule.replace("preserve: [ip]", "preserve: []"))
    assert cli("check", "lookup.yaml").out == "1 rule file: no problems\n"
