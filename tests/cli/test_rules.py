"""`rules` lists the built-in rules, and copies them with their samples."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, history
from tests.helpers import BY_FILE, RULES


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_list_shows_the_purpose_and_the_tools_of_every_rule(cli: Cli) -> None:
    result = cli("rules")
    for name, rule in BY_FILE.items():
        assert f"\n  {name}: {rule.description}\n    tools: {', '.join(rule.tools)}\n" in result.out
    assert result.out.startswith("general\n  any_tool: ")
    assert result.out.endswith(f"\n\n{len(BY_FILE)} rules; `rules add NAME` copies one\n")


def test_a_copy_passes_its_tests_with_its_samples(cli: Cli) -> None:
    result = cli("rules", "add", "grype_scan", "run_tests", "-o", "mine")
    samples = [f"samples/run_tests_{end}.txt" for end in ("pytest", "jest", "node", "tap")]
    names = ["samples/grype_scan.json", "grype_scan.yaml", *samples, "run_tests.yaml"]
    assert result.out == "".join(f"wrote mine/{name}\n" for name in names)
    assert Path("mine/run_tests.yaml").read_text().startswith("# yaml-language-server: $schema=.schema.json\n")
    assert Path(f"mine/{samples[0]}").read_bytes() == (RULES / "coding" / samples[0]).read_bytes()
    assert cli("test", "mine").code == 0
    assert cli("check", "mine", "--strict").code == 0


def test_nothing_is_overwritten_and_nothing_is_half_copied(cli: Cli) -> None:
    assert cli("rules", "add", "grype_scan").code == 0
    before = Path("rules/grype_scan.yaml").read_bytes()
    result = cli("rules", "add", "run_tests", "grype_scan")
    files = "rules/samples/grype_scan.json, rules/grype_scan.yaml"
    assert (result.code, result.err) == (2, f"reducer: error: nothing was written because these files exist: {files}\n")
    assert not Path("rules/run_tests.yaml").exists()
    assert Path("rules/grype_scan.yaml").read_bytes() == before
    Path("rules/own.yaml").write_text("version: 1\ntool: bash\nmax_chars: 900\n")
    assert "the tool `bash` already has a rule at rules/own.yaml" in cli("rules", "add", "run_tests").err
    assert not Path("rules/run_tests.yaml").exists()


def test_an_installed_package_has_no_samples(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    without = shutil.ignore_patterns("samples")
    for pack in ("general", "web", "databases"):
        shutil.copytree(RULES / pack, tmp_path / "installed" / pack, ignore=without)
    monkeypatch.setattr("reducer.files.builtin_rules", lambda: tmp_path / "installed")
    result = cli("rules", "add", "fetch_page", "execute")
    assert result.out == "wrote rules/fetch_page.yaml\nwrote rules/execute.yaml\n"
    left_out = "left out the tests, because the installed package has no samples"
    assert result.err == f"reducer: fetch_page.yaml: {left_out}\nreducer: execute.yaml: {left_out}\n"
    text = (RULES / "databases" / "execute.yaml").read_text()
    assert Path("rules/execute.yaml").read_text() in text.replace("=../", "=")
    assert cli("check", "rules", "--strict").code == 0
    assert cli("check", "builtin:web").out.endswith("no problems\n")
    needs = "reducer: error: the built-in rules are installed without their samples; specify your own rules\n"
    assert cli("test", "builtin:web").err == needs


def test_used_rules_are_found_by_the_name_of_a_tool_or_by_the_shape_of_its_answers(cli: Cli) -> None:
    stored = json.loads((RULES / "security_operations/samples/grype_scan.json").read_bytes())
    calls = [("grype_scan", stored), ("find_flaws", stored), ("greet", "Hello")]
    Path("session.json").write_bytes(history(*calls))
    result = cli("rules", "--used", "session.json")
    cells = [
        line.split() for line in result.out.splitlines() if line.startswith((" grype_scan", " find_flaws", " greet"))
    ]
    named, shaped, other = sorted(cells, key=lambda row: ["grype_scan", "find_flaws", "greet"].index(row[0]))
    assert named[:4] == ["grype_scan", "by", "name", "grype_scan"]
    assert shaped[:4] == ["find_flaws", "by", "shape", "grype_scan"]
    assert named[-1] == shaped[-1] != "0.0%"
    assert other == ["greet", "no", "rule", "1", "5", "-"]
    assert "`rules add NAME` copies the rule" in result.out
    assert "no rule: `init` drafts one" in result.out


def test_used_rules_of_a_sample_are_those_of_the_tool_that_its_file_is_named_after(cli: Cli) -> None:
    shutil.copy(RULES / "security_operations/samples/grype_scan.json", "grype_scan.json")
    assert " grype_scan  by name   grype_scan " in cli("rules", "--used", "grype_scan.json").out
    missing = cli("rules", "--used", "missing.json")
    assert (missing.code, missing.out) == (2, "")
    both = cli("rules", "add", "grype_scan", "--used", "grype_scan.json")
    assert both.code == 2
    assert both.err == "reducer: error: add grype_scan: --used copies no rules; use one of them\n"


def test_init_offers_the_built_in_rules_that_fit(cli: Cli) -> None:
    shutil.copy(RULES / "security_operations/samples/grype_scan.json", "flaws.json")
    hint = "the built-in rule grype_scan saves "
    found = cli("init", "flaws.json", "-o", "mine")
    assert (found.code, found.err) == (0, "")
    assert hint in found.out
    assert "of the returns of `flaws`, which have its shape\n  python -m reducer rules add grype_scan " in found.out
    assert not Path("mine").exists()
    assert "mine/flaws.yaml: saves " in cli("init", "flaws.json", "-o", "mine", "--draft").out
    stored = json.loads(Path("flaws.json").read_bytes())
    Path("session.json").write_bytes(history(("grype_scan", stored)))
    drafted = cli("init", "session.json", "-o", "other")
    assert (drafted.code, drafted.err) == (0, "")
    assert hint in drafted.out
