"""The dry run as analysts use it: which histories and rules it reads, and what it reports."""

from __future__ import annotations

import datetime
import gzip
import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

from reducer import Reducer
from tests.cli.conftest import RECORDS, RULE, SESSIONS, Cli, history

SAMPLE_NOTE = "reducer: showing the built-in sample; pass a HISTORY to see your own (see --help)\n"


def test_without_arguments_it_shows_the_sample(folder: Path, cli: Cli) -> None:
    (folder / "rules").mkdir()
    (folder / "rules" / "own.yaml").write_text(RULE)
    result = cli()
    assert (result.code, result.err) == (0, SAMPLE_NOTE)
    compared = cli("compare")
    assert (compared.code, compared.err) == (0, SAMPLE_NOTE)
    assert "the sample's rules" in compared.out
    # The demonstration does not use the rules of this folder.
    assert "Read     the built-in sample\nRules    the sample's rules (3 rules)" in result.out
    for tool in ("deep_research", "explore", "get_indicator_details"):
        assert f" {tool}.yaml " in result.out
    assert "  Tools without a rule; `init` drafts rules\n    get_case_notes: 1 call, 1,428 characters\n" in result.out


def test_tools_without_a_rule_are_shown_what_the_default_rule_would_save(folder: Path, cli: Cli) -> None:
    rows = [{"name": f"item {n}", "note": None, "text": "Nothing of note. " * 8} for n in range(200)]
    (folder / "long.json").write_bytes(history(("inventory", rows), ("ping", "pong")))
    (folder / "short.json").write_bytes(history(("ping", "pong")))
    title = "\n  The rule for tools without a rule; add it with `--rules builtin:general`\n"
    found = re.search(
        rf"{re.escape(title)}    builtin:general: would save ([\d,]+) char",
        cli("long.json", "--rules", "lookup.yaml").out,
    )
    assert found is not None
    report = cli("long.json", "--rules", "lookup.yaml", "--rules", "builtin:general", "--format", "json").json
    sizes = report["totals"]["characters"]
    assert int(found[1].replace(",", "")) == sizes["before"] - sizes["after"] > 15_000
    assert title not in cli("short.json", "--rules", "lookup.yaml").out
    assert title not in cli("long.json", "--rules", "lookup.yaml", "--rules", "builtin:general").out


def test_a_tool_and_a_call_are_selected(folder: Path, cli: Cli) -> None:
    content = {"records": RECORDS}
    returns = (("lookup", content), ("search", "b"), ("lookup", content), ("lookup_all", "x"))
    (folder / "more.json").write_bytes(history(*returns, ids=("call", "other", "call", "call#2")))

    def selected(*arguments: str) -> list[tuple[str, str]]:
        found = cli("more.json", "--rules", "lookup.yaml", "--format", "json", *arguments).json
        return [(entry["tool"], entry["call"]) for entry in found["returns"]]

    first, second, literal = ("lookup", "call"), ("lookup", "call#2"), ("lookup_all", "call#2")
    assert selected() == [first, ("search", "other"), second, literal]
    assert selected("--call", "call") == [first, second]
    assert selected("--call", "call#1") == [first]
    assert selected("--call", "call#2", "--tool", "lookup") == [second]
    assert selected("--call", "call#2") == [second, literal]
    assert selected("--tool", "look*") == [first, second, literal]
    assert cli("more.json", "--rules", "lookup.yaml", "--call", "call#2", "-o", "out.json").code == 0
    contents = [message["parts"][0]["content"] for message in json.loads(Path("out.json").read_bytes())[2::2]]
    assert contents[:2] == [content, "b"]
    assert contents[2]["records"][5:] == ["…[25 more items]"]


def test_rules_in_the_current_folder_replace_the_built_in_rules(folder: Path, cli: Cli) -> None:
    (folder / "rules").mkdir()
    assert cli("h.json", "--format", "json").json["rules"]["from"] == "the built-in rules"
    (folder / "rules" / "lookup.yaml").write_text(RULE)
    rules = cli("h.json", "--format", "json").json["rules"]
    assert rules == {"from": "./rules", "files": ["rules/lookup.yaml"], "replaced": []}
    # Naming the same file twice is not a conflict.
    assert "replaces" not in cli("h.json", "--rules", "rules", "--rules", "rules/lookup.yaml").out


# --- session histories


