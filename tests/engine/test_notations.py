"""Plain texts in the notations that a rule names: where they are read, and what stays a text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reducer.engine import attempt
from tests.helpers import fixed_point, reduced, rules

CSV = 'host,risk,note\nsrv-1,low,"seen, twice"\nsrv-2,high,new place\nsrv-3,low,no change since last week at all\n'
HIGH = "host,risk,note\nsrv-2,high,new place\n"
ONLY_HIGH = {"keep": "[?risk == 'high']", "mark": False}


def test_the_root_text_is_read_in_the_notation_of_the_rule() -> None:
    assert reduced({"text": "csv", "steps": [ONLY_HIGH]}, CSV) == HIGH


def test_a_text_at_the_path_of_a_step_is_read_in_its_notation() -> None:
    rule = {"steps": [{"path": "output", "text": "csv", **ONLY_HIGH}, {"path": "output[*].note", "truncate": 3}]}
    result = reduced(rule, {"output": CSV, "other": CSV})
    assert result == {"output": HIGH, "other": CSV}


def test_all_steps_see_the_rows_of_a_text() -> None:
    rule = {"steps": [{"path": "output", "drop": ["note", "risk"]}, {"path": "output", "text": "csv", "limit": 1}]}
    result = reduced({**rule, "mark": False}, {"output": "host,port,risk,note\na,1,low,x\nb,2,low,y\n"})
    assert result == {"output": "host,port\na,1\n"}


def test_the_text_of_a_wrapper_of_mcp_is_read_in_the_notation_of_the_rule() -> None:
    content = {"content": [{"type": "text", "text": CSV}], "isError": False}
    expected = {"content": [{"type": "text", "text": HIGH}], "isError": False}
    assert reduced({"text": "csv", "steps": [ONLY_HIGH]}, content) == expected


def test_json_comes_before_a_notation() -> None:
    rule = {"text": "yaml", "steps": [{"drop": "[?risk == 'low']"}], "mark": False}
    assert reduced(rule, '[{"risk": "low"}, {"risk": "high"}]') == '[{"risk":"high"}]'
    assert reduced(rule, "- risk: low\n- risk: high # new\n") == "- risk: high # new\n"


def test_the_first_notation_that_can_read_a_text_is_used() -> None:
    rule = {"text": ["csv", "lines"], "steps": [{"limit": 1}], "mark": False}
    assert reduced(rule, CSV) == "".join(CSV.splitlines(keepends=True)[:2])
    assert reduced(rule, "started\nstopped\n") == "started\n"


@pytest.mark.parametrize("content", ["no rows", "a: &x 1\nb: *x\n", {"n": 1}, "[1, 2"])
def test_a_text_in_another_notation_stays(content: Any) -> None:
    outcome = attempt(rules(text=["csv", "yaml"], steps=[{"limit": 1}]), "t", content)
    assert outcome.content is content
    assert outcome.unread == (type(content) is str)


def test_nested_texts_that_cannot_be_read_are_counted() -> None:
    content = {"logs": [CSV, "no rows", "none here"]}
    outcome = fixed_point(rules(steps=[{"path": "logs[*]", "text": "csv", **ONLY_HIGH}]), content)
    assert outcome.content == {"logs": [HIGH, "no rows", "none here"]}
    assert outcome.unread == 2


def test_json_in_a_cell_is_read_as_anywhere() -> None:
    cell = json.dumps({"id": 1, "note": "no change since last week at all"})
    content = f"host\traw\nsrv-1\t{cell}\n"
    rule = {"text": "csv", "steps": [{"path": "[*].raw", "drop": ["note"]}]}
    assert reduced(rule, content) == 'host\traw\nsrv-1\t"{""id"":1}"\n'


def test_a_value_that_the_notation_cannot_express_leaves_the_text_as_it_is() -> None:
    content = {"output": 'host,raw\nsrv-1,"{""id"": 1}"\n'}
    rule = {"steps": [{"path": "output[*].raw", "unwrap": True}, {"path": "output", "text": "csv", "limit": 3}]}
    assert reduced(rule, content) == content
