"""The dry run, as an analyst uses it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import RECORDS, ROOT, RULE, Result, history, process

Cli = Callable[..., Result]


def numbers(result: Result) -> dict[str, Any]:
    assert result.out, result.err
    value = json.loads(result.out)
    assert isinstance(value, dict)
    return value


def test_without_arguments_it_shows_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = process()
    assert result.code == 0
    assert "History  the sample bundled with reducer\n" in result.out
    assert "Rules    the rules bundled with reducer (" in result.out
    for tool in ("deep_research", "explore", "get_indicator_details"):
        assert f" {tool} " in result.out
        assert f" {tool}.yaml " in result.out
    assert "Tools without a rule\n    get_case_notes  1 call, 1,428 characters\n" in result.out
    assert result.err == "reducer: this was the sample; give a HISTORY to see your own (--help shows how)\n"
    # Away from a checkout, where the wheel has the rules in the package.
    assert (ROOT / "reducer" / "samples" / "threat_intelligence.json").stat().st_size < 350_000


def test_the_sample_is_reduced_by_most(folder: Path, cli: Cli) -> None:
    (folder / "rules").mkdir()
    (folder / "rules" / "own.yaml").write_text(RULE)
    found = numbers(cli("--format", "json", "--no-references"))
    tools = {tool["tool"]: tool for tool in found["tools"]}
    assert found["rules"]["from"] == "the rules bundled with reducer"  # not those of this folder: it is a demonstration
    assert found["histories"] == ["the sample bundled with reducer"]
    for name in ("deep_research", "explore", "get_indicator_details"):
        assert tools[name]["characters"]["saved"] > 0.6
        assert tools[name]["reduced"] == tools[name]["calls"]
    assert tools["get_case_notes"]["rule"] is None
    assert not {entry["kind"] for entry in found["attention"]} & {"no place", "fault"}


def test_what_the_sample_mentions_later_is_all_that_stays_besides(folder: Path, cli: Cli) -> None:
    kept, plain = (numbers(cli("--format", "json", *more)) for more in ((), ("--no-references",)))
    more = [
        entry["characters"]["after"] - other["characters"]["after"]
        for entry, other in zip(kept["returns"], plain["returns"], strict=True)
    ]
    assert [entry["referenced"] for entry in kept["returns"]] == more
    assert kept["references"]["characters"] == sum(more) > 0
    assert kept["totals"]["characters"]["saved"] > 0.6


def test_the_table(folder: Path, cli: Cli) -> None:
    result = cli("h.json", "--rules", "lookup.yaml")
    assert (result.code, result.err) == (0, "")
    lines = [line.rstrip() for line in result.out.splitlines()]
    assert lines[:2] == ["History  h.json", "Rules    lookup.yaml (1 rule)"]
    before = len(json.dumps({"records": RECORDS}, separators=(",", ":")))
    after = len(
        json.dumps({"records": [{"name": r["name"], "seen": r["seen"]} for r in RECORDS[:5]]}, separators=(",", ":"))
    )
    row = next(line.split() for line in lines if line.startswith(" lookup "))
    share = f"{(before - after) / before:.1%}"
    assert row == [
        "lookup",
        "lookup.yaml",
        "1",
        f"{before:,}",
        f"{after:,}",
        share,
        str(-(-before // 4)),
        str(-(-after // 4)),
    ]
    assert f"About {-(-before // 4)} tokens before, {-(-after // 4)} after (estimate: characters / 4)." in lines
    assert lines[-1] == "Nothing needs attention."
    assert max(map(len, lines)) <= 120


def test_the_diff(folder: Path, cli: Cli) -> None:
    result = cli("h.json", "--rules", "lookup.yaml", "--format", "diff")
    before = len(json.dumps({"records": RECORDS}, separators=(",", ":")))
    gone = sum(len(json.dumps(record, separators=(",", ":"))) + 1 for record in RECORDS[5:])
    assert result.out.splitlines()[3:9] == [
        "lookup c1 (lookup.yaml, message 3, part 1)",
        f"  {before:,} -> 198 characters, {(before - 198) / before:.1%} saved",
        f"  step 1, limit records: {gone:,} characters less",
        f'    - records[5..29]: 25 of 30 items, {gone:,} characters  {{"name": "host5", "seen": "2024-01-06", "raw": "xxxxxxxxxxxxxxxx…',
        "  step 2, keep records: 295 characters less",
        f"    - records[*].raw (5 times): 295 characters  {'x' * 50}",
    ]


def test_what_needs_attention(folder: Path, cli: Cli) -> None:
    (folder / "bad.yaml").write_text(RULE.replace("records", "record"))
    (folder / "other.yaml").write_text(RULE.replace("lookup", "never_called"))
    (folder / "two.json").write_bytes(
        history(("lookup", {"records": RECORDS}), ("small", "x" * 10), ("large", "x" * 5000))
    )
    result = cli("two.json", "--rules", "bad.yaml", "--rules", "other.yaml")
    assert result.code == 0
    assert result.out.partition("What needs attention\n")[2].splitlines() == [
        "  Tools without a rule",
        "    large  1 call, 5,000 characters",
        "    small  1 call, 10 characters",
        "  Unused rules",
        "    other.yaml",
        "  Steps that found nothing",
        "    bad.yaml:4: `limit record`: the return has no key `record`; did you mean `records`? (1 call)",
        "    bad.yaml:6: `keep record`: the return has no key `record`; did you mean `records`? (1 call)",
    ]
    assert cli("two.json", "--rules", "bad.yaml", "--strict").code == 1
    assert cli("h.json", "--rules", "lookup.yaml", "--strict").code == 0


def test_what_preserve_undoes_and_max_chars_does_not_reach(folder: Path, cli: Cli) -> None:
    (folder / "preserve.yaml").write_text(
        "version: 1\ntool: lookup\nsteps:\n  - path: records\n    limit: 1\npreserve: [cve]\nmax_chars: 300\n"
    )
    records = [{"cve": f"CVE-2024-{number:05}"} for number in range(40)]
    (folder / "cves.json").write_bytes(history(("lookup", {"records": records})))
    result = cli("cves.json", "--rules", "preserve.yaml")
    needs = result.out.partition("What needs attention\n")[2]
    assert "Steps that preserve largely undoes\n    preserve.yaml:4: preserve restored " in needs
    assert (
        "that `limit records` removed; `preserve: []` on the step restores nothing, `preserve: {ioc: 200}` at most 200 (1 call)\n"
        in needs
    )
    assert "Returns still above max_chars\n    preserve.yaml: c1 is " in needs


def test_filters_by_tool_and_call(folder: Path, cli: Cli) -> None:
    content = {"records": RECORDS}
    (folder / "more.json").write_bytes(
        history(
            ("lookup", content),
            ("search", "b"),
            ("lookup", content),
            ("lookup_all", "x"),
            ids=("call", "other", "call", "call#2"),
        )
    )

    def chosen(*arguments: str) -> list[tuple[str, str, int]]:
        found = numbers(cli("more.json", "--rules", "lookup.yaml", "--format", "json", *arguments))
        return [(entry["tool"], entry["call_id"], entry["nth"]) for entry in found["returns"]]

    first, second, literal = ("lookup", "call", 1), ("lookup", "call", 2), ("lookup_all", "call#2", 1)
    assert chosen() == [first, ("search", "other", 1), second, literal]
    assert chosen("--call", "call") == [first, second]
    assert chosen("--call", "call#1") == [first]
    assert chosen("--call", "call#2", "--tool", "lookup") == [second]
    assert chosen("--call", "call#2") == [second, literal]
    assert chosen("--tool", "look*") == [first, second, literal]
    # What was not asked for cannot be missed.
    (folder / "other.yaml").write_text(RULE.replace("lookup", "never_called"))
    assert cli("more.json", "--rules", "lookup.yaml", "--rules", "other.yaml", "--tool", "lookup", "--strict").code == 0


def test_only_chosen_returns_are_reduced_in_the_output(folder: Path, cli: Cli) -> None:
    content = {"records": RECORDS}
    (folder / "more.json").write_bytes(history(("lookup", content), ("lookup", content)))
    assert cli("more.json", "--rules", "lookup.yaml", "--call", "c2", "-o", "out.json").code == 0
    first, second = (message["parts"][0]["content"] for message in json.loads((folder / "out.json").read_bytes())[2::2])
    assert first == content
    assert len(second["records"]) == 5


def test_several_histories_and_folders_each_once(folder: Path, cli: Cli) -> None:
    (folder / "runs" / "deep").mkdir(parents=True)
    (folder / "runs" / "deep" / "a.json").write_bytes((folder / "h.json").read_bytes())
    (folder / "runs" / "b.json").write_bytes((folder / "h.json").read_bytes())
    (folder / "runs" / "notes.txt").write_text("no history")
    (folder / "runs" / ".cache").mkdir()
    (folder / "runs" / ".cache" / "c.json").write_bytes((folder / "h.json").read_bytes())
    found = numbers(cli("h.json", "runs", "runs/b.json", "--rules", "lookup.yaml", "--format", "json"))
    assert found["histories"] == ["h.json", "runs/b.json", "runs/deep/a.json"]
    assert found["totals"]["calls"] == 3
    assert "Read     3 histories\n" in cli("h.json", "--rules", "lookup.yaml", "runs").out


def test_rules_of_the_current_folder_come_before_the_bundled_ones(folder: Path, cli: Cli) -> None:
    assert numbers(cli("h.json", "--format", "json"))["rules"]["from"] == "the rules bundled with reducer"
    (folder / "rules").mkdir()
    assert numbers(cli("h.json", "--format", "json"))["rules"]["from"] == "the rules bundled with reducer"
    (folder / "rules" / "lookup.yaml").write_text(RULE)
    assert numbers(cli("h.json", "--format", "json"))["rules"] == {"from": "./rules", "files": ["rules/lookup.yaml"]}
    # The same file twice is no conflict.
    assert cli("h.json", "--rules", "rules", "--rules", "rules/lookup.yaml").code == 0


def test_standard_input(folder: Path) -> None:
    result = process("-", "--rules", "lookup.yaml", "--format", "json", input=(folder / "h.json").read_bytes())
    assert result.code == 0
    assert numbers(result)["histories"] == ["standard input"]


def test_the_json_says_what_each_step_did(folder: Path, cli: Cli) -> None:
    found = numbers(cli("h.json", "--rules", "lookup.yaml", "--format", "json"))
    assert set(found) == {
        "version",
        "rules",
        "histories",
        "totals",
        "references",
        "tools",
        "returns",
        "lines",
        "measures",
        "attention",
    }
    (entry,) = found["returns"]
    assert (entry["status"], entry["message"], entry["part"], entry["rule"]) == ("reduced", 2, 0, "lookup.yaml")
    assert entry["characters"] == found["totals"]["characters"]
    first, second = entry["steps"]
    assert (first["number"], first["name"], first["line"], first["places"]) == (1, "limit records", 4, 1)
    assert first["characters"]["before"] == entry["characters"]["before"]
    assert first["characters"]["after"] == second["characters"]["before"]
    assert second["characters"]["after"] == entry["characters"]["after"]
    assert [change["path"] for step in entry["steps"] for change in step["changes"]] == [
        "records[5..29]",
        "records[*].raw",
    ]


def test_the_input_is_never_written(folder: Path, cli: Cli) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}
    for format in ("table", "diff", "json"):
        cli("h.json", "--rules", "lookup.yaml", "--format", format)
    cli("--rules", "lookup.yaml", "-o", "-", "h.json")
    assert {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()
    } == before


@pytest.mark.data
def test_real_histories(data: Path, folder: Path, cli: Cli) -> None:
    (folder / "execute.yaml").write_text("version: 1\ntool: execute\nsteps:\n  - limit: 2\n  - truncate: 100\n")
    found = numbers(cli(str(data / "histories" / "secrl"), "--rules", "execute.yaml", "--format", "json"))
    assert found["totals"]["reduced"] > 30
    for entry in found["returns"]:
        assert entry["status"] in ("reduced", "unchanged")
        assert entry["characters"]["after"] <= entry["characters"]["before"]
    assert sum(tool["characters"]["after"] for tool in found["tools"]) == found["totals"]["characters"]["after"]
