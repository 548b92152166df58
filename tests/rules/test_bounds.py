"""Hostile rule files are refused, or read in linear time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reducer import RuleError
from reducer.cli import main
from reducer.rules import check_rules, compile_rules, read_rules
from reducer.rules.parser import parse

HEAD = "version: 1\ntool: t\n"
TEST = HEAD + "max_chars: 9\ntests:\n  - {name: a, given: GIVEN, expect: {unchanged: true}}\n"


def problems(text: str) -> list[tuple[str, str, str]]:
    _, found = compile_rules([("r.yaml", text)])
    return [(str(one.location).removeprefix("r.yaml:"), one.message, one.help) for one in found]


def test_a_rule_has_at_most_200_steps() -> None:
    step = "  - {path: items, limit: 3}\n"
    assert problems(HEAD + "steps:\n" + 200 * step) == []
    assert problems(HEAD + "steps:\n" + 2_000 * step) == [
        ("3:1", "this rule has 2,000 steps; at most 200 are allowed", "split the rule, or join steps on the same path")
    ]


def test_many_globs_are_read_without_comparing_every_pair() -> None:
    globs = [f"*{number}*a*b*c*d*e*f" for number in range(3_000)]
    globs[:400] = [f"*{'a*' * 7}{'b' * 150}{number}" for number in range(400)]
    ruleset, found = compile_rules([("r.yaml", f"version: 1\ntool: [{', '.join(map(repr, globs))}]\nmax_chars: 9\n")])
    assert ruleset is not None
    assert {one.code for one in found} <= {"W020", "W021"}
    assert len(found) <= 200


def test_only_regular_files_are_rule_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "fifo.yaml")
    (tmp_path / "large.yaml").write_bytes(b"#" * 2_000_000)
    for name, reason in (
        ("/dev/zero", "not a regular file"),
        (tmp_path / "fifo.yaml", "not a regular file"),
        (tmp_path / "large.yaml", "larger than 1,000,000 bytes"),
        (tmp_path / "gone.yaml", "No such file or directory"),
    ):
        _, found = check_rules(name)
        assert [(one.location.file, one.code, one.message) for one in found] == [
            (str(name), "E007", f"cannot read the file: {reason}")
        ]
        with pytest.raises(RuleError, match=reason):
            read_rules(name)
    for verb in (["check"], ["test"], ["schema", "--rules"]):
        assert main([*verb, "/dev/zero"]) == 2
        assert capsys.readouterr().err == "reducer: error: /dev/zero: not a regular file\n"


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret.json", "a/../../b.json", "C:\\secret.json", "..\\b.json"])
@pytest.mark.parametrize("key", ["file", "history"])
def test_tests_read_files_at_or_below_the_folder_of_the_rule(key: str, name: str) -> None:
    column = len("  - {name: a, given: {: ") + len(key) + 1
    assert problems(TEST.replace("GIVEN", f"{{{key}: '{name}'}}")) == [
        (f"5:{column}", "expected a file in the folder of the rule file or below", "write a relative path without `..`")
    ]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("- *a\n" * 50_000, {"E030"}),
        ("[" + "*a, " * 50_000 + "]", {"E030"}),
        ("- !a b\n" * 35_000, {"E030"}),
        ("[" + "{a, }," * 35_000 + "]", set()),
        ("- [\t\t1]\n" * 25_000 + "- @", {"E036"}),
        ("{" * 60 + "a: 1, " * 30_000, {"E049"}),
        ("a:\n" + " \n" * 120_000 + "a: 1\n", {"E012"}),
    ],
    ids=["aliases", "aliases in one line", "tags", "empty values", "tabs", "brackets", "blank lines"],
)
def test_hostile_texts_of_full_size_are_read_in_linear_time(text: str, codes: set[str]) -> None:
    assert {one.code for one in parse(text, "r.yaml")[1].found} == codes
