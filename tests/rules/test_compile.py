"""Compiling rule files: all problems of all files in one run, named conditions, and limits."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer import RuleError
from reducer.cli import main
from reducer.engine import reduce_content
from reducer.rules import compile_rules, read_rules
from reducer.rules.parser import parse, plain

HEAD = "version: 1\ntool: t\n"
STEP = HEAD + "steps:\n  - path: items\n"


def test_one_run_reports_all_problems_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(STEP + "    limt: 3\n")
    (tmp_path / "a.yaml").write_text(STEP + "    limit: 0\npreserve: [x]\nmax_chars: no\n")
    (tmp_path / "notes.txt").write_text("not a rule")
    with pytest.raises(RuleError) as caught:
        read_rules(tmp_path)
    places = [f"{Path(problem.location.file).name}:{problem.location.line}" for problem in caught.value.problems]
    assert places == ["a.yaml:5", "a.yaml:6", "a.yaml:7", "b.yaml:2", "b.yaml:5"]


def test_only_regular_files_are_rule_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RuleError, match=r"error\[E006\]: no rule files found"):
        read_rules(tmp_path / "empty")
    os.mkfifo(tmp_path / "fifo.yaml")
    (tmp_path / "large.yaml").write_bytes(b"#" * 2_000_000)
    for name, reason in (
        ("/dev/zero", "not a regular file"),
        (tmp_path / "fifo.yaml", "not a regular file"),
        (tmp_path / "large.yaml", "larger than 1,000,000 bytes"),
        (tmp_path / "gone.yaml", "No such file or directory"),
        ("rules\0.yaml", "embedded null byte"),
    ):
        with pytest.raises(RuleError) as caught:
            read_rules(name)
        assert str(caught.value) == f"{name}:1:1: error[E007]: cannot read the file: {reason}"
    with pytest.raises(RuleError, match="cannot load the rules: File name too long"):
        read_rules("r" * 5_000)
    for verb in (["check"], ["test"], ["schema", "--rules"]):
        assert main([*verb, "/dev/zero"]) == 2
        assert capsys.readouterr().err == "reducer: error: /dev/zero: not a regular file\n"


SHARED = "version: 1\nconditions:\n  critical: severity == 'critical' || score >= `90`\n"
RULE = HEAD + "steps:\n  - limit: 1\n    always_keep: critical\n"
ROWS = [{"severity": "low"}, {"severity": "low", "critical": True}, {"severity": "critical"}, {"score": 95}]


def test_rules_use_named_conditions_of_any_file_and_else_keys() -> None:
    both = RULE + SHARED.removeprefix("version: 1\n")
    for texts, kept in (
        ((SHARED, RULE), [0, 2, 3]),
        ((RULE, SHARED), [0, 2, 3]),
        ((both,), [0, 2, 3]),
        ((RULE,), [0, 1]),
    ):
        ruleset, problems = compile_rules((f"{number}.yaml", text) for number, text in enumerate(texts))
        assert ruleset is not None
        assert problems == ()
        assert reduce_content(ruleset, "t", ROWS) == [ROWS[index] for index in kept]


def test_a_rule_has_at_most_200_steps() -> None:
    step = "  - {path: items, limit: 3}\n"
    assert compile_rules([("r.yaml", HEAD + "steps:\n" + 200 * step)])[1] == ()
    _, (problem,) = compile_rules([("r.yaml", HEAD + "steps:\n" + 2_000 * step)])
    assert str(problem.location) == "r.yaml:4:3"
    assert problem.message == "this list has more than 200 items"


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret.json", "a/../../b.json", "C:\\secret.json", "..\\b.json"])
def test_inline_tests_cannot_read_files_outside_the_folder_of_the_rule(name: str) -> None:
    test = f"tests: [{{name: a, expect: {{unchanged: true}}, given: {{file: '{name}'}}}}]\n"
    _, (problem,) = compile_rules([("r.yaml", HEAD + "max_chars: 9\n" + test)])
    assert problem.message == "the file must be in the folder of the rule file or below it"


RULE_PIECES = (
    "version: 1|tool: t|steps:|  - path: a|limit|keep|drop|when|tests|preserve|entities|pattern|words|a[?b|ioc"
)
YAML_PIECES = [
    *"ab-:[]{},\"'#|>!?@`%1~é😀\\ \n\t\xa0\u3000\x85\ud800\0",
    *("- ", ": ", " #", "? ", "\n  ", "\n    ", "\r\n", "|-\n", ">+\n", "|2\n", "\n---\n", "\n...\n", "&a", "*a", "!x"),
    *("no", "<<", "\\x41", "\\ud83d", "2024-01-01", "%YAML 1.1\n", "key: value\n", "- x: 1\n"),
]
_pieces = st.sampled_from(YAML_PIECES) | st.sampled_from([*RULE_PIECES.split("|"), *YAML_PIECES])
_texts = st.text() | st.lists(_pieces, max_size=40).map("".join)
_bytes = st.binary() | _texts.map(lambda text: text.encode("utf-8", "surrogatepass"))


@given(_texts | _bytes | _texts.map(lambda text: HEAD + text))
@example("version: 1\ntool: t\nsteps:\n  - ? a\n")
@example("version: .nan\ntool: [1, null]\nsteps: {a: 1}\n")
@example(STEP + "    truncate: " + "9" * 5000 + "\n")
@example("[😀? -   >]")
@example("|\t#x")
@example("a\n\t\n- b")
@example("- [\t\t1]\n" * 200 + "- @")
@example('a: "' + "\\d" * 400)
@example("a: [" * 63 + "@")
@example('"\\U99999999"')
def test_any_text_gives_a_ruleset_or_problems_that_point_into_it(text: str | bytes) -> None:
    tree, report = parse(text, "r.yaml")
    assert tree is not None or len(report.problems) == 1
    if tree is not None:
        json.dumps(plain(tree), ensure_ascii=False, allow_nan=False).encode()
    ruleset, found = compile_rules([("r.yaml", text)])
    assert (ruleset is None) is any(problem.severity == "error" for problem in found)
    decoded = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
    lines = decoded.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for one in (*report.problems, *found):
        assert 1 <= one.location.line <= len(lines)
        line = lines[one.location.line - 1]
        assert 1 <= one.location.column <= len(line) + 1
        assert 1 <= one.width <= max(1, len(line) - one.location.column + 1)
        str(one).encode()
