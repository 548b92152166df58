"""What rules and baselines cost, measured from what the agent did later."""

from __future__ import annotations

import json
import re
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reducer.analysis.compare import AS_RECORDED, Score, baseline, compare, of_rules
from reducer.analysis.costs import CLEARED, Cost, cost
from reducer.analysis.look import LookOptions, look
from reducer.analysis.measures import Measures, added
from reducer.references import Prompt, Response, Returned
from reducer.rules import Ruleset
from reducer.values import dump
from tests.cli.conftest import history
from tests.helpers import rules

STEPS = [{"path": "rows", "limit": 2}, {"path": "note", "truncate": 20, "preserve": []}]
RULES = rules(tool="lookup", steps=STEPS)


def _history(contents: list[Any], text: str = "", prompt: str = "What is it?") -> bytes:
    stored = history(*(("lookup", content) for content in contents), text=text)
    return stored.replace(b"What is it?", prompt.encode())


def _measured(data: bytes, ruleset: Ruleset = RULES) -> Measures:
    found = look(ruleset, "h", data, LookOptions(measured=True)).tally.measures
    assert found is not None
    return found


ROWS = [{"host": f"host-{number}"} for number in range(5)]
CONTENT = {"rows": ROWS, "note": ""}
USED = "Block host-4 and host-1."
NOTE = "Nothing of note here. " * 5


def test_a_used_value_that_a_step_removes_is_lost() -> None:
    found = _measured(_history([CONTENT], USED))
    assert (found.references, found.kept) == (2, 1)
    lost = ("h", "host-4", "lookup", "c1", "rows[4].host", 3, "text", "rule.yaml:1 limit rows")
    assert found.lost_references == (lost,)
    found = _measured(_history([{"rows": [], "note": f"{NOTE}Ticket INC-77 has more."}], "See INC-77."))
    assert [(lost.path, lost.step) for lost in found.lost_references] == [("note", "rule.yaml:1 truncate note")]


KEPT, KNOWN = ("Block host-1.", "What is it?", 1), ("Block host-4 and host-1.", "What of host-4?", 1)


@pytest.mark.parametrize(("text", "prompt", "references"), [KEPT, KNOWN, ("Done.", "Well?", 0)])
def test_values_that_are_not_lost(text: str, prompt: str, references: int) -> None:
    found = _measured(_history([CONTENT], text, prompt))
    assert (found.references, found.kept, found.lost_references) == (references, references, ())


def test_lost_entities_are_listed_by_type() -> None:
    note = f"{NOTE}It beacons to 192.0.2.7 and 192.0.2.8."
    found = _measured(_history([{"rows": [{"ip": "192.0.2.8"}], "note": note}]))
    assert found.entities == {"ipv4": (2, 1)}
    assert found.lost_entities == (("h", "ipv4", "192.0.2.7", "lookup", "c1", "rule.yaml:1 truncate note"),)
    assert _measured(_history([{"rows": [{"ip": "192.0.2.8"}], "note": ""}])).entities == {}  # not reduced


def test_cost_of_requests() -> None:
    first, second = Response(("a" * 100,)), Response(("b" * 10,))
    happened = [Prompt("p" * 100), first, Returned(None), second, Prompt("p"), Response(())]
    found = cost(happened, ["x" * 900])
    assert found == Cost(3, 1111, 1200, 0)
    assert found.cached == 1.25 * 1111 + 0.1 * 1200
    assert found.uncached == 2311
    # Clearing the return changes the prefix of the third request.
    assert cost(happened, ["x" * 900], [5]) == Cost(3, 1100 + 11 + len(CLEARED), 300, 1)


def test_every_request_saves_what_rules_remove_and_measures_add_up() -> None:
    one = _measured(_history([CONTENT], USED))
    assert one.recorded.new - one.reduced.new == len(dump(ROWS)) - len(dump(ROWS[:2]))
    assert (one.recorded.requests, one.recorded.again) == (2, one.reduced.again) == (2, len("What is it?"))
    two = added(one, one)
    assert (two.references, two.kept, len(two.lost_references)) == (4, 2, 2)
    assert two.recorded.new == 2 * one.recorded.new
    assert added(one, Measures()) == added(Measures(), one) == one


