"""`init`: draft a rule with a test from a history or a sample."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from reducer.rules.schema import rule_schema
from tests.analysis.drafting.test_from_answers import HOSTS
from tests.cli.conftest import Cli, Result, history
from tests.helpers import RULES

ANSWER: dict[str, Any] = {"total": 120, "hosts": HOSTS}
SEARCH = ["samples/search.json", "search.yaml"]


def files(folder: Path) -> list[str]:
    """The rules and samples in a folder, without the schema."""
    found = (file for file in folder.rglob("*") if file.is_file() and file.name != ".schema.json")
    return sorted(str(file.relative_to(folder)) for file in found)


def test_from_a_history_to_a_tested_rule(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(history(("search", ANSWER), ("ping", "pong"), ("search", {"hosts": []})))
    result = cli("init", "h.json")
    assert result == Result(
        0,
        "rules/search.yaml: saves 47.5% and keeps 120 of 120 entities of 1 of 2 returns of `search`, the longest: "
        "19,603 -> 10,295 characters\n"
        "    - hosts[*]: 70 of 120 items, 11,406 characters  "
        '{"id": 0, "host": "host0.example.net", "last_seen": "2024-01-01…\n'
        "    + entities in removed items and texts: 2,098 characters\n\n"
        "Next: edit the drafts, then run\n"
        "  python -m reducer test rules\n"
        "  python -m reducer h.json --rules rules --format diff\n",
        "reducer: `ping`: no rule needed; no return has 2,000 characters\n"
        "reducer: samples are real returns; check for confidential content before sharing\n",
    )
    assert files(folder / "rules") == SEARCH
    assert json.loads((folder / "rules/samples/search.json").read_bytes()) == ANSWER
    assert cli("check", "rules/").out == "1 rule file: no problems\n"
    assert cli("test", "rules/").out == "1 test of 1 rule: all passed\n"
    schema = folder / "rules" / ".schema.json"
    assert json.loads(schema.read_bytes()) == rule_schema(["ping", "search"])
    assert (folder / "rules/search.yaml").read_text().startswith("# yaml-language-server: $schema=.schema.json\n")
    schema.write_text("{}")
    (folder / "other.json").write_text(json.dumps(ANSWER))
    assert cli("init", "other.json").code == 0
    assert schema.read_text() == "{}"


def test_other_inputs(folder: Path, cli: Cli) -> None:
    (folder / "search.json.gz").write_bytes(gzip.compress(json.dumps(ANSWER).encode()))
    result = cli("init", "search.json.gz", "-o", "mine")
    assert (files(folder / "mine"), "--format diff" in result.out) == (SEARCH, False)
    assert "\ntool: search\n" in (folder / "mine/search.yaml").read_text()
    (folder / "article.txt").write_text("It waits for days. " * 900)
    assert cli("init", "article.txt", "-o", "text").code == 0
    assert (folder / "text/samples/article.txt").read_text() == "It waits for days. " * 900
    (folder / "a.json").write_text(json.dumps(ANSWER))
    two = cli("init", "a.json", "search.json.gz", "--tool", "search", "-o", "two")
    assert "of 2 returns of `search`" in two.out
    (folder / "h.jsonl").write_bytes(history(("search", ANSWER)) + b"\n" + history(("other", ANSWER)) + b"\n")
    assert cli("init", "h.jsonl", "--tool", "other", "-o", "lines").code == 0
    assert files(folder / "lines") == ["other.yaml", "samples/other.json"]
    assert cli("init", "-", "--tool", "search", stdin=json.dumps(ANSWER).encode()).code == 0
    assert files(folder / "rules") == SEARCH
    unnamed = "standard input has no file name; add --tool NAME, the tool that returned this sample"
    assert cli("init", "-", stdin=b"{}").err == f"reducer: error: {unnamed}\n"


def test_a_tool_with_a_rule_keeps_it(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(history(("search", ANSWER), ("other", ANSWER)))
    assert cli("init", "h.json", "--tool", "search").code == 0
    before = (folder / "rules/search.yaml").read_bytes()
    again = cli("init", "h.json")
    assert again.code == 0
    assert "reducer: `search` already has a rule: rules/search.yaml\n" in again.err
    assert files(folder / "rules") == ["other.yaml", "samples/other.json", *SEARCH]
    assert (folder / "rules/search.yaml").read_bytes() == before
    assert cli("init", "h.json").code == 1


def test_tool_names_that_are_not_file_names(folder: Path, cli: Cli) -> None:
    tools = ("../../etc/x", "a b", "a/b", "A_b", "..", "é" * 200)
    (folder / "h.json").write_bytes(history(*((tool, ANSWER) for tool in tools)))
    assert cli("init", "h.json").code == 0
    names = ["A_b_3", "a_b", "a_b_2", "etc_x", "tool", "tool_2"]
    assert files(folder / "rules") == sorted([f"{n}.yaml" for n in names] + [f"samples/{n}.json" for n in names])
    assert cli("check", "rules").code == 0
    assert all(tool["rules"] for tool in cli("h.json", "--rules", "rules", "--format", "json").json["tools"])


def test_a_stricter_rule_is_drafted_if_asked_for(folder: Path, cli: Cli) -> None:
    (folder / "search.json").write_text(json.dumps(ANSWER))
    assert "saves 9" in cli("init", "search.json", "-o", "strict", "--save", "90%").out
    assert "preserve: []" in (folder / "strict/search.yaml").read_text()
    assert cli("test", "strict").code == 0
    result = cli("init", "search.json", "-o", "most", "--save", "99.9%")
    assert "reducer: `search`: cannot save 99.9%; the most is 93.9%" in result.err
    assert cli("check", "most").out == "1 rule file: no problems\n"


def test_the_report_lists_the_largest_places_and_counts_the_others(folder: Path, cli: Cli) -> None:
    hosts = {f"host{n}": {"name": f"host{n}", "avatar_url": f"https://api.example.com/{'x' * 90}"} for n in range(4)}
    answer = {f"site{letter}": {**hosts, "number": ord(letter)} for letter in "abcdefgh"}
    (folder / "sites.json").write_text(json.dumps(answer))
    out = cli("init", "sites.json").out
    assert " at " in out
    assert " more places: " in out
    assert sum(line.startswith("  ") for line in out.partition("\n\n")[0].splitlines()) <= 15


def test_a_rule_of_the_same_shape_is_copied_for_the_tool(folder: Path, cli: Cli) -> None:
    sample = RULES / "security_operations/samples/defender_incidents.json"
    (folder / "find.json").write_bytes(sample.read_bytes())
    offer = "  python -m reducer rules add defender_incidents --tool find   copies it; --draft drafts another\n"
    assert cli("init", "find.json").out.endswith(offer)
    assert cli("rules", "add", "defender_incidents", "--tool", "find", "-o", "mine").code == 0
    assert '\ntool: "find"\ndescription: ' in (folder / "mine/defender_incidents.yaml").read_text()
    assert cli("test", "mine").code == 0