def test_input_format_overrides_detection(folder: Path, cli: Cli) -> None:
    (sample,) = (str(file) for file in SESSIONS if file.name == "session_document.json")
    rules = ("--rules", "lookup.yaml")
    assert cli(sample, *rules, "--input-format", "session").code == 0
    result = cli(sample, *rules, "--input-format", "model-messages")
    assert result.code == 2
    assert "not a history: found an object with the keys session_id, user_id" in result.err
    assert cli("h.json", *rules, "--input-format", "session", "--format", "diff").code == 2
    # Messages without any field of session histories need the option.
    bare = '[{"role": "user", "parts": [{"note": "hi"}]}]'
    (folder / "bare.json").write_text(bare)
    assert (cli("bare.json", *rules).code, cli("bare.json", *rules, "--input-format", "session").code) == (2, 0)


def test_lines_of_several_formats_are_compressed_and_reduced(folder: Path, cli: Cli) -> None:
    files = [file for file in sorted((SESSIONS[0].parent / "formats").glob("*.json")) if file.stem != "scenario"]
    (folder / "hosts.yaml").write_text("version: 1\ntool: list_hosts\nsteps: [{path: hosts, limit: 1}]\n")
    Path("all.jsonl.gz").write_bytes(gzip.compress(b"".join(file.read_bytes() for file in files)))
    assert cli("all.jsonl.gz", "--rules", "hosts.yaml", "-o", "reduced.jsonl.gz").code == 0
    reducer = Reducer.load("hosts.yaml")
    reduced = [reducer.reduce_json(file.read_bytes()) for file in files]
    assert gzip.decompress(Path("reduced.jsonl.gz").read_bytes()) == b"".join(reduced)
    for file, data in zip(files, reduced, strict=True):
        archive = f"{file.stem}.db"
        assert cli(str(file), "--rules", "hosts.yaml", "-o", "one.json", "--archive", archive).code == 0
        assert Path("one.json").read_bytes() == data != file.read_bytes()
        assert cli("restore", "one.json", "--archive", archive, "-o", "original.json").code == 0
        assert Path("original.json").read_bytes() == file.read_bytes()
        assert cli("explain", "one.json", "--call", "call_1", "--rules", "hosts.yaml").code == 0
        assert cli(str(file), "--rules", "hosts.yaml", "--format", "diff").out.count("list_hosts call_1") == 1


# --- measures


def test_writing_a_history_skips_measures_unless_requested(used: Path, cli: Cli) -> None:
    run = ("h.json", "--rules", "lookup.yaml", "-o", "new.json")
    assert "What the rules cost in an agent" not in cli(*run).out
    assert "What the rules cost in an agent" in cli(*run, "--fail-under=references=0").out


def test_faults_and_fallbacks_need_attention(folder: Path, cli: Cli) -> None:
    items = [{"text": f"the same beginning of {letter * 60}"} for letter in "abc"]
    content = {"items": items, "log": "a word " * 200}
    (folder / "h.json").write_bytes(history(*[("lookup", content)] * 2))
    size = len(json.dumps(content, separators=(",", ":")))
    steps = "  - {path: items, dedupe: text}\n  - truncate: 20\n"
    (folder / "lookup.yaml").write_text(f"version: 1\ntool: lookup\nsteps:\n{steps}max_chars: 900\n")
    run = ("h.json", "--rules", "lookup.yaml", "--strict", "-v", "--format")
    fault = "a second pass would change the result: `dedupe items` is to blame; only step 1 was applied"
    advice = "`check lookup.yaml` shows a correction, once this return is in samples/"
    line = f"    lookup.yaml:4: `lookup` c1 of h.json and 1 more, {2 * size:,} characters: {fault}; {advice}\n"
    for form in ("table", "diff"):
        shown = cli(*run, form)
        assert shown.code == 1
        assert f"What needs attention\n  Returns to which a rule was not applied completely\n{line}" in shown.out
    assert f" saved: {fault}\n" in shown.out
    (folder / "samples").mkdir()
    (folder / "samples" / "lookup.json").write_text(json.dumps(content))
    assert "lookup.yaml:4:5: error[E070]: `dedupe items` changes the result again" in cli("check", "lookup.yaml").out