def test_histories_without_tool_returns() -> None:
    deep = b'{"kind":"request","parts":[],"x":%s}' % (b"[" * 5_000 + b"]" * 5_000)
    for message in (b"", b'{"kind":"response","parts":[1,null,{"part_kind":"tool-call"}]}', deep):
        assert _measured(b"[" + message + b"]").references == 0


def test_real_histories_are_measured(data: Path) -> None:
    ruleset = rules(tool="*", steps=[{"limit": 2, "preserve": []}])
    files = sorted(data.glob("histories/secrl/*.json"))
    total = reduce(added, (_measured(file.read_bytes(), ruleset) for file in files))
    assert 0 < total.kept < total.references
    assert len(total.lost_references) == total.references - total.kept
    assert all(lost.step.endswith("limit @") for lost in total.lost_references)
    assert total.reduced.new < total.recorded.new


# --- comparison of rules and baselines

SAME = {"truncate:2000": "trunc2000", "minify": "minify", "head:5": "head5"}
SAME |= {"keep-last:5": "mask5r", "keep-last:1": "mask1r"}
"""Maps baselines to their names in the reference definition."""


def test_baselines_agree_with_the_reference_definition(data: Path, definition: ModuleType) -> None:
    contenders = [AS_RECORDED, *map(baseline, SAME)]
    novel = 0
    for file in sorted(data.glob("histories/*/*.json"))[::5]:
        raw = file.read_bytes()
        expected = definition.run_baselines(json.loads(raw), SAME.values())
        recorded, *scores = compare(raw, contenders)
        for (own, name), score in zip(SAME.items(), scores, strict=True):
            known, case = expected[name], (file.name, own)
            assert (recorded.references, recorded.characters) == (known.get("novel", 0), known["ret0"]), case
            assert score.references == known.get("on", 0), case
            assert abs(score.characters - known["ret1"]) <= 2, case
            novel += recorded.references
    assert novel > 50


def test_rules_and_baselines_on_one_history() -> None:
    ruleset = rules(tool="lookup", steps=[{"drop": "[?contains(@, '9')]"}])
    contenders = [AS_RECORDED, of_rules("rules", ruleset), baseline("keep-last:1"), baseline("truncate:5000")]
    data = _history([["host-1 " * 20, "host-9 192.0.2.1"], "x" * 100], "It is host-1 and host-9.")
    recorded, ruled, cleared, cut = compare(data, contenders)
    assert (recorded.references, recorded.entities) == (2, 1)
    assert (ruled.references, ruled.entities) == (1, 0)
    assert (cleared.references, cleared.entities, cleared.characters) == (0, 0, len(CLEARED) + 100)
    assert cut == recorded
    assert (ruled.cost.changes, cleared.cost.changes, cut.cost.changes) == (0, 1, 0)
    assert cleared.cost.again < cut.cost.again
    assert added(ruled, Score()) == ruled
    assert added(cut, cut).characters == 2 * cut.characters


NESTED = {"text": '{"rows": [1, 2, 3], "more": "[4, 5]"}', "rest": [6, "x", 7]}


@pytest.mark.parametrize(
    ("text", "content", "expected"),
    [
        ("head:2", NESTED, {"text": '{"rows":[1,2],"more":"[4,5]"}', "rest": [6, "x"]}),
        ("minify", NESTED, {"text": {"rows": [1, 2, 3], "more": [4, 5]}, "rest": [6, "x", 7]}),
        ("minify", "no JSON", "no JSON"),
        ("minify+cut:8", '{"a": "[1, 2]"}', '{"a":[1,'),
        ("minify+cut:99", NESTED, {"text": {"rows": [1, 2, 3], "more": [4, 5]}, "rest": [6, "x", 7]}),
        ("minify", "[" * 5000 + "]" * 5000, "[" * 5000 + "]" * 5000),
    ],
)
def test_baselines_look_into_json_in_texts(text: str, content: Any, expected: Any) -> None:
    assert baseline(text).start()("t", "", content).content == expected


UNKNOWN = ("trunc:5", "minify:5", "minify+cut", "head", "head:0", "head:-1", "head:²", "truncate:9999999999")


@pytest.mark.parametrize("text", UNKNOWN)
def test_unknown_baselines(text: str) -> None:
    with pytest.raises(ValueError, match=f"^unknown baseline {re.escape(text)}: expected one such as truncate:2000, "):
        baseline(text)
