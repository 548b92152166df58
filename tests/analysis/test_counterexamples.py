"""`check` refuses a rule only with a content that shows that it is not idempotent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from reducer.analysis.counterexamples import counterexample
from reducer.cli import main
from reducer.engine import attempt
from reducer.rules import compile_rules
from tests.helpers import BY_FILE, rule_file, rules
from tests.laws.strategies import cases, laws

_KEEP = {"path": "items", "keep": ["id", "name"]}
_LATEST = {"path": "items", "limit": 3, "sort_by": "seen"}
GOOD: tuple[list[dict[str, Any]], ...] = (
    [_LATEST, {"path": "items", "drop": ["seen"]}],
    [_LATEST, _KEEP],
    [{**_LATEST, "order": "asc"}, _KEEP],
    [{**_LATEST, "limit": {"head": 2, "tail": 2}}, {"path": "items[*].note", "truncate": 40}],
    [{**_LATEST, "preserve": ["ioc"]}, {**_KEEP, "preserve": ["ioc"]}],
    [{"path": "items", "limit": 20, "sort_by": "score.value"}, {"path": "items", "drop": ["score"]}],
    [{"path": "items", "limit": 5, "sort_by": "length(note)"}, {"path": "items[*].note", "truncate": 100}],
    [{"path": "items", "limit": 5, "sort_by": "length(tags)"}, {"path": "items[*].tags", "limit": 2}],
    [{"path": "items", "limit": 2, "always_keep": "risk == 'high'"}, {"path": "items", "keep": ["id", "risk"]}],
    [{"path": "items", "limit": 2, "always_keep": "risk == 'high'"}, {"path": "items[*].risks", "limit": 1}],
    [{"path": "items", "drop": "[?risk == 'low']"}, {"path": "items", "drop": ["risk"]}],
    [{"path": "items", "drop": "[?risk == 'low' || score < `3`]"}, {"path": "items", "drop": ["risk", "score"]}],
    [{"path": "items", "drop": "[?starts_with(host, 'test')]"}, {"path": "items", "drop": ["host"]}],
    [{"path": "items", "drop": "[?risk != 'high']"}, {"path": "items", "keep": ["id", "risk"]}],
    [{"path": "items", "drop": "[?length(note) > `60`]"}, {"path": "items[*].note", "truncate": 100}],
    [{"path": "items[*].note", "truncate": 100}, {"path": "items", "drop": "[?length(note) > `200`]"}],
    [{"path": "items", "drop": "[?contains(tags, 'noise')]"}, {"path": "items[*].tags", "limit": 1}],
    [{"path": "items[?risk == 'high']", "drop": ["raw", "risk"]}],
    [{"path": "items[?risk == 'low']", "keep": ["id"]}],
    [{"path": "items[?score > `5`].notes", "limit": 1}, {"path": "items", "drop": ["score"]}],
    [{"path": "items", "drop": ["items[?risk == 'low'].raw", "id"]}],
    [{"path": "items", "dedupe": "name"}, {"path": "items", "drop": ["name"]}],
    [{"path": "items", "dedupe": "name"}, {"path": "items", "keep": ["name", "id"]}],
    [{"path": "items", "dedupe": True}, {"path": "items", "limit": 4}],
    [{"path": "items", "drop": ["id"]}, {"path": "items", "dedupe": True}],
    [{"path": "items", "dedupe": "[name, ip]"}, {"path": "items", "limit": 8}, {"compact": True}],
    [{"path": "nodes", "limit": 2}, {"path": "edges", "drop_dangling": {"source": "nodes[*].id"}}],
    [
        {"path": "nodes", "limit": 2, "sort_by": "degree"},
        {"path": "nodes", "keep": ["id", "label"]},
        {"path": "edges", "drop_dangling": {"source": "nodes[*].id", "target": "nodes[*].id"}},
    ],
    [{"path": "groups[*].items", "limit": 2, "sort_by": "seen"}, {"path": "groups", "limit": 2, "sort_by": "name"}],
    [{"path": "groups", "limit": 2, "sort_by": "size"}, {"path": "groups[*].items", "drop": "[?risk == 'low']"}],
    [{"path": "groups", "limit": 2, "sort_by": "length(items)"}, {"path": "groups[*].items", "limit": 3}],
    [{"path": "groups[].items[]", "keep": ["id"]}, {"path": "groups", "keep": ["items", "name"]}],
    [{"path": "hosts.*.ports", "limit": 3}, {"path": "hosts.*", "keep": ["ports"]}],
    [{"path": "whois.raw", "truncate": 200}, {"path": "whois", "keep": ["raw", "registrar.name"]}],
    [{"path": "items", "compact": True}, {"path": "items", "drop": "[?note == `null`]"}],
    [{"path": "items", "drop": "[?!name]"}, {"path": "items", "keep": ["name"]}],
    [{"path": "items", "limit": 3, "when": {"where": "length(items) > `5`"}}],
    [{"path": "items", "limit": 3, "when": {"min_chars": 400}}, {"path": "items", "keep": ["id"]}],
    [{"path": "items[0].details", "drop": ["raw"]}, {"path": "items[*].note", "truncate": 20}],
    [{"path": "note", "extract": ["ioc"]}, {"path": "items[*].note", "extract": ["cve"]}],
    [{"unwrap": True}, {"path": "items", "limit": 3, "sort_by": "seen"}, {"compact": True}],
)
_HIGH = {"path": "items", "drop": "[?risk != 'high']"}
BAD: tuple[tuple[list[dict[str, Any]], str], ...] = (
    ([_HIGH, _KEEP], "add `risk` to `keep` in step 2; step 1 depends on it"),
    ([_HIGH, {"path": "items", "drop": ["raw", "risk"]}], "leave `risk` out of `drop` in step 2; step 1 depends on it"),
    (
        [{"path": "items", "drop": "[?risk.level != 'high']"}, _KEEP],
        "add `risk.level` to `keep` in step 2; step 1 depends on it",
    ),
    ([{"path": "items", "drop": "[?!name]"}, {"path": "items", "keep": ["id"]}], "add `name` to `keep` in step 2"),
    ([{"path": "items", "limit": 2, "always_keep": "risk == 'high'"}, _KEEP], "add `risk` to `keep` in step 2"),
    (
        [{"path": "items", "limit": 2, "always_keep": "length(tags) > `2`"}, {"path": "items[*].tags", "limit": 1}],
        "leave `items.tags` as it is in step 2 (`limit items[*].tags`); step 1 depends on it",
    ),
    (
        [{"path": "items", "drop": "[?length(note) < `60`]"}, {"path": "items[*].note", "truncate": 20}],
        "leave `items.note` as it is in step 2 (`truncate items[*].note`); step 1 depends on it",
    ),
    ([{"path": "items", "drop": "[?length(tags) < `3`]"}, {"path": "items[*].tags", "limit": 1}], "leave `items.tags`"),
    (
        [{"path": "items", "dedupe": True}, {"path": "items", "drop": ["id"]}],
        "move step 2 before step 1, which depends on all of it",
    ),
    ([{"path": "items", "dedupe": True}, {"path": "items", "keep": ["name"]}], "move step 2 before step 1"),
    ([{"path": "items", "dedupe": "note"}, {"path": "items[*].note", "truncate": 10, "preserve": []}], "leave"),
    (
        [{"path": "edges", "drop_dangling": {"source": "nodes[*].id"}}, {"path": "nodes", "limit": 2}],
        "leave `nodes.id` as it is in step 2 (`limit nodes`); step 1 depends on it",
    ),
    ([{"path": "items[?!seen]", "drop": ["id"]}, {"path": "items", "drop": ["seen"]}], "leave `seen` out of `drop`"),
    ([{"path": "items[?risk != 'low']", "drop": ["id"]}, {"path": "items", "keep": ["id"]}], "add `risk` to `keep`"),
    ([{"path": "groups", "drop": "[?length(items) < `2`]"}, {"path": "groups[*].items", "limit": 1}], "leave"),
)


@pytest.mark.parametrize("steps", GOOD, ids=json.dumps)
@pytest.mark.parametrize("preserve", [[], ["ioc", "threat_actor"]], ids=["nothing preserved", "preserve"])
def test_good_rules_are_accepted(steps: list[dict[str, Any]], preserve: list[str]) -> None:
    assert counterexample(rules(steps=steps, preserve=preserve).rules[0]) is None


def test_there_are_forty_good_rules_and_fifteen_bad_ones() -> None:
    assert len(GOOD) >= 40
    assert len(BAD) >= 15


@pytest.mark.parametrize(("steps", "advice"), BAD, ids=lambda value: json.dumps(value)[:80])
def test_bad_rules_are_refused_with_a_content_that_shows_it(
    steps: list[dict[str, Any]], advice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = rules(steps=steps, preserve=[])
    found = counterexample(rule.rules[0])
    assert found is not None
    assert len(json.dumps(found.content)) < 300
    assert found.once != found.twice
    assert attempt(rule, "t", found.content).unstable is not None
    file = tmp_path / "rule.yaml"
    file.write_text(rule_file({"steps": steps})[1], encoding="utf-8")
    assert main(["check", str(file)]) == 1
    printed = capsys.readouterr().out
    assert "error[E070]: a second pass changes the result" in printed
    assert f"help: {advice}" in printed
    assert f"input:  {json.dumps(found.content, ensure_ascii=False)}\n" in printed


def test_the_error_shows_the_input_and_both_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rule.yaml"
    steps = "  - path: items\n    drop: \"[?risk != 'high']\"\n  - path: items\n    keep: [id]\n"
    text = f"version: 1\ntool: t\nsteps:\n{steps}"
    file.write_text(text, encoding="utf-8")
    assert main(["check", str(file)]) == 1
    assert (
        capsys.readouterr().out
        == f"""\
{file}:4:5: error[E070]: a second pass changes the result: `drop items` chooses again
  4 |   - path: items
    |     ^^^^^^^^^^^
  help: add `risk` to `keep` in step 2; step 1 depends on it
  input:  {{"items": [{{"risk": "high"}}]}}
  result: {{"items": [{{}}]}}
  again:  {{"items": []}}

1 error in 1 rule file
"""
    )


def test_a_sample_is_a_counterexample_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = {
        "steps": [{"path": "rows", "dedupe": "[name, note]"}, {"compact": True}],
        "tests": [{"name": "empty", "given": {"json": {"rows": [{"note": ""}, {}, {"name": "x", "note": "y"}]}}}],
    }
    rule["tests"][0]["expect"] = {"unchanged": False}
    file = tmp_path / "rule.yaml"
    file.write_text(rule_file(rule)[1], encoding="utf-8")
    assert main(["check", str(file)]) == 1
    assert 'input:  {"rows": [{"note": ""}, {}]}' in capsys.readouterr().out


@pytest.mark.parametrize("name", BY_FILE)
def test_the_shipped_rules_are_accepted(name: str) -> None:
    assert counterexample(BY_FILE[name]) is None


@laws
@given(cases)
def test_a_counterexample_is_one_and_is_found_again(case: Any) -> None:
    rule = compile_rules([rule_file(case[0])])[0]
    assert rule is not None
    found = counterexample(rule.rules[0], [case[2]])
    assert found == counterexample(rule.rules[0], [case[2]])
    assert found is None or json.dumps(found.once) != json.dumps(found.twice)