def crowded(folder: Path) -> tuple[str, ...]:
    """Write a history of 60 tools with lost entities and nine kinds of problems; return the arguments of its run."""
    address = "https://nvd.nist.gov/vuln/detail/a-page-with-a-long-name-about-a-vulnerability/"
    noise = [(f"a_tool_with_a_long_name_{number}", "x" * (number + 20)) for number in range(60)]
    fault = {"items": [{"text": f"the same beginning of {letter * 60}"} for letter in "abc"], "log": "a word " * 200}
    rows = [{"at": f"{address}{n}", "ip": f"192.0.2.{n}", "id": f"CVE-2024-{3400 + n}"} for n in range(90)]
    (folder / "runs").mkdir()
    (folder / "runs" / "h.json").write_bytes(
        history(("list", {"rows": rows}), ("lookup", fault), *noise, text="See 192.0.2.80.")
    )
    (folder / "runs" / "lines.jsonl").write_bytes(history(("gone", "x" * 900)) + b"\n{\n")
    for number in range(9):
        (folder / "runs" / f"manifest_{number}.json").write_text('[{"source": "x"}]')
    rules = {
        "list": "steps: [{path: rows, limit: 5}, {path: hosts, limit: 1}]\npreserve: []\n",
        "lookup": "steps:\n  - {path: items, dedupe: text}\n  - truncate: 20\nmax_chars: 900\n",
        "gone": "when: {where: items}\nsteps: [{limit: 2}]\n",
    }
    for number in range(20):
        rules[f"unused_{number}"] = "max_chars: 900\n"
    (folder / "rules").mkdir()
    for tool, rule in rules.items():
        (folder / "rules" / f"{tool}.yaml").write_text(f"version: 1\ntool: {tool}\n{rule}")
    return ("runs", "--rules", "rules")


def test_the_first_screen_has_40_lines_of_100_columns(folder: Path, cli: Cli) -> None:
    run = crowded(folder)
    short, long = cli(*run), cli(*run, "-v")
    lines = [*short.err.splitlines(), *short.out.splitlines()]
    assert len(lines) < 40  # and the command
    assert [line for line in lines if len(line) > 100] == []
    assert len(long.out.splitlines()) > 150
    # Every number of the complete report is on the first screen: of tools, of lost entities, of each kind of problem.
    assert re.search(r"^ and (\d+) more tools  +\1 ", short.out, re.MULTILINE)
    assert "; lost: cve 85 of 90, ipv4 85 of 90, url 85 of 90\n" in short.out
    titles = [line for line in long.out.partition("What needs attention")[2].splitlines() if re.match("  [A-Z]", line)]
    places = [short.out.index(f"\n{title}") for title in titles]
    assert places == sorted(places)
    assert len(places) == 6
    assert "\n  Unused rules (0 of 20)\n" in short.out
    assert "\n  Tools without a rule; `init` drafts rules (0 of 60)\n" in short.out
    # Of what was lost, only the complete report has examples, which differ where the values differ.
    assert "nvd.nist.gov" not in short.out
    (urls,) = (line for line in long.out.splitlines() if line.startswith("    url: 85 of 90 lost"))
    assert urls.endswith(
        "limit rows: https://nvd.nist.gov/vuln/detail/a-page…-about-a-vulnerability/5, "
        "https://nvd.nist.gov/vuln/detail/a-page…-about-a-vulnerability/6, "
        "https://nvd.nist.gov/vuln/detail/a-page…-about-a-vulnerability/7 and 82 more"
    )


