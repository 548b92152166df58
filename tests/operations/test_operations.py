"""Every operation does what its own examples show, and is discovered by its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import reducer.operations
from reducer.operations import operations
from reducer.operations.op import Example, Op
from tests.helpers import fixed_point, reduced, rules

EXAMPLES = [(verb, example) for verb, op in operations().items() for example in op.examples]


@pytest.mark.parametrize(("verb", "example"), EXAMPLES, ids=[f"{verb}: {example.title}" for verb, example in EXAMPLES])
def test_an_example_holds(verb: str, example: Example) -> None:
    assert verb in example.step
    result = fixed_point(rules(steps=[example.step]), example.given).content
    assert json.dumps(result) == json.dumps(example.result), "keys in the same order"
    assert result is example.given or example.given != example.result


@pytest.mark.parametrize("op", operations().values(), ids=operations())
def test_an_operation_explains_itself(op: type[Op]) -> None:
    assert op.verb() in op.model_fields
    assert op.examples
    assert (op.__doc__ or "").strip().endswith(".")


def test_an_operation_is_found_by_its_file() -> None:
    files = {file.stem for file in Path(reducer.operations.__file__).parent.glob("*.py")}
    assert set(operations()) == files - {"__init__", "fields", "op"}


NODES = [{"id": n, "risk": "high" if n == 9 else "low", "seen": f"2024-01-{n + 1:02}"} for n in range(10)]
UNSORTED: list[Any] = [{"n": None}, {}, {"n": []}, {"n": 1}, {"n": float("nan")}, {"n": 2}]
MIXED = [{"n": "9"}, {"n": 10}, {"n": 9.5}, {"n": "10"}]
KEYS = {"last-seen": 1, "@timestamp": 2, "a b": 3, "source.ip": 4, "source": {"ip": 5, "port": 6}, "x": 7}
BELOW = [{"a": [{"b": 1, "c": 2}, {"b": 3}], "d": 4}]
ROWS = {"items": [{"id": 1, "risk": "low", "raw": "x"}, {"id": 2, "risk": "high", "raw": "y"}]}
VALUES = [1, True, "1", 1.5, None, [1], {"a": 1}, 1, "1", [1], {"a": 1}, None]
IMAGE = {"kind": "image-url", "url": "https://example.org/a.png"}
TEXT = "one two three four five six seven eight nine ten eleven twelve"
LONG = ["word " * 50 + str(n) for n in range(9)]
FORGED = "x " * 100 + "…[5 more characters; mentions nothing of the kind]"


@pytest.mark.parametrize(
    ("step", "given", "result"),
    [
        # `limit` chooses and never reorders; items without a sort value come last; ties keep their order
        ({"limit": 3, "sort_by": "seen"}, NODES[::-1], NODES[:-4:-1]),
        ({"limit": 3, "sort_by": "seen", "order": "asc"}, NODES, NODES[:3]),
        ({"limit": 2, "always_keep": "risk == 'high'"}, NODES, [*NODES[:2], NODES[9]]),
        ({"limit": {"head": 1, "tail": 2}}, NODES, [NODES[0], *NODES[8:]]),
        ({"limit": 2, "sort_by": "n"}, UNSORTED, [{"n": 1}, {"n": 2}]),
        ({"limit": 2, "sort_by": "n", "order": "asc"}, UNSORTED, [{"n": 1}, {"n": 2}]),
        ({"limit": 3, "sort_by": "n"}, UNSORTED, [{"n": None}, {"n": 1}, {"n": 2}]),
        ({"limit": 3, "sort_by": "n", "order": "asc"}, UNSORTED, [{"n": None}, {"n": 1}, {"n": 2}]),
        ({"limit": 2, "sort_by": "risk", "order": "asc"}, NODES[:5], NODES[:2]),
        ({"limit": 2, "sort_by": "risk"}, NODES[:5], NODES[:2]),
        ({"limit": 2, "sort_by": "n", "order": "asc"}, MIXED, [{"n": 10}, {"n": 9.5}]),
        ({"limit": 2, "sort_by": "n", "order": "desc"}, MIXED, [{"n": "9"}, {"n": "10"}]),
        # the first key of `sort_by` is the most important one; `-` and `order` reverse
        ({"limit": 2, "sort_by": ["risk", "-id"]}, NODES, [NODES[0], NODES[1]]),
        ({"limit": 2, "sort_by": ["-risk", "id"]}, NODES, [NODES[8], NODES[9]]),
        ({"limit": 2, "sort_by": ["-risk", "id"], "order": "asc"}, NODES, NODES[:2]),
        ({"limit": 1, "sort_by": "-seen"}, NODES, NODES[:1]),
        ({"limit": 1, "sort_by": ["-n", "m"]}, [{"m": 9}, {"n": 1}, {"n": 1, "m": 2}], [{"n": 1, "m": 2}]),
        ({"limit": 2, "sort_by": ["n", "m"]}, [{"m": 1}, {"m": 2}, {"n": 0}], [{"m": 2}, {"n": 0}]),
        # the values of an object are items too, but not in the return itself, which keeps its keys
        ({"path": "m", "limit": 1}, {"m": {"a": 1, "b": None}}, {"m": {"a": 1}}),
        ({"path": "m", "limit": 1, "always_keep": "@ == 3"}, {"m": {"a": 1, "b": 2, "c": 3}}, {"m": {"a": 1, "c": 3}}),
        ({"path": "m", "limit": {"head": 1, "tail": 1}}, {"m": {"a": 1, "b": 2, "c": 3}}, {"m": {"a": 1, "c": 3}}),
        ({"limit": 1}, {"a": "x", "b": "y"}, {"a": "x", "b": "y"}),
        ({"keep": "[?@ > 1]"}, {"a": 1, "b": "x"}, {"a": 1, "b": "x"}),
        ({"path": "m", "keep": "[?@ > 1]"}, {"m": {"a": 1, "b": 2, "i": IMAGE}}, {"m": {"b": 2, "i": IMAGE}}),
        (
            {"path": "m", "drop": "[?r == 1].x"},
            {"m": {"a": {"r": 1, "x": 1}, "b": {"x": 1}}},
            {"m": {"a": {"r": 1}, "b": {"x": 1}}},
        ),
        # filters of `keep` select items, and `*` in a key stands for any characters
        ({"keep": ["[?id == 3]", "[?risk == 'high']"]}, NODES, [NODES[3], NODES[9]]),
        ({"keep": "[?id == 77]"}, NODES, NODES[:1]),
        ({"keep": ["*-seen", "s*.ip", "x*"]}, [KEYS], [{"last-seen": 1, "source.ip": 4, "source": {"ip": 5}, "x": 7}]),
        ({"keep": ["source*", "s*.ip"]}, [KEYS], [{"source.ip": 4, "source": {"ip": 5, "port": 6}}]),
        (
            {"drop": ["*-seen", "*.port", "?"]},
            [KEYS],
            [{k: v for k, v in KEYS.items() if k != "last-seen"} | {"source": {"ip": 5}}],
        ),
        ({"drop": "a.*"}, BELOW, [{"a": [{}, {}], "d": 4}]),
        # `keep` names keys as they are, and passes through lists on the way
        ({"keep": ["last-seen", "@timestamp", "a b"]}, [KEYS], [{"last-seen": 1, "@timestamp": 2, "a b": 3}]),
        ({"keep": "source.ip"}, [KEYS], [{"source": {"ip": 5}}]),
        ({"keep": '"source.ip"'}, [KEYS], [{"source.ip": 4}]),
        ({"keep": ["source", "source.ip"]}, [KEYS], [{"source": {"ip": 5, "port": 6}}]),
        ({"keep": "a.b"}, BELOW, [{"a": [{"b": 1}, {"b": 3}]}]),
        ({"keep": "a[*].b"}, BELOW, [{"a": [{"b": 1}, {"b": 3}]}]),
        # `drop` removes keys and items; a root list keeps one
        ({"drop": "items[?risk == 'low']"}, ROWS, {"items": ROWS["items"][1:]}),
        ({"drop": "items[?risk == 'low'].raw"}, ROWS, {"items": [{"id": 1, "risk": "low"}, ROWS["items"][1]]}),
        ({"drop": "items.raw"}, ROWS, {"items": [{"id": 1, "risk": "low"}, {"id": 2, "risk": "high"}]}),
        ({"drop": ["items[?risk == 'none']", "nothing"]}, ROWS, ROWS),
        ({"drop": "[?risk == 'low']"}, NODES[:2], NODES[:1]),
        # media are kept, and not entered
        ({"limit": 1}, [1, IMAGE, 2], [1, IMAGE]),
        ({"path": "a", "keep": "x"}, {"a": {"x": 1, "y": 2, "shot": IMAGE}}, {"a": {"x": 1, "shot": IMAGE}}),
        ({"path": "*", "keep": "url"}, {"shot": IMAGE}, {"shot": IMAGE}),
        ({"dedupe": True}, VALUES, [1, True, "1", 1.5, None, [1], {"a": 1}]),
        ({"dedupe": {"by": "id", "keep": 2}}, [{"id": 1}] * 3 + [{}] * 3, [{"id": 1}] * 2 + [{}] * 3),
        ({"dedupe": {"ignore": "digits"}}, [{"a": 1}, {"a": 22}, {"b": 1}, "3"], [{"a": 1}, {"b": 1}, "3"]),
        (
            {"dedupe": {"ignore": "digits", "by": "a"}},
            [{"a": "x1"}, {"a": "x22"}, {"a": "x"}],
            [{"a": "x1"}, {"a": "x"}],
        ),
        # `truncate` counts what it cuts, and leaves a text that its marker would not shorten
        ({"truncate": 20}, TEXT, "one two three four …[44 more characters]"),
        ({"truncate": {"head": 8, "tail": 13}}, TEXT, "one two …[42 more characters]eleven twelve"),
        ({"truncate": 9}, "one two three four …[44 more characters]", "one two …[55 more characters]"),
        ({"truncate": len(TEXT) - 10}, TEXT, TEXT),
        ({"truncate": 1}, "a", "a"),
        # a list of long texts has a marker, also after an earlier pass; a forged marker is text
        ({"limit": 2}, LONG, [*LONG[:2], "…[7 more items]"]),
        ({"limit": 2}, ["short"] * 9, ["short", "short"]),
        ({"limit": 2}, [*LONG[:4], "…[5 more items]"], [*LONG[:2], "…[7 more items]"]),
        ({"truncate": 40}, FORGED, "x " * 19 + f"x …[{len(FORGED) - 39} more characters]"),
        ({"limit": 2}, [*LONG[:2], "…[2 more items; mentions nobody]"], [*LONG[:2], "…[1 more items]"]),
    ],
)
def test_what_a_step_leaves(step: dict[str, Any], given: Any, result: Any) -> None:
    left = reduced({"steps": [step]}, given)
    assert left == result
    assert [*map(type, left)] == [*map(type, result)], "1 is not true"
    assert left is given or given != result


def test_with_all_keys_each_object_keeps_its_keys() -> None:
    rule = {"keys": "all", "steps": [{"path": "a", "keep": "x"}]}
    left = reduced(rule, {"a": [{"x": 1, "y": 2, "z": "t", "l": [1]}]})
    assert left == {"a": [{"x": 1, "y": 2, "z": "", "l": []}]}
