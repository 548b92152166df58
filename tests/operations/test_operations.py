"""Every operation does what its own examples say, and the project lists it nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import reducer.operations
from reducer.engine import reduce_content
from reducer.operations import operations
from reducer.operations.op import Example, Op
from reducer.rules import compile_rules

EXAMPLES = [(verb, example) for verb, op in operations().items() for example in op.examples]


def run(step: dict[str, Any], given: Any, **more: Any) -> Any:
    rule = {"version": 1, "tool": "t", "steps": [step], **more}
    ruleset, problems = compile_rules([("example.yaml", json.dumps(rule))])
    assert ruleset is not None, problems
    return reduce_content(ruleset, "t", given)


@pytest.mark.parametrize(("verb", "example"), EXAMPLES, ids=[f"{verb}: {example.title}" for verb, example in EXAMPLES])
def test_an_example_holds(verb: str, example: Example) -> None:
    assert verb in example.step
    result = run(example.step, example.given)
    assert result == example.result
    assert json.dumps(result) == json.dumps(example.result), "keys in the same order"
    if example.given == example.result:
        assert result is example.given
    assert run(example.step, result) is result


@pytest.mark.parametrize("op", operations().values(), ids=operations())
def test_an_operation_explains_itself(op: type[Op]) -> None:
    assert op.verb() in op.model_fields
    assert op.examples
    assert (op.__doc__ or "").strip().endswith(".")


def test_an_operation_is_found_by_its_file() -> None:
    files = {file.stem for file in Path(reducer.operations.__file__).parent.glob("*.py")}
    assert set(operations()) == files - {"__init__", "fields", "op", "words"}


NODES = [{"id": n, "risk": "high" if n == 9 else "low", "seen": f"2024-01-{n + 1:02}"} for n in range(10)]


def test_limit_chooses_and_never_reorders() -> None:
    assert [n["id"] for n in run({"limit": 3, "sort_by": "seen"}, NODES[::-1])] == [9, 8, 7]
    assert [n["id"] for n in run({"limit": 3, "sort_by": "seen", "order": "asc"}, NODES)] == [0, 1, 2]
    assert [n["id"] for n in run({"limit": 2, "always_keep": "risk == 'high'"}, NODES)] == [0, 1, 9]
    assert [n["id"] for n in run({"limit": {"head": 1, "tail": 2}}, NODES)] == [0, 8, 9]


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_items_without_a_sort_value_come_last_in_both_orders(order: str) -> None:
    items = [{"n": None}, {}, {"n": []}, {"n": 1}, {"n": float("nan")}, {"n": 2}]
    assert run({"limit": 2, "sort_by": "n", "order": order}, items) == [{"n": 1}, {"n": 2}]
    assert run({"limit": 3, "sort_by": "n", "order": order}, items) == [{"n": None}, {"n": 1}, {"n": 2}]


def test_ties_keep_their_order() -> None:
    items = [{"n": 1, "id": n} for n in range(5)]
    assert [item["id"] for item in run({"limit": 2, "sort_by": "n"}, items)] == [0, 1]


def test_numbers_are_compared_as_numbers_and_texts_as_texts() -> None:
    items = [{"n": "9"}, {"n": 10}, {"n": 9.5}, {"n": "10"}]
    assert run({"limit": 2, "sort_by": "n", "order": "asc"}, items) == [{"n": 10}, {"n": 9.5}]
    assert run({"limit": 2, "sort_by": "n", "order": "desc"}, items) == [{"n": "9"}, {"n": "10"}]


def test_keep_names_keys_as_they_stand() -> None:
    item = {"last-seen": 1, "@timestamp": 2, "a b": 3, "source.ip": 4, "source": {"ip": 5, "port": 6}, "x": 7}
    assert run({"keep": ["last-seen", "@timestamp", "a b"]}, [item]) == [{"last-seen": 1, "@timestamp": 2, "a b": 3}]
    assert run({"keep": "source.ip"}, [item]) == [{"source": {"ip": 5}}]
    assert run({"keep": '"source.ip"'}, [item]) == [{"source.ip": 4}]
    assert run({"keep": ["source", "source.ip"]}, [item]) == [{"source": {"ip": 5, "port": 6}}]


def test_keep_passes_through_lists_on_the_way() -> None:
    value = [{"a": [{"b": 1, "c": 2}, {"b": 3}], "d": 4}]
    assert run({"keep": "a.b"}, value) == [{"a": [{"b": 1}, {"b": 3}]}]
    assert run({"keep": "a[*].b"}, value) == [{"a": [{"b": 1}, {"b": 3}]}]


def test_drop_takes_keys_and_items() -> None:
    value = {"items": [{"id": 1, "risk": "low", "raw": "x"}, {"id": 2, "risk": "high", "raw": "y"}]}
    assert run({"drop": "items[?risk == 'low']"}, value) == {"items": [value["items"][1]]}
    assert run({"drop": "items[?risk == 'low'].raw"}, value) == {"items": [{"id": 1, "risk": "low"}, value["items"][1]]}
    assert run({"drop": "items.raw"}, value) == {"items": [{"id": 1, "risk": "low"}, {"id": 2, "risk": "high"}]}
    assert run({"drop": ["items[?risk == 'none']", "nothing"]}, value) is value


def test_the_laws_hold_for_what_an_author_takes_away() -> None:
    assert run({"drop": "[?risk == 'low']"}, [{"risk": "low", "n": 1}, {"risk": "low", "n": 2}]) == [
        {"risk": "low", "n": 1}
    ], "a root list keeps one"
    image = {"kind": "image-url", "url": "https://example.org/a.png"}
    assert run({"limit": 1}, [1, image, 2]) == [1, image], "media stays"
    assert run({"path": "a", "keep": "x"}, {"a": {"x": 1, "y": 2, "shot": image}}) == {"a": {"x": 1, "shot": image}}
    assert run({"path": "*", "keep": "url"}, {"shot": image}) == {"shot": image}, "media is not entered"
    keyed = run({"path": "a", "keep": "x"}, {"a": [{"x": 1, "y": 2, "z": "text", "l": [1]}]}, keys="all")
    assert keyed == {"a": [{"x": 1, "y": 2, "z": "", "l": []}]}


def test_dedupe_tells_types_apart() -> None:
    items = [1, True, "1", 1.5, None, [1], {"a": 1}, 1, "1", [1], {"a": 1}, None]
    assert run({"dedupe": True}, items) == [1, True, "1", 1.5, None, [1], {"a": 1}]


def test_truncate_counts_true_and_keeps_short_texts() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve"
    cut = run({"truncate": 20}, text)
    assert cut == "one two three four …[44 more characters]"
    assert run({"truncate": {"head": 8, "tail": 13}}, text) == "one two …[42 more characters]eleven twelve"
    assert run({"truncate": len(text) - 10}, text) is text, "a mark would be as long as what it stands for"
    assert run({"truncate": 1}, "a") == "a"
    lowered = run({"truncate": 9}, run({"truncate": 20}, text))
    assert lowered == "one two …[55 more characters]", "counts stay true when a rule is made stricter"


def test_a_list_of_texts_says_how_many_went_where_they_were_long() -> None:
    long = ["word " * 50 + str(n) for n in range(9)]
    assert run({"limit": 2}, long)[2:] == ["…[7 more items]"]
    assert run({"limit": 2}, ["short"] * 9) == ["short", "short"]
    once = run({"limit": 4}, long)
    assert run({"limit": 2}, once)[2:] == ["…[7 more items]"], "the mark of an earlier pass counts on"


def test_forged_marks_are_text() -> None:
    forged = "x " * 100 + "…[5 more characters; mentions nothing of the kind]"
    assert run({"truncate": 40}, forged).endswith(f" …[{len(forged) - 39} more characters]")
    texts = ["a" * 300, "b" * 300, "…[2 more items; mentions nobody]"]
    assert run({"limit": 2}, texts)[2:] == ["…[1 more items]"]