def test_a_small_report_is_complete_on_the_first_screen(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(history(("lookup", "x"), *[(f"tool_{number}", "x") for number in range(7)]))
    run = ("h.json", "--rules", "lookup.yaml", "-o", "/dev/null")
    assert cli(*run).out == cli(*run, "-v").out


FAILING = ("steps: [{path: items, limit: 2}]", "when: {where: items}\nsteps: [{limit: 2}]")
PASSING = ("steps: [{path: results, limit: 2}]", "when: {where: results}\nsteps: [{path: results, limit: 2}]")


@pytest.mark.parametrize(("rule", "code"), [*((rule, 1) for rule in FAILING), *((rule, 0) for rule in PASSING)])
def test_strict_fails_for_a_rule_that_finds_nothing(folder: Path, cli: Cli, rule: str, code: int) -> None:
    (folder / "mine.yaml").write_text(f"version: 1\ntool: lookup\n{rule}\n")
    renamed = {"results": [{"id": number} for number in range(9)]}
    (folder / "new.json").write_bytes(history(*[("lookup", renamed)] * 3))
    (folder / "new.jsonl").write_bytes(history(("lookup", renamed)) + b"\n" + history(("lookup", renamed)))
    for file in ("new.json", "new.jsonl"):
        assert cli(file, "--rules", "mine.yaml", "--strict").code == code
        assert cli(file, "--rules", "mine.yaml").code == 0


# --- references


def test_references_are_kept_and_measured_without(used: Path, cli: Cli) -> None:
    whole, rules = (used / "h.json").read_bytes(), Reducer.load("lookup.yaml")
    reports = []
    for more, references in (((), True), (("--as-in-agent",), False)):
        arguments = ("h.json", "--rules", "lookup.yaml", "--format=json", "--fail-under=references=0", "-o", "out.json")
        reports.append(cli(*arguments, *more).json)
        assert Path("out.json").read_bytes() == rules.reduce_json(whole, references=references)
    assert [report["as_in_agent"] for report in reports] == [False, True]
    kept, plain = reports
    assert kept["measures"] == plain["measures"]
    (entry,), (other,) = kept["returns"], plain["returns"]
    assert entry["referenced"] == entry["characters"]["after"] - other["characters"]["after"] > 0
    assert kept["references"] == {"returns": 1, "characters": entry["referenced"]}
    assert plain["references"]["returns"] == 0
    assert (entry["restored"], entry["steps"]) == (other["restored"], other["steps"])
    assert [change["kind"] for change in entry["restorations"]] == ["restored", "restored"]


TRIED = ("try scan.yaml scan.json", "try scan.yaml scan.json --format result", "check scan.yaml", "query @ scan.json")
REPORTED = (f"run scan.json --rules scan.yaml --format {name}" for name in ("table", "diff", "json", "html"))


@pytest.mark.parametrize("path", ["@", "body"])
@pytest.mark.parametrize("command", [*TRIED, *REPORTED, "explain scan.json --call c1 --rules scan.yaml"])
def test_every_report_shows_python_literals(folder: Path, cli: Cli, command: str, path: str) -> None:
    rows = repr([{"day": datetime.date(2024, 5, 1), "cost": Decimal("1.5"), "pair": (1, {2})}] * 9)
    steps = f"- {{path: '{path}', limit: 2, mark: day}}\n- {{path: '{path}', drop: pair}}\n"
    (folder / "scan.json").write_bytes(history(("scan", rows if path == "@" else {"body": rows})))
    (folder / "scan.yaml").write_text(f"version: 1\ntool: scan\nsteps:\n{steps}")
    (folder / "samples").mkdir()
    (folder / "samples" / "scan.txt").write_text(rows)
    result = cli(*command.split())
    assert (result.code, bool(result.out)) == (0, True)


def test_repeats_are_left_out_and_reported(folder: Path, cli: Cli) -> None:
    note = "seen by the sensor in the north " * 9
    (folder / "two.json").write_bytes(history(("lookup", note), ("lookup", note), ("other", note), ids=("a", "b", "c")))
    rules = ("--rules", "lookup.yaml", "--repeats")
    shown = cli("two.json", *rules, "-o", "out.json")
    assert "Left out 480 characters in 2 tool returns because earlier returns show them: lookup 240, other" in shown.out
    contents = [message["parts"][0]["content"] for message in json.loads(Path("out.json").read_bytes())[2::2]]
    assert contents == [note, *["…[288 characters as in the return of lookup (a)]"] * 2]
    report = cli("two.json", *rules, "--format", "json").json
    assert report["totals"]["repeats"] == {"returns": 2, "characters": 480, "dropped": 0, "dangling": 0}
    assert [one["repeats"] for one in report["returns"]] == [0, 240, 240]
    assert [one["repeats_of"] for one in report["returns"]] == [[], ["lookup (a)"], ["lookup (a)"]]
    assert report["totals"]["characters"]["removed"] == 480
    last = cli("two.json", *rules, "--call", "c", "--format", "json").json
    assert [one["repeats"] for one in last["returns"]] == [240]
    assert cli("validate", "out.json", "--against", "two.json").code == 0
    assert cli("out.json", *rules, "-o", "again.json").code == 0
    assert Path("again.json").read_bytes() == Path("out.json").read_bytes()
