"""Reports as data: what each step did, what needs attention, and totals of bounded size."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from reducer import Reducer
from reducer.analysis import report
from reducer.analysis.explanation import Explanation
from reducer.analysis.json_report import report_as_json
from reducer.analysis.look import LookOptions, look, look_at_lines
from reducer.analysis.report import MAX_BAD, LineSum, Report, Tally, attention
from reducer.cli.screen import visible
from tests.cli.conftest import RECORDS, history
from tests.helpers import nested, rules, table

DETAILED = LookOptions(detailed=True)


def report_of(rule: dict[str, Any], *returns: tuple[str, Any]) -> Report:
    ruleset = rules(**rule)
    found = look(ruleset, "h.json", history(*returns), DETAILED)
    return Report("rules", ruleset, ["h.json"], found.tally, found.returns)


def report_one(rule: dict[str, Any], content: Any) -> Explanation:
    return report_of(rule, ("t", content)).returns[0]


def needs(rule: dict[str, Any], *contents: Any) -> list[tuple[str, str]]:
    """Return the kinds and messages of what needs attention, without the warnings of the rule."""
    found = attention(report_of(rule, *(("t", content) for content in contents)))
    return [(need.kind, need.message) for need in found if need.kind != "warning"]


# --- returns


def test_sizes_add_up() -> None:
    entry = report_one({"steps": [{"path": "records", "limit": 5}]}, json.dumps({"records": RECORDS}))
    removed = sum(step.before - step.after for step in entry.steps)
    assert entry.before - entry.after == entry.rewritten + removed - entry.restored
    assert (entry.status, entry.rewritten > 0, entry.restored) == ("reduced", True, len('"…[25 more items]",'))


def test_tools_are_sorted_by_size_and_a_content_of_another_type_is_untouched() -> None:
    found = report_of({"max_chars": 100}, ("small", "a"), ("t", 3), ("large", "c" * 99))
    assert [(tool.tool, tool.before) for tool in found.tools] == [("large", 99), ("small", 1), ("t", 1)]
    assert (found.returns[1].status, found.returns[1].why) == ("untouched", "its content is not a text, list or object")


def test_explain_content_describes_one_answer(tmp_path: Path) -> None:
    rows = [{"host": f"host-{n}", "ip": f"192.0.2.{n}"} for n in range(5)]
    (tmp_path / "r.yaml").write_text("version: 1\ntool: t\nsteps:\n- {limit: 2, mark: false}\n- {keep: [host]}\n")
    reducer = Reducer.load(tmp_path)
    found = reducer.explain_content("t", rows)
    assert found.content == reducer.reduce_content("t", rows) == [{"host": "host-0"}, {"host": "host-1"}]
    assert (found.status, found.fault, found.before, found.after, found.place) == ("reduced", "", 176, 37, None)
    assert [(one.run.places, one.before, one.after) for one in found.steps] == [(1, 176, 71), (1, 71, 37)]
    (items,), (keys,) = (one.changes for one in found.steps)
    assert (items.path, items.items, items.total, keys.path, keys.places) == ("[2..4]", 3, 5, "[*].ip", 2)
    assert found.entities == {"ipv4": (5, 0)}
    lost = {one.value: one.step for one in found.lost_entities}
    assert (lost["192.0.2.0"], lost["192.0.2.2"]) == ("r.yaml:5 keep @", "r.yaml:4 limit @")


ODD = [None, 3, b"x", object(), (n for n in "x"), float("nan"), "\ud800", {1: (date.max,)}]


@pytest.mark.parametrize("content", ODD)
def test_explain_content_never_raises(content: Any) -> None:
    found = Reducer(rules(steps=[{"limit": 1}], max_chars=10)).explain_content("t", content)
    assert found.content is content or found.after < found.before
    assert Reducer(rules(max_chars=1)).explain_content("other", content).status == "no rule"


# --- what needs attention

DATA = {"rows": [{"seen": "2024", "host": "a"}] * 3, "whois": {"raw": "x" * 50}, "count": 3, "empty": []}
CASES = table(__file__, "nothing_found.yaml")["steps"]


@pytest.mark.parametrize(("steps", "message"), CASES.items())
def test_steps_that_find_nothing(steps: str, message: str | None) -> None:
    assert needs({"steps": yaml.safe_load(f"[{steps}]")}, DATA) == ([] if message is None else [("no place", message)])


def test_filters_of_items_that_are_too_deep() -> None:
    path = "rows[?contains(@, 'x')]"
    rule = {"steps": [{"drop": "rows"}, {"path": path, "limit": 1}], "preserve": []}
    found = needs(rule, {"rows": [nested(149, [])]})
    assert found == [("no place", f"`limit {path}`: an earlier step removed `{path}`")]


def test_a_place_in_some_returns_needs_no_attention() -> None:
    rule = {"steps": [{"path": "row", "limit": 1}]}
    assert needs(rule, DATA, {"row": [1, 2]}) == []
    assert [kind for kind, _ in needs(rule, DATA, DATA)] == ["no place"]


def test_a_condition_that_holds_for_no_return() -> None:
    rule = {"when": {"where": "items", "min_chars": 100}, "steps": [{"limit": 1}]}
    message = "`when: {where: items}` did not hold for c1 and 1 more, 362 characters"
    assert needs(rule, DATA, DATA) == [("gated", message)]
    assert needs(rule, DATA, {"items": ["x" * 100]}) == []
    assert needs(rule, {"small": 1}) == []
    assert needs({**rule, "when": {"min_chars": 9000}}, DATA) == []


def test_preserve_that_undoes_a_step() -> None:
    rule = {"steps": [{"path": "rows", "limit": 1}], "preserve": ["cve"]}
    rows = [{"cve": f"CVE-2024-{number:05}"} for number in range(30)]
    ((kind, message),) = needs(rule, {"rows": rows})
    assert kind == "undone"
    assert re.match(r"preserve restored \d+ characters that `limit rows` removed; `preserve: \[\]` on the", message)
    # A step is not undone if most of what it removed is not restored.
    assert needs(rule, {"rows": [{"cve": row["cve"], "raw": "x" * 60} for row in rows]}) == []


UNSTABLE = [{"path": "items", "dedupe": "text"}, {"truncate": 20}]
SIMILAR = {"items": [{"text": f"the same beginning of {letter * 60}"} for letter in "abc"], "log": "a word " * 200}
AGAIN = "a second pass would change the result: `dedupe items` is to blame"


@pytest.mark.parametrize(
    ("rule", "content", "where", "about", "advice"),
    [
        ({"steps": UNSTABLE}, SIMILAR, "rule.yaml:1", AGAIN, "samples/"),
        ({"steps": UNSTABLE, "max_chars": 900}, SIMILAR, "rule.yaml:1", f"{AGAIN}; only", "samples/"),
        ({"max_chars": 10}, {"a": "x" * 5001}, "rule.yaml", "a text of", "return less"),
    ],
)
def test_faults_and_fallbacks(rule: dict[str, Any], content: Any, where: str, about: str, advice: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reducer.plan.protected.MAX_TEXT_CHARS", 5000)
        report = report_of(rule, ("other", "a"), ("t", content), ("t", content))
    need = next(need for need in attention(report) if need.kind == "fault")
    assert (need.where, need.first) == (where, "`t` c2 of h.json")
    assert need.about.startswith(about)
    assert advice in need.about
    size = 2 * report.returns[1].before
    assert need.message == f"`t` c2 of h.json and 1 more, {size:,} characters: {need.about}"
    assert (report.returns[1].after < report.returns[1].before) == ("only step 1 was applied" in need.about)


def test_returns_above_max_chars() -> None:
    rule, content = {"max_chars": 10}, "a word " * 50
    excess = report_one(rule, content).after - 10
    assert needs(rule, content) == [("too long", f"c1: {excess} characters above `max_chars` 10")]
    assert needs(rule, content, content)[0][1].startswith(f"c1 and 1 more: {2 * excess} characters above")


def test_unused_rules_are_listed_only_for_whole_histories() -> None:
    ruleset = rules(tool=["never", "never_*"], max_chars=100)
    tally = look(ruleset, "h", history(("t", "a")), LookOptions(lambda entry: entry.tool == "never")).tally
    messages = [entry.message for entry in attention(Report("r", ruleset, ["h"], tally)) if entry.kind == "unused rule"]
    assert messages == ["never, never_*"]
    assert attention(Report("r", ruleset, ["h"], tally, whole=False)) == ()


def test_files_in_which_rules_apply_to_no_return_are_reported() -> None:
    def needs(*parts: Any, name: str = "h") -> list[str]:
        data = json.dumps([{"kind": "request", "parts": parts}]).encode()
        found = Report("r", RULES, [name], look(RULES, "h", data).tally)
        return [entry.message for entry in attention(found) if entry.kind == "no return"]

    part = {"part_kind": "tool-return", "tool_name": "t", "tool_call_id": "c", "content": "text"}
    failed, unknown = {**part, "outcome": "failed"}, {**part, "tool_name": None}
    assert needs() == ["no tool return in messages of the format model-messages"]
    assert needs(failed) == ["its outcome is failed"]
    assert needs(failed, unknown, unknown) == ["it has no tool name (2); its outcome is failed"]
    assert needs(failed, part) == needs({**part, "tool_name": "other"}) == []
    assert needs(part, name="empty.jsonl") == ["it contains no history"]


# --- totals

STEPS = [{"path": "records", "limit": 2, "sort_by": "seen"}, {"path": "recrds", "keep": ["name"]}]
GLOB = {"tool": "u*", "steps": [{"truncate": 20}], "preserve": {"cve": 1}}
RULES = rules(steps=STEPS, preserve=["cve"], max_chars=60, others=[GLOB])
_record = {"name": st.text(max_size=9), "seen": st.integers(0, 3), "cve": st.just("CVE-2024-12345")}
_records = st.lists(st.fixed_dictionaries({}, optional=_record), max_size=6)
_objects = st.fixed_dictionaries({}, optional={"records": _records, "record": _records})
_contents = _objects | st.text(max_size=60) | st.just("see CVE-2024-1111, CVE-2024-2222 " * 3) | st.none()
_returns = st.lists(st.tuples(st.sampled_from(["t", "u", "u2", "other"]), _contents), max_size=5)


@given(_returns, _returns)
def test_totals_of_parts_add_up_to_the_total(first: list[tuple[str, Any]], second: list[tuple[str, Any]]) -> None:
    whole, merged = Tally(), Tally()
    for returns in (first, second):
        part = look(RULES, "h", history(*returns), DETAILED)
        merged.merge(part.tally)
        for entry in part.returns:
            whole.add(entry)
        if not returns:
            whole.add_reason("h", "no tool return in messages of the format model-messages")
    assert merged == whole


_WRONG = (b"wrong", b"3", b"\xff", b'[{"kind": "request", "parts": [')


@given(st.lists(_returns | st.sampled_from([b"", b" \t", *_WRONG])), st.sampled_from([b"\n", b"\r\n"]))
def test_each_line_is_reduced_on_its_own(found: list[Any], end: bytes) -> None:
    lines = [line if isinstance(line, bytes) else history(*line) for line in found]
    writing = LookOptions(writes=True)
    tally, sums, reduced, _ = look_at_lines(RULES, end.join(lines), writing)
    expected, outputs = Tally(), lines.copy()
    for number, line in enumerate(lines):
        if isinstance(found[number], list):
            alone = look(RULES, "", line, writing)
            expected.merge(alone.tally)
            outputs[number] = alone.output
    assert (reduced, tally) == (end.join(outputs), expected)
    wrong = [number for number, line in enumerate(lines, 1) if line in _WRONG]
    assert (sums.bad, [number for number, _ in sums.first_bad]) == (len(wrong), wrong[:MAX_BAD])
    assert look_at_lines(RULES, end.join(lines)) == (tally, sums, b"", ())


def test_line_numbers_continue() -> None:
    total = LineSum("x.jsonl")
    for _ in range(4):
        report.add_lines(total, look_at_lines(RULES, b"[]\n\nwrong\n[]\nwrong\n")[1])
    assert (total.lines, total.bad) == (20, 8)
    assert [number for number, _ in total.first_bad] == [3, 5, 8, 10, 13]
    assert total.first_bad[0] == (3, "not JSON: Expecting value at column 1")


def test_the_size_of_totals_is_bounded() -> None:
    tally = look(RULES, "h", history(*((f"tool {number}" * 500, "x") for number in range(6000)))).tally
    tally.merge(look(RULES, "h", history(*((f"more {number}", "x") for number in range(5000)))).tally)
    assert (len(tally.tools), len(tally.needs)) == (5001, 10_000)
    assert tally.tools[report.OTHER_TOOLS]["calls"] == 6000
    assert max(map(len, tally.tools)) <= 1001
    keys = ({"records": [], **{f"{'k' * 400}{number}{key}": 1 for key in range(3)}} for number in range(300))
    needs = look(RULES, "h", history(*(("t", each) for each in keys))).tally.needs
    need = needs["no place", "rule.yaml:1", "recrds"]
    assert (len(needs), need.calls, len(need.about) <= 1100) == (2, 300, True)


# --- views


@given(st.text())
@example("\x1b[2J\u202e\ud800\n")
def test_visible_text_can_be_printed(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 or char in "\u202e\u2066" for char in shown)
    assert visible("naïve ✓ text") == "naïve ✓ text"


def test_the_json_keys_stay() -> None:
    rule = {"steps": [{"path": "rows", "limit": 1}]}
    found = report_of(rule, ("t", {"rows": [{"a": 1}, {"a": 2}]}), ("other", "x"))
    value = report_as_json(found, attention(found))
    assert json.loads(json.dumps(value)) == value
    tokens = {"before": 7, "after": 5, "estimated": "characters / 4"}
    unmarked = {"items": 1, "keys": 0}
    total = {"before": 27, "after": 19, "removed": 8, "saved": 0.2963}
    sums = {"calls": 2, "reduced": 1, "characters": total, "tokens": tokens, "unmarked": unmarked}
    repeats = {"returns": 0, "characters": 0, "dropped": 0, "dangling": 0}
    assert value["totals"] == {**sums, "repeats": repeats}
    characters = {"before": 26, "after": 18, "removed": 8, "saved": 0.3077}
    sizes = {"calls": 1, "reduced": 1, "characters": characters, "tokens": tokens, "unmarked": unmarked}
    of_rule = {"file": "rule.yaml", "tools": ["t"], "calls": 1}
    assert value["tools"][0] == {"tool": "t", "rules": [of_rule], "untouched": 0, **sizes, "repeats": repeats}
    change = {"kind": "removed", "path": "rows[1]", "places": 1, "items": 1, "total": 2, "before": 8, "after": 0}
    assert value["returns"][0]["steps"][0]["changes"] == [{**change, "sample": '{"a": 2}'}]
    need = {"kind": "no rule", "where": "other", "message": "1 call, 1 character", "calls": 1, "characters": 1}
    assert value["attention"] == [{**need, "first": ""}]
