"""What the model is told of the rules: exact words, short ones, the same whenever they are asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reducer import Reducer
from reducer.operations import operations
from reducer.rules import compile_rules, instructions

OPENING = (
    "Tool answers in this conversation are shortened by fixed rules; `…[` marks where text or items were left out."
)


def told(*steps: dict[str, Any], tools: list[str] | None = None, **more: Any) -> str:
    ruleset, problems = compile_rules(
        [("r.yaml", json.dumps({"version": 1, "tool": "t", "steps": list(steps), **more}))]
    )
    assert ruleset is not None, problems
    text = instructions(ruleset, ["t"] if tools is None else tools)
    assert text.startswith(f"{OPENING}\n- `t`: ")
    return text.removeprefix(f"{OPENING}\n- `t`: ")


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (
            {"path": "resolutions", "limit": 20, "sort_by": "last_seen"},
            "`resolutions` lists at most the 20 newest by `last_seen`.",
        ),
        (
            {"path": "r", "limit": 3, "sort_by": "first_seen", "order": "asc"},
            "`r` lists at most the 3 oldest by `first_seen`.",
        ),
        (
            {"path": "r", "limit": 1500, "sort_by": "rank", "order": "asc"},
            "`r` lists at most the 1,500 lowest by `rank`.",
        ),
        ({"limit": {"head": 3, "tail": 2}}, "the answer lists at most its first 3 and last 2 items."),
        (
            {"limit": {"head": 1, "tail": 2}, "sort_by": "score"},
            "the answer lists at most the 1 highest and 2 lowest by `score`.",
        ),
        (
            {"path": "r", "limit": 2, "always_keep": "risk == 'high'"},
            "`r` lists at most its first 2 items, and all with `risk == 'high'`.",
        ),
        (
            {"path": "r", "limit": 2, "always_keep": f"risk == '{'x' * 50}'"},
            "`r` lists at most its first 2 items, and all with certain values.",
        ),
        ({"path": "whois.raw", "truncate": 400}, "`whois.raw` is cut at 400 characters."),
        ({"truncate": 4000}, "texts in the answer are cut at 4,000 characters."),
        ({"path": "a", "keep": ["b", "c"]}, "`a` shows only `b`, `c`."),
        ({"path": "a", "keep": list("bcdefgh")}, "`a` shows only `b`, `c`, `d`, `e` and 3 more."),
        ({"path": "a", "drop": "raw"}, "`a` leaves out `raw`."),
        ({"drop": f"a[?risk == '{'x' * 50}']"}, "the answer leaves out some of its parts."),
        ({"path": "a", "dedupe": "b"}, "`a` lists one item for each `b`."),
        ({"compact": True}, "the answer leaves out keys without a value."),
    ],
)
def test_what_a_step_leaves_out(step: dict[str, Any], text: str) -> None:
    assert told(step) == text


def test_each_operation_tells_something_else_of_a_place() -> None:
    sayings = [
        told({"path": "a", **{k: v for k, v in op.examples[0].step.items() if k != "path"}})
        for op in operations().values()
    ]
    assert len(set(sayings)) == len(sayings)
    assert all(text.startswith("`a` ") for text in sayings)


def test_steps_follow_each_other_and_the_target_comes_last() -> None:
    steps = [{"path": name, "limit": 2} for name in "abc"]
    assert told(*steps, max_chars=12000).count(" lists at most its first 2 items; ") == 3
    assert told(*steps, max_chars=12000).endswith("; the answer is cut down to about 12,000 characters.")


def test_of_many_steps_the_first_are_told_and_of_equal_ones_one() -> None:
    many = told(*({"path": f"a{number}", "limit": 2} for number in range(20)), {"compact": True})
    assert many.count(";") == 7
    assert many.endswith("; other parts are shortened too; the answer leaves out keys without a value.")
    assert told(*({"path": "a", "limit": 2} for _ in range(20))) == "`a` lists at most its first 2 items."


def test_tools_of_one_rule_share_a_line_and_tools_without_one_have_none() -> None:
    ruleset, _ = compile_rules([("r.yaml", '{"version": 1, "tool": ["a*", "b"], "steps": [{"limit": 2}]}')])
    assert ruleset is not None
    line = "the answer lists at most its first 2 items."
    assert instructions(ruleset, ["a2", "b", "a1", "c", "a1"]) == f"{OPENING}\n- `a1`, `a2`, `b`: {line}"
    assert instructions(ruleset) == f"{OPENING}\n- `a*`, `b`: {line}"
    assert instructions(ruleset, ["c"]) == instructions(ruleset, []) == ""


def test_the_rules_of_the_project_are_told_shortly() -> None:
    reducer = Reducer.load(Path(__file__).parents[2] / "rules")
    for rule in reducer.ruleset.rules:
        tool = next(name for name in rule.tools if "*" not in name)
        assert len(reducer.instructions([tool])) < 900
    assert reducer.instructions(["explore", "deep_research"]) == reducer.instructions(["deep_research", "explore"])
