"""`--no-references`: what later messages refer to stays unless it is given, and what the rules cost is measured
without.
"""

from __future__ import annotations

import json
from pathlib import Path

from reducer import Reducer
from tests.cli.test_measures import Cli


def test_what_later_messages_refer_to_stays_unless_told_otherwise(used: Path, cli: Cli) -> None:
    whole, rules = (used / "h.json").read_bytes(), Reducer.load("lookup.yaml")
    assert cli("h.json", "--rules", "lookup.yaml", "-o", "with.json").code == 0
    assert cli("h.json", "--rules", "lookup.yaml", "-o", "without.json", "--no-references").code == 0
    kept, gone = (used / "with.json").read_bytes(), (used / "without.json").read_bytes()
    assert (kept, gone) == (rules.reduce_json(whole), rules.reduce_json(whole, references=False))
    assert kept.count(b"host29") == gone.count(b"host29") + 1  # and once in what the agent wrote


def test_the_report_tells_them_apart_and_measures_without(used: Path, cli: Cli) -> None:
    with_, without = (
        json.loads(cli("h.json", "--rules", "lookup.yaml", "--format", "json", *more).out) for more in ((), ("--no-references",))
    )  # fmt: skip
    assert with_["measures"] == without["measures"]
    assert with_["measures"]["references"]["share"] == 0.5
    (entry,), (plain,) = with_["returns"], without["returns"]
    assert entry["referenced"] == entry["characters"]["after"] - plain["characters"]["after"] > 0
    assert with_["references"] == {"returns": 1, "characters": entry["referenced"]}
    assert without["references"] == {"returns": 0, "characters": 0}
    assert plain["referenced"] == 0
    assert (entry["restored"], entry["steps"]) == (plain["restored"], plain["steps"])
    assert [change["kind"] for change in entry["restorations"]] == ["restored"]
    assert plain["restorations"] == []


def test_the_table_the_page_and_the_diff_say_so(used: Path, cli: Cli) -> None:
    said = "characters in 1 tool return because later messages reference them"
    assert f"{said} (--no-references removes them)." in cli("h.json", "--rules", "lookup.yaml").out
    assert said in cli("h.json", "--rules", "lookup.yaml", "--format", "html").out
    assert (
        "  kept because later messages reference it: "
        in cli("h.json", "--rules", "lookup.yaml", "--format", "diff").out
    )
    for form in ("table", "html", "diff"):
        assert (
            "later messages refer"
            not in cli("h.json", "--rules", "lookup.yaml", "--format", form, "--no-references").out
        )


def test_lines_and_several_processes_do_the_same(used: Path, cli: Cli) -> None:
    line = json.dumps(json.loads((used / "h.json").read_bytes())).encode()
    (used / "h.jsonl").write_bytes(b"\n".join([line] * 3))
    rules = Reducer.load("lookup.yaml")
    for more, references in (((), True), (("--no-references",), False)):
        for jobs in ("1", "2"):
            assert cli("h.jsonl", "--rules", "lookup.yaml", "-o", "out.jsonl", "--jobs", jobs, *more).code == 0
            assert (used / "out.jsonl").read_bytes() == b"\n".join([rules.reduce_json(line, references=references)] * 3)
