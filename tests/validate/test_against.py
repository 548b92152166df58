"""`against`: reductions pass, and each planted change is found where it is."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings

from reducer import Reducer
from reducer.engine import reduce_content
from reducer.rule import compile_rules
from reducer.stored import reduce_json
from reducer.validate import validate
from reducer.validate.against import against
from tests.laws.strategies import cases
from tests.shipped import RULES
from tests.validate.mutations import answer, call, prompt, request, response

TEXT = "The quick brown fox jumps over the lazy dog near 192.0.2.1 and runs on through the night without a rest."
CONTENT = {
    "id": 7, "score": 0.5, "open": True, "note": TEXT, "tags": ["a", "b", "c", "d"], "none": None,
    "items": [{"id": number, "name": f"host{number}", "raw": TEXT} for number in range(12)], "body": json.dumps({"hits": [1, 2, 3], "text": TEXT}),
}  # fmt: skip
RULE = """\
version: 1
tool: t
steps:
  - {path: items, limit: 5}
  - {path: 'items[*]', drop: [raw]}
  - {path: note, truncate: 40}
  - {path: tags, limit: {head: 1, tail: 1}}
"""


def original(content: Any = CONTENT) -> list[dict[str, Any]]:
    return [request(prompt()), response(call("a"), call("b", "final_result")), request(answer("a", content=content), answer("b", "final_result", {"x": 1}))]


def stored(history: Any) -> bytes:
    return json.dumps(history).encode()


def reduced() -> list[dict[str, Any]]:
    ruleset, problems = compile_rules([("t.yaml", RULE)])
    assert ruleset is not None and not problems  # noqa: PT018
    history: list[dict[str, Any]] = json.loads(reduce_json(stored(original()), lambda tool, content: reduce_content(ruleset, tool, content)))
    return history


def test_a_reduction_is_one() -> None:
    assert reduced() != original()
    assert against(stored(reduced()), stored(original())) == []
    assert against(stored(original()), stored(original())) == []


def content_of(history: Any) -> Any:
    return history[2]["parts"][0]["content"]


def put(path: tuple[Any, ...], value: Any) -> Callable[[Any], None]:
    def change(history: Any) -> None:
        for step in path[:-1]:
            history = history[step]
        history[path[-1]] = value

    return change


def swap(history: Any) -> None:
    items = content_of(history)["items"]
    items[1], items[2] = items[2], items[1]


def reorder(history: Any) -> None:
    history[2]["parts"][0]["content"] = dict(reversed(content_of(history).items()))


def reorder_outside(history: Any) -> None:
    history[1]["parts"][0] = dict(reversed(history[1]["parts"][0].items()))


C = (2, "parts", 0, "content")
P = "[2].parts[0].content"
PLANTED: list[tuple[Callable[[Any], None], list[tuple[str, str]]]] = [
    (put((1, "parts", 0, "tool_call_id"), "z"), [("V101", "[1].parts[0].tool_call_id")]),
    (put((2, "parts", 0, "timestamp"), "2025-01-01T00:00:02.123Z"), [("V101", "[2].parts[0].timestamp")]),
    (put((0, "parts", 0, "content"), "ho"), [("V101", "[0].parts[0].content")]),
    (put((0, "new"), None), [("V101", "[0].new")]),
    (put((2, "parts", 1, "content"), {"x": 2}), [("V103", "[2].parts[1].content")]),
    (reorder_outside, [("V101", "[1].parts[0]")]),
    (lambda history: history[1]["usage"].pop("details"), [("V101", "[1].usage.details")]),
    (lambda history: history[2]["parts"].pop(), [("V101", "[2].parts")]),
    (lambda history: history[2]["parts"].reverse(), [("V101", "[2].parts[0].tool_name")]),
    (put(C, "text"), [("V104", P)]),
    (put((*C, "note"), 3), [("V104", f"{P}.note")]),
    (put((*C, "id"), 8), [("V105", f"{P}.id")]),
    (put((*C, "open"), False), [("V105", f"{P}.open")]),
    (put((*C, "items", 3, "id"), 99), [("V105", f"{P}.items[3].id")]),
    (put((*C, "items", 3, "name"), "host"), [("V110", f"{P}.items[3].name")]),
    (lambda history: content_of(history).pop("none"), [("V106", f"{P}.none")]),
    (put((*C, "more"), 1), [("V107", f"{P}.more")]),
    (put((*C, "items", 0, "nam"), "host0"), [("V107", f"{P}.items[0].nam")]),
    (reorder, [("V108", f"{P}.items")]),
    (swap, [("V109", f"{P}.items[2]")]),
    (put((*C, "tags"), ["a", "x"]), [("V109", f"{P}.tags[1]")]),
    (put((*C, "tags"), ["a", "…[3 more items]"]), []),
    (put((*C, "tags"), ["a", "…[2 more items]"]), [("V111", f"{P}.tags[1]")]),
    (put((*C, "tags"), ["a", "…[3 more items; mentions APT28]"]), [("V111", f"{P}.tags[1]")]),
    (put((*C, "note"), TEXT + "!"), [("V110", f"{P}.note")]),
    (put((*C, "note"), TEXT[:30]), [("V110", f"{P}.note")]),
    (put((*C, "note"), f"{TEXT[:9]} …[{len(TEXT) - 9} more characters]"), []),
    (put((*C, "note"), f"{TEXT[:9]} …[{len(TEXT) - 14} more characters]{TEXT[-5:]}"), []),
    (put((*C, "note"), f"{TEXT[:9]} …[50 more characters]"), [("V111", f"{P}.note")]),
    (put((*C, "note"), f"{TEXT[:9]} …[{len(TEXT) - 9} more characters; mentions 192.0.2.1]"), []),
    (put((*C, "note"), f"{TEXT[:9]} …[{len(TEXT) - 9} more characters; mentions 192.0.2.9]"), [("V111", f"{P}.note")]),
    (put((*C, "body"), {"hits": [1, 2, 3], "text": TEXT}), []),
    (put((*C, "body"), '{"hits":[1,3],"text":""}'), []),
    (put((*C, "body"), '{"hits":[3,1],"text":""}'), [("V109", f"{P}.body.hits[1]")]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), PLANTED, ids=range(len(PLANTED)))
def test_planted_changes_are_found_where_they_are(change: Callable[[Any], None], expected: list[tuple[str, str]]) -> None:
    history = reduced()
    change(history)
    found = [(finding.code, finding.place) for finding in against(stored(history), stored(original()))]
    assert found[: len(expected)] == expected
    assert bool(found) is bool(expected)


def test_messages_say_what_differs() -> None:
    history = reduced()
    content_of(history)["items"][3]["id"] = 99
    history[0]["parts"][0]["timestamp"] = None
    assert [finding.message for finding in against(stored(history), stored(original()))] == [
        'found null; the original is the text "2025-01-01T00:00:02.123456Z"',
        "found the number 99; the original is the number 3",
    ]


def test_other_bytes_of_the_same_history() -> None:
    history = json.dumps(original()).replace('"kind": "response"', '"kind":  "response"')
    findings = against(history.encode(), stored(original()))
    assert [(finding.code, finding.line, finding.column) for finding in findings] == [("V102", 1, history.index('"kind":  ') + 9)]


def test_a_larger_content() -> None:
    history = original("a" * 9)
    findings = against(stored(original('{"a":1,"b":  2}')), stored(original('{"a":1,"b":2}')))
    assert [finding.code for finding in findings] == ["V112"]
    assert against(stored(history), stored(history)) == []


def test_an_emptied_root() -> None:
    for before, after in (([1, 2], []), ("text", ""), (["a", "b"], ["a", ""])):
        assert "V106" in [finding.code for finding in against(stored(original(after)), stored(original(before)))]


def test_json_lines_and_other_histories() -> None:
    lines = stored(original()) + b"\n" + stored(original())
    assert against(stored(original()) + b"\n" + stored(reduced()), lines) == []
    assert [finding.code for finding in against(stored(original()), lines)] == ["V101"]
    assert against(b"[", b"]")[0].code == "V102"
    assert against(b"\xff", stored(original()))[0].line == 1


@settings(max_examples=settings().max_examples // 2, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large])
@given(cases)
def test_what_generated_rules_make_is_a_reduction(case: Any) -> None:
    _, ruleset, content = case
    try:
        before = stored(original(content))
        json.loads(before, parse_constant=lambda name: 1 / 0)
    except ZeroDivisionError:
        return
    after = reduce_json(before, lambda tool, content: reduce_content(ruleset, tool, content))
    event("reduced" if after != before else "unchanged")
    assert against(after, before) == []
    again = reduce_json(after, lambda tool, content: reduce_content(ruleset, tool, content))
    assert against(again, before) == []


BLUNT = ("max_chars: 1500", "steps: [{truncate: 60}]", "steps: [{truncate: {head: 40, tail: 30}}]", "steps: [{extract: [ioc]}]", "steps: [{limit: 2}]")


def test_what_rules_make_of_real_histories_is_a_reduction(data: Path) -> None:
    files = sorted((data / "histories").glob("*/*.json"))
    rulesets = [compile_rules([("t.yaml", f"version: 1\ntool: '*'\n{rule}\n")])[0] for rule in BLUNT]
    changed = 0
    for number, file in enumerate(files):
        before = file.read_bytes()
        ruleset = rulesets[number % len(rulesets)]
        assert ruleset is not None
        for after in (reduce_json(before, lambda tool, content, rules=ruleset: reduce_content(rules, tool, content)), SHIPPED.reduce_json(before)):
            if after != before:
                changed += 1
                assert against(after, before) == []
                assert {finding.code for finding in validate(after)} <= {"V031", "V036"}
    assert changed > 80


SHIPPED = Reducer.load(RULES)


def test_the_original_is_not_changed_by_looking() -> None:
    history = reduced()
    kept = copy.deepcopy(history)
    against(stored(history), stored(original()))
    assert history == kept
