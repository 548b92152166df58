"""`init`: from a history or a sample to a rule with a test."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reducer.rules.schema import rule_schema
from tests.cli.conftest import Result, history, process

Cli = Callable[..., Result]
HOSTS = [
    {"id": number, "host": f"host{number}.example", "last_seen": f"2024-01-{number % 28 + 1:02}", "note": "w" * 90}
    for number in range(120)
]
ANSWER: dict[str, Any] = {"total": 120, "hosts": HOSTS}


def files(folder: Path) -> list[str]:
    """The rules and samples in a folder; beside them only the schema is there."""
    return sorted(
        str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file() and file.name != ".schema.json"
    )


def test_drafts_name_the_schema_that_is_written_beside_them(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(history(("search", ANSWER), ("ping", "pong")))
    assert cli("init", "h.json").code == 0
    assert (folder / "rules" / "search.yaml").read_text().startswith("# yaml-language-server: $schema=.schema.json\n")
    schema = folder / "rules" / ".schema.json"
    assert json.loads(schema.read_bytes()) == rule_schema(["ping", "search"])
    # One that is there stays.
    schema.write_text("{}")
    (folder / "other.json").write_text(json.dumps(ANSWER))
    assert cli("init", "other.json").code == 0
    assert schema.read_text() == "{}"


def test_from_a_history_to_a_tested_rule_in_three_commands(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(history(("search", ANSWER), ("ping", "pong"), ("search", {"hosts": []})))
    result = cli("init", "h.json")
    assert result.code == 0
    assert files(folder / "rules") == ["samples/search.json", "search.yaml"]
    lines = result.out.splitlines()
    assert lines[0].startswith("rules/search.yaml: saves 7")
    assert " of 1 of 2 answers of `search`, the longest: 19,123 -> 4,807 characters" in lines[0]
    assert lines[1].split() == ["74.9%", "line", "9", "limit", "hosts"]
    assert lines[2:] == [
        "",
        "Next:",
        "  edit              rules/search.yaml",
        *[line for line in lines if line.startswith("  python -m reducer ") and line.endswith(" rules/search.yaml")],
        "  python -m reducer h.json --rules rules --format diff",
    ]
    assert "`ping`: no rule needed; no answer has 2,000 characters" in result.err
    assert "check for confidential content before sharing" in result.err
    assert json.loads((folder / "rules/samples/search.json").read_bytes()) == ANSWER
    checked = cli("check", "rules/")
    assert (checked.code, checked.out) == (0, "1 rule file: no problems\n")
    run = json.loads(cli("h.json", "--rules", "rules", "--format", "json").out)
    tool = next(tool for tool in run["tools"] if tool["tool"] == "search")
    assert tool["characters"]["after"] < 0.3 * tool["characters"]["before"]


@pytest.mark.parametrize("name", ["search.json", "search.txt", "search"])
def test_a_sample_names_its_tool(folder: Path, cli: Cli, name: str) -> None:
    (folder / name).write_text(json.dumps(ANSWER))
    result = cli("init", name, "-o", "mine")
    assert result.code == 0
    assert files(folder / "mine") == ["samples/search.json", "search.yaml"]
    assert "\ntool: search\n" in (folder / "mine/search.yaml").read_text()
    assert "--format diff" not in result.out


def test_an_answer_in_words_and_an_archive_are_samples_too(folder: Path, cli: Cli) -> None:
    (folder / "article.txt").write_text("It waits for days. " * 900)
    (folder / "scan.json.gz").write_bytes(gzip.compress(json.dumps(ANSWER).encode()))
    assert cli("init", "article.txt", "scan.json.gz").code == 0
    assert files(folder / "rules") == ["article.yaml", "samples/article.json", "samples/scan.json", "scan.yaml"]
    assert json.loads((folder / "rules/samples/article.json").read_text()) == "It waits for days. " * 900


def test_several_samples_of_one_tool(folder: Path, cli: Cli) -> None:
    for name in ("a", "b"):
        (folder / f"{name}.json").write_text(json.dumps(ANSWER))
    assert "of 2 answers of `search`" in cli("init", "a.json", "b.json", "--tool", "search").out


def test_histories_on_lines(folder: Path, cli: Cli) -> None:
    (folder / "h.jsonl").write_bytes(history(("search", ANSWER)) + b"\n" + history(("other", ANSWER)) + b"\n")
    assert cli("init", "h.jsonl", "--tool", "other").code == 0
    assert files(folder / "rules") == ["other.yaml", "samples/other.json"]


def test_nothing_is_overwritten(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(history(("search", ANSWER), ("other", ANSWER)))
    (folder / "rules/samples").mkdir(parents=True)
    (folder / "rules/samples/search.json").write_text("mine")
    result = cli("init", "h.json")
    assert result.code == 2
    assert (
        result.err
        == "reducer: error: rules/samples/search.json exists already; files are never overwritten; nothing was written\n"
    )
    assert files(folder / "rules") == ["samples/search.json"]
    assert (folder / "rules/samples/search.json").read_text() == "mine"
    assert cli("init", "h.json", "--tool", "other").code == 0


def test_a_tool_with_a_rule_keeps_it(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(history(("search", ANSWER), ("other", ANSWER)))
    assert cli("init", "h.json", "--tool", "search").code == 0
    before = (folder / "rules/search.yaml").read_bytes()
    again = cli("init", "h.json")
    assert again.code == 0
    assert "reducer: `search` already has a rule: rules/search.yaml\n" in again.err
    assert files(folder / "rules") == ["other.yaml", "samples/other.json", "samples/search.json", "search.yaml"]
    assert (folder / "rules/search.yaml").read_bytes() == before
    refused = cli("init", "h.json", "--tool", "search")
    assert (refused.code, refused.err) == (
        2,
        "reducer: error: `search` already has a rule: rules/search.yaml is for `search`\n",
    )
    assert cli("init", "h.json").code == 1


def test_a_bundled_rule_is_named_rather_than_drafted_again(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(history(("explore", ANSWER)))
    result = cli("init", "h.json")
    assert result.code == 1
    assert "`explore` has a bundled rule: copy " in result.err
    assert not (folder / "rules").exists()
    assert cli("init", "h.json", "--tool", "explore").code == 0


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (b"", ("x.json",), "x.json: empty; expected a history, or one answer of a tool"),
        (
            b"\xff\xfe",
            ("x.json",),
            "x.json: not UTF-8 text: byte 0xff at byte 1; expected JSON, or the text of an answer",
        ),
        (b"{}", ("y.json",), "y.json: No such file or directory"),
        (
            history(("search", ANSWER)),
            ("x.json", "--tool", "serch"),
            "--tool serch: no such tool; did you mean `search`?",
        ),
        (history(("search", ANSWER)), ("x.json", "--tool", "zzz"), "--tool zzz: no such tool; available: `search`"),
        (
            history(("search", ANSWER)),
            ("x.json", "-o", "x.json"),
            "x.json: is not a folder; drafts are written to a folder of rules",
        ),
        (b'[{"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": 3}]}, 4]', ("x.json",), None),
    ],
)
def test_what_cannot_be_read(
    folder: Path, cli: Cli, content: bytes, arguments: tuple[str, ...], message: str | None
) -> None:
    (folder / "x.json").write_bytes(content)
    result = cli("init", *arguments)
    assert result.code == 2
    assert (
        result.err.startswith("reducer: error: x.json: ")
        if message is None
        else result.err == f"reducer: error: {message}\n"
    )
    assert not (folder / "rules").exists()


def test_rules_with_errors_are_not_added_to(folder: Path, cli: Cli) -> None:
    (folder / "search.json").write_text(json.dumps(ANSWER))
    (folder / "rules").mkdir()
    (folder / "rules/a.yaml").write_text("version: 1\ntool: a\nsteps: [{limt: 3}]\n")
    assert (
        cli("init", "search.json").err
        == "reducer: error: rules: 1 error in the existing rules; `python -m reducer check rules` lists them\n"
    )


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b"[" * 500 + b"]" * 500,
        b'{"a": NaN}',
        b'{"a": 1, "a": 2}',
        b'"\\ud800"',
        b"[1e999]",
        b"7" * 5000,
        b"null",
        b"{}",
    ],
)
def test_hostile_samples(folder: Path, cli: Cli, content: bytes) -> None:
    (folder / "x.json").write_bytes(content)
    assert cli("init", "x.json").code in (0, 1)


def test_names_of_tools_that_are_no_names_of_files(folder: Path, cli: Cli) -> None:
    tools = ("../../etc/x", "a b", "a/b", "A_b", "..", "é" * 200)
    (folder / "h.json").write_bytes(history(*((tool, ANSWER) for tool in tools)))
    assert cli("init", "h.json").code == 0
    names = ["A_b_3", "a_b", "a_b_2", "etc_x", "tool", "tool_2"]
    assert files(folder / "rules") == sorted(
        [*(f"{name}.yaml" for name in names), *(f"samples/{name}.json" for name in names)]
    )
    assert cli("check", "rules").code == 0
    assert json.loads(cli("h.json", "--rules", "rules", "--format", "json").out)["tools"][-1]["rule"] is not None


def test_standard_input(folder: Path) -> None:
    result = process("init", "-", "--tool", "search", input=json.dumps(ANSWER).encode())
    assert result.code == 0
    assert files(folder / "rules") == ["samples/search.json", "search.yaml"]
    assert (
        process("init", "-", input=b"{}").err
        == "reducer: error: standard input has no file name; add --tool NAME, the tool that gave this answer\n"
    )
