"""What the README says is what happens: its code runs, its output is printed, its numbers are counted."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from reducer.ops import operations
from reducer.proof import chosen_tests, prove_all
from reducer.rule import compile_rules
from tests.learn.recordings import write

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)([^\n]*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
WRONG = "version: 1\ntool: t\nsteps:\n  - path: resolutions\n    limt: 20\n"
ARTICLES = """\
version: 1
tool: articles
steps:
  - drop: source
  - truncate: 60
tests:
  - name: the actor stays
    given: {json: [{title: Webmail, source: APT28 watch, text: "The mail campaign went on for months before anybody looked at the logs of the portal."}]}
    expect: {contains: APT28, max_chars: 200}
"""
BROKEN = [
    {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Who is it?"}]},
    {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "explore", "args": {}, "tool_call_id": "call_7"}]},
    {"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": "explore", "content": {}, "tool_call_id": "call_8"}]},
]
HOSTS = [{"id": number, "host": f"host{number}.example", "last_seen": f"2024-01-{number % 28 + 1:02}", "note": "w" * 90} for number in range(120)]
NOTE = "APT28 moved to hxxps://mail-diacie[.]top/a and 185.220.101[.]34\n"


def blocks(language: str) -> list[tuple[str, str]]:
    return [(tag.strip(), body) for name, tag, body in BLOCKS if name == language]


def reducer(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "COLUMNS": "120", "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "reducer", *arguments]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return run.stdout + run.stderr


def programs() -> list[tuple[str, list[str]]]:
    """The Python blocks, each with those that it continues before it."""
    found: list[tuple[str, list[str]]] = []
    for tag, code in blocks("python"):
        found.append((found[-1][0], [*found[-1][1], code]) if tag == "continues" else (tag, [code]))
    return found


@pytest.mark.parametrize(("tag", "program"), programs(), ids=range(len(programs())))
def test_python_blocks_run(tag: str, program: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    major = int(version("pydantic-ai-slim").split(".")[0])
    if tag and (major >= 2) != (tag == "pydantic-ai>=2"):
        pytest.skip(f"for {tag}")
    # What a block writes is not written into the checkout.
    (tmp_path / "rules").symlink_to(ROOT / "rules")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code in program:
        capsys.readouterr()
        exec(compile(code, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert not printed or f"```text\n{printed}```" in README


def test_yaml_blocks_are_rules_whose_tests_pass() -> None:
    found = blocks("yaml")
    assert found
    for number, (_, text) in enumerate(found):
        ruleset, problems = compile_rules([(f"README {number}", text)])
        assert not problems
        assert ruleset is not None
        assert [proof.failures for proof in prove_all(ruleset, chosen_tests(ruleset)) if proof.failures] == []


@pytest.mark.parametrize("block", [body for _, body in blocks("console")])
def test_console_blocks_print_what_they_say(block: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(WRONG)
    (tmp_path / "articles.yaml").write_text(ARTICLES)
    (tmp_path / "note.txt").write_text(NOTE)
    if " learn " in block:
        write(tmp_path / "histories")
    sample = json.dumps(json.loads((ROOT / "reducer" / "samples" / "threat_intelligence.json").read_bytes())).encode()
    (tmp_path / "logs.jsonl.gz").write_bytes(gzip.compress(b"\n".join((sample, b"wrong", sample))))
    (tmp_path / "search_hosts.json").write_text(json.dumps({"total": 120, "hosts": HOSTS}))
    (tmp_path / "broken.json").write_text(json.dumps(BROKEN, indent=1))
    first, _, expected = block.partition("\n")
    assert first.startswith("$ python -m reducer")
    printed = "\n".join(line.rstrip() for line in reducer(tmp_path, *first.split()[4:]).splitlines())
    assert expected.strip() in printed


def test_the_numbers_are_those_of_the_dry_run(tmp_path: Path) -> None:
    report = json.loads(reducer(tmp_path, "--format", "json").partition("\nreducer:")[0])
    tools = {tool["tool"]: tool for tool in report["tools"]}
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([\d,]+) \| ([\d,]+) \| ([\d.]+)% \|$", README, re.MULTILINE)
    assert len(rows) == 3
    for name, before, after, saved in rows:
        tool = tools[name]
        assert (f"{tool['characters']['before']:,}", f"{tool['characters']['after']:,}") == (before, after)
        assert f"{100 - 100 * tool['characters']['after'] / tool['characters']['before']:.1f}" == saved


def operations_table() -> str:
    """The table of the operations, from their own words and first examples."""
    rows = ["| action | what it does | for example |", "|---|---|---|"]
    for verb, op in operations().items():
        step = json.dumps({key: value for key, value in op.examples[0].step.items() if key != "path"}, ensure_ascii=False)
        rows.append(f"| `{verb}` | {op.__doc__} | `{step}` |".replace("||", "\\|\\|"))
    return "\n".join(rows)


def test_every_operation_is_in_the_table() -> None:
    assert operations_table() in README


def test_both_commands_are_run_by_continuous_integration() -> None:
    ci = (ROOT / ".ci" / "run").read_text()
    for name in ("run", "tests"):
        assert re.search(rf"^<!-- {name} -->\n```bash\npython3 -m venv \.venv && .*\n```$", README, re.MULTILINE)
        assert f"<!-- {name} -->" in ci


def test_every_guarantee_names_tests_that_are_there() -> None:
    named = set(re.findall(r"`(test_\w+|tests/[\w/]+\.py)`", README))
    sources = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 10
    for name in named:
        assert (ROOT / name).is_file() if "/" in name else f"def {name}(" in sources, name
