"""Every operation does what its own examples show, and is discovered by its file."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import reducer.operations
from reducer.operations import operations
from reducer.operations.op import Example, Op
from reducer.rules import compile_rules
from reducer.rules.instructions import descriptions
from tests.helpers import fixed_point, reduced, rule_file, rules

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
WIDE: list[Any] = [{**node, "note": "word " * 12} for node in NODES]
UNSORTED: list[Any] = [{"n": None}, {}, {"n": []}, {"n": 1}, {"n": float("nan")}, {"n": 2}]
MIXED = [{"n": "9"}, {"n": 10}, {"n": 9.5}, {"n": "10"}]
KEYS = {"last-seen": 1, "@timestamp": 2, "a b": 3, "source.ip": 4, "source": {"ip": 5, "port": 6}, "x": 7}
BELOW = [{"a": [{"b": 1, "c": 2}, {"b": 3}], "d": 4}]
ROWS = {"items": [{"id": 1, "risk": "low", "raw": "x"}, {"id": 2, "risk": "high", "raw": "y"}]}
VALUES = [1, True, "1", 1.5, None, [1], {"a": 1}, 1, "1", [1], {"a": 1}, None]
MAP = {key: {"n": number} for number, key in enumerate("abc", 1)}
IMAGE = {"kind": "image-url", "url": "https://example.org/a.png"}
TEXT = "one two three four five six seven eight nine ten eleven twelve"
LONG = ["word " * 50 + str(n) for n in range(9)]
FORGED = "x " * 100 + "…[5 more characters; mentions nothing of the kind]"


@pytest.mark.parametrize(
    ("step", "content", "result"),
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
        ({"limit": 2, "sort_by": "n", "order": "asc"}, MIXED, [{"n": "9"}, {"n": 9.5}]),
        ({"limit": 2, "sort_by": "n", "order": "desc"}, MIXED, [{"n": 10}, {"n": "10"}]),
        # the first key of `sort_by` is the most important one; `-` and `order` reverse
        ({"limit": 2, "sort_by": ["risk", "-id"]}, NODES, [NODES[0], NODES[9]]),
        ({"limit": 2, "sort_by": ["-risk", "id"]}, NODES, [NODES[7], NODES[8]]),
        ({"limit": 2, "sort_by": ["-risk", "id"], "order": "asc"}, NODES, [NODES[0], NODES[9]]),
        # numbers come before dates, words of the scale, other texts and nothing, in both orders
        ({"limit": 3, "sort_by": "@"}, ["x", "low", "2024-05-01", 3, "P1"], ["2024-05-01", 3, "P1"]),
        ({"limit": 3, "sort_by": "@", "order": "asc"}, ["x", "low", "2024-05-01", 3, "P1"], ["low", "2024-05-01", 3]),
        ({"limit": 1, "sort_by": "@"}, ["9", 100, "1e1"], [100]),
        ({"limit": 2, "sort_by": "@"}, ["Medium", "Very High", "FATAL", "warning"], ["Very High", "FATAL"]),
        ({"limit": 1, "sort_by": "@"}, ["notice", "err", "warn", "trace"], ["err"]),
        ({"limit": 1, "sort_by": {"@": ["open", "shut"]}}, ["x", "critical", 5, "Shut"], ["Shut"]),
        ({"limit": 1, "sort_by": {"@": ["open", "shut"]}, "order": "asc"}, ["open", 5, "shut"], ["shut"]),
        (
            {"limit": 1, "sort_by": [{"a": ["y", "x"]}, "-b"]},
            [{"a": "y", "b": 2}, {"a": "y", "b": 1}],
            [{"a": "y", "b": 1}],
        ),
        ({"limit": 1, "sort_by": "-seen"}, NODES, NODES[:1]),
        ({"limit": 1, "sort_by": ["-n", "m"]}, [{"m": 9}, {"n": 1}, {"n": 1, "m": 2}], [{"n": 1, "m": 2}]),
        ({"limit": 2, "sort_by": ["n", "m"]}, [{"m": 1}, {"m": 2}, {"n": 0}], [{"m": 2}, {"n": 0}]),
        # the values of a map are items too, but those of a record or of the return itself are not
        ({"path": "m", "limit": 1}, {"m": {"a": {"n": 1}, "b": {}, "c": {"n": 2}}}, {"m": {"a": {"n": 1}}}),
        ({"path": "m", "limit": 1, "always_keep": "n == `3`"}, {"m": MAP}, {"m": {"a": MAP["a"], "c": MAP["c"]}}),
        ({"path": "m", "limit": {"head": 1, "tail": 1}}, {"m": MAP}, {"m": {"a": MAP["a"], "c": MAP["c"]}}),
        ({"path": "m", "limit": 1}, {"m": {"id": {"n": 1}, "b": {"m": 2}}}, {"m": {"id": {"n": 1}, "b": {"m": 2}}}),
        ({"path": "m", "limit": 1}, {"m": {"a": {"n": 1}, "b": 2}}, {"m": {"a": {"n": 1}, "b": 2}}),
        ({"path": "m", "keep": "[?n == `3`]"}, {"m": {"a": {"n": 1}}}, {"m": {"a": {"n": 1}}}),
        ({"limit": 1}, MAP, MAP),
        ({"keep": "[?n > 1]"}, MAP, MAP),
        ({"path": "m", "keep": "[?n > 2]"}, {"m": {**MAP, "i": IMAGE}}, {"m": {"c": MAP["c"], "i": IMAGE}}),
        (
            {"path": "m", "drop": "[?r == 1].x"},
            {"m": {"a": {"r": 1, "x": 1}, "b": {"x": 1}}},
            {"m": {"a": {"r": 1}, "b": {"x": 1}}},
        ),
        # filters of `keep` select items, and `*` in a key stands for any characters
        ({"keep": ["[?id == 3]", "[?risk == 'high']"]}, NODES, [NODES[3], NODES[9]]),
        ({"keep": "[?id == 77]"}, NODES, [f"…[{len(NODES)} more items]"]),
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
        # `keep` changes objects that together have half of its names, or four; a glob or a common start is one name
        ({"keep": ["a", "b", "c"]}, [{"a": 1, "x": 2}], [{"a": 1, "x": 2}]),
        ({"keep": ["a", "b"]}, [{"a": 1, "x": 2}], [{"a": 1}]),
        ({"keep": ["a", "b", "c"]}, [{"a": 1, "x": 2}, {"b": 1}, {}, {"y": 3}, 4], [{"a": 1}, {"b": 1}, {}, {}, 4]),
        ({"path": "[*]", "keep": ["a", "b", "c"]}, [{"a": 1, "x": 2}, {"b": 1, "x": 2}], [{"a": 1}, {"b": 1}]),
        ({"keep": [*"abcdefghij"]}, [{**dict.fromkeys("abc", 1), "x": 2}], [{**dict.fromkeys("abc", 1), "x": 2}]),
        ({"keep": [*"abcdefghij"]}, [{**dict.fromkeys("abcd", 1), "x": 2}], [dict.fromkeys("abcd", 1)]),
        ({"keep": ["a.b", "a.c", "a.d", "e"]}, [{"a": {"b": 1, "x": 2}}], [{"a": {"b": 1}}]),
        ({"keep": ["a.b", "e", "f"]}, [{"a": {"b": 1}, "x": 2}], [{"a": {"b": 1}, "x": 2}]),
        ({"keep": ["a.b"]}, [{"a": {"x": 2}}], [{"a": {}}]),
        ({"keep": ["k*", "b", "c"]}, [{"k1": 1, "k2": 2, "x": 3}], [{"k1": 1, "k2": 2, "x": 3}]),
        ({"keep": ["k*", "b"]}, [{"k1": 1, "k2": 2, "x": 3}], [{"k1": 1, "k2": 2}]),
        ({"keep": ["a", "b", "c"]}, {"error": "none"}, {"error": "none"}),
        ({"keep": {"names": ["a", "b", "c"], "strict": True}}, [{"x": 1}, {"a": 1, "x": 2}], [{}, {"a": 1}]),
        # `drop` removes keys and items; a root list keeps one
        ({"drop": "items[?risk == 'low']"}, ROWS, {"items": ROWS["items"][1:]}),
        ({"drop": "items[?risk == 'low'].raw"}, ROWS, {"items": [{"id": 1, "risk": "low"}, ROWS["items"][1]]}),
        ({"drop": "items.raw"}, ROWS, {"items": [{"id": 1, "risk": "low"}, {"id": 2, "risk": "high"}]}),
        ({"drop": ["items[?risk == 'none']", "nothing"]}, ROWS, ROWS),
        ({"drop": "[?risk == 'low']"}, NODES[:2], ["…[2 more items]"]),
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
        ({"truncate": 40}, FORGED, "x " * 19 + f"x …[{len(FORGED) - 39} more characters]"),
        # a marker counts what a list lost, now and earlier, by the values of an expression; it is no item
        ({"limit": 1, "mark": True}, WIDE[:4], [WIDE[0], "…[3 more items]"]),
        ({"limit": 1, "mark": True}, [*WIDE[:4], "…[5 more items]"], [WIDE[0], "…[8 more items]"]),
        ({"keep": "[?risk == 'high']", "mark": "risk"}, WIDE, [WIDE[9], "…[9 more items; risk: 9 low]"]),
        ({"drop": "[?id > 3]", "mark": "risk"}, WIDE, [*WIDE[:4], "…[6 more items; risk: 1 high, 5 low]"]),
        (
            {"limit": 1, "mark": "risk"},
            [*WIDE[:3], "…[9 more items; risk: 2 high, 1 low]"],
            [WIDE[0], "…[11 more items; risk: 2 high, 3 low]"],
        ),
        (
            {"path": "a", "drop": "[?id > 0]", "mark": "id"},
            {"a": WIDE[1:4]},
            {"a": ["…[3 more items; id: 1 1, 1 2, 1 3]"]},
        ),
        ({"path": "a", "limit": 2, "mark": True}, {"a": [1, 2, 3, 4]}, {"a": [1, 2]}),
        ({"limit": 1, "mark": "length(note)"}, WIDE[:3], [WIDE[0], "…[2 more items; length(note): 2 60]"]),
        ({"limit": 1, "mark": "note"}, WIDE[:3], [WIDE[0], "…[2 more items]"]),
        ({"path": "m", "limit": 1, "mark": True}, {"m": {"a": WIDE[0], "b": WIDE[1]}}, {"m": {"a": WIDE[0]}}),
        # a marker with a label that the rule does not have is an item
        ({"limit": 1, "mark": "id"}, [WIDE[0], "…[5 more items; risk: 5 low]"], [WIDE[0], "…[1 more items]"]),
        ({"limit": 1, "mark": "id"}, [WIDE[0], "…[5 more items; id: 1 5, 4 3]"], [WIDE[0], "…[1 more items]"]),
        # with `lines`, a text is a list of its lines
        ({"text": "lines", "limit": {"head": 1, "tail": 1}}, "a\r\nb\r\nc\r\n", "a\r\nc\r\n"),
        ({"text": "lines", "limit": 1, "sort_by": "length(@)"}, "a\nbbb\ncc", "bbb"),
        ({"text": "lines", "keep": "[?matches(@, '^b')]"}, "a\nb1\n\nb2", "b1\nb2"),
        ({"text": "lines", "keep": "[?@ == 'z']"}, "a\nb", "a"),
        ({"text": "lines", "truncate": 20}, f"a\n{TEXT}\nb\n", "a\none two three four …[44 more characters]\nb\n"),
        ({"text": "lines", "limit": 1, "mark": True}, f"a\n{TEXT}\nb\n", "a\n…[2 more items]\n"),
        ({"text": "lines", "limit": 2, "mark": True}, f"a\n{TEXT}\nb\n…[7 more items]", f"a\n{TEXT}\n…[8 more items]"),
        # the remaining lines are neither empty nor structure; a text with structure is no list of lines
        ({"text": "lines", "limit": 1}, "\na", "\na"),
        ({"text": "lines", "keep": "[?contains(@, '{')]"}, 'x\ny\n{"a": 1}', 'x\ny\n{"a": 1}'),
        ({"path": "a", "text": "lines", "limit": 1}, {"a": "[1,2]"}, {"a": "[1]"}),
        ({"path": "a[*]", "text": "lines", "limit": 1}, {"a": ["x\ny", 3, "z"]}, {"a": ["x", 3, "z"]}),
    ],
)
def test_what_a_step_leaves(step: dict[str, Any], content: Any, result: Any) -> None:
    left = reduced({"mark": False, "steps": [step]}, content)
    assert left == result
    assert [*map(type, left)] == [*map(type, result)], "1 is not true"
    assert left is content or content != result


KEY_NAMES = st.sampled_from("abcdefgh")
OBJECTS = st.lists(st.dictionaries(KEY_NAMES, st.integers(0, 9)), max_size=4)
NAMES = st.lists(st.one_of(KEY_NAMES, st.sampled_from(["a.b", "a.c", "*", "b*"])), min_size=1, max_size=10, unique=True)


@given(NAMES, OBJECTS, st.sampled_from(["items", "items[*]"]))
def test_keep_changes_all_objects_or_none(names: list[str], items: list[dict[str, int]], path: str) -> None:
    """A list and its items are changed alike, and what is left is left by a second pass."""
    left = fixed_point(rules(steps=[{"path": path, "keep": names}]), {"items": items}).content["items"]
    assert left == reduced({"steps": [{"path": "items", "keep": names}]}, {"items": items})["items"]
    strict = {"steps": [{"path": path, "keep": {"names": names, "strict": True}}]}
    assert left in (items, reduced(strict, {"items": items})["items"])
    firsts = {name.split(".")[0] for name in names}
    keys = {key for item in items for key in item}
    common = [name for name in firsts if any(fnmatchcase(key, name) for key in keys)]
    if len(common) < 4 and len(common) * 2 < len(firsts):
        assert left == items
    event("changed" if left != items else "unchanged")


VALUES_TO_SORT = st.one_of(
    st.sampled_from([9, 10, 100, "x", "9", "1e2", 2.5, True, None, [], "2024-05-01", "2024-05-01T10:00:00Z", "yes"]),
    st.sampled_from(
        ["critical", "P1", "High", "very high", "warn", "notice", "Crit", "low", "debug", "", "sev2", "Unknown"]
    ),
)
SORT_KEYS = st.sampled_from(["n", "-n", {"n": ["high", "x", "low"]}, ["n", "m"], [{"n": ["yes", "9"]}, "-m"]])


@given(
    st.lists(st.fixed_dictionaries({}, optional={"n": VALUES_TO_SORT, "m": VALUES_TO_SORT}), max_size=9),
    SORT_KEYS,
    st.sampled_from(["asc", "desc"]),
    st.sampled_from([1, 2, {"head": 1, "tail": 1}]),
    st.sampled_from([None, "n == 'x'", "m", "n == `9`"]),
)
def test_twice_is_once_for_any_values(items: Any, by: Any, order: str, limit: Any, always: str | None) -> None:
    """The rank of a value depends on no other value, so what `always_keep` adds does not change the choice."""
    step = {"path": "items", "limit": limit, "sort_by": by, "order": order}
    if always is not None:
        step["always_keep"] = always
    left = fixed_point(rules(steps=[step]), {"items": items}).content
    event("changed" if left["items"] != items else "unchanged")


DANGLING = {"nodes": [{"id": 1}], "edges": [{"to": n, "note": "word " * 9} for n in range(1, 4)]}


@pytest.mark.parametrize(
    ("rule", "content", "result"),
    [
        # a list has a marker if it has at most a quarter of the removed characters, also after an earlier pass
        ({"steps": [{"limit": 2}]}, LONG, [*LONG[:2], "…[7 more items]"]),
        ({"steps": [{"limit": 2}]}, [*LONG[:4], "…[5 more items]"], [*LONG[:2], "…[7 more items]"]),
        ({"steps": [{"limit": 1}]}, [*WIDE[:4], "…[5 more items]"], [WIDE[0], "…[8 more items]"]),
        ({"steps": [{"limit": 1}]}, [WIDE[0], "…[5 more items]"], [WIDE[0], "…[5 more items]"]),
        ({"steps": [{"limit": 1}]}, ["word", "a" * 68], ["word", "a" * 68][:1]),
        ({"steps": [{"limit": 1}]}, ["word", "a" * 69], ["word", "…[1 more items]"]),
        ({"steps": [{"keep": "[?risk == 'high']"}]}, WIDE, [WIDE[9], "…[9 more items]"]),
        ({"steps": [{"path": "a", "drop": "[?risk]"}]}, {"a": WIDE}, {"a": ["…[10 more items]"]}),
        ({"steps": [{"dedupe": "risk"}]}, WIDE, [WIDE[0], WIDE[9], "…[8 more items]"]),
        (
            {"steps": [{"path": "edges", "drop_dangling": {"to": "nodes[*].id"}}]},
            DANGLING,
            {**DANGLING, "edges": [DANGLING["edges"][0], "…[2 more items]"]},
        ),
        ({"steps": [{"path": "a", "drop": ["note"]}, {"path": "a", "limit": 9}]}, {"a": WIDE}, {"a": NODES[:9]}),
        # items are measured as the step finds them
        ({"steps": [{"keep": ["id"]}, {"limit": 5}]}, WIDE, [{"id": n} for n in range(5)]),
        # a forged marker that no rule can have written is an item
        ({"steps": [{"limit": 2}]}, [*LONG[:2], "…[2 more items; mentions nobody]"], LONG[:2]),
        ({"steps": [{"path": "a", "limit": 1}]}, {"a": [1], "b": [1, "…[5 more items]"]}, None),
        # an author decides
        ({"steps": [{"limit": 9, "mark": True}]}, WIDE, [*WIDE[:9], "…[1 more items]"]),
        ({"steps": [{"limit": 9, "mark": False}]}, WIDE, WIDE[:9]),
        ({"mark": False, "steps": [{"limit": 2}]}, LONG, LONG[:2]),
        ({"keys": "all", "steps": [{"limit": 2}]}, LONG, LONG[:2]),
        ({"mark": False, "steps": [{"limit": 2, "mark": True}]}, LONG, [*LONG[:2], "…[7 more items]"]),
        ({"mark": False, "steps": [{"limit": 1}], "preserve": ["cve"]}, ["a", "b", "CVE-2024-3400"], None),
        # lists of one step count together with those of another, if one of them has a marker
        (
            {"steps": [{"drop": "[?id > 7]", "mark": False}, {"limit": 2}]},
            WIDE,
            [*WIDE[:2], "…[8 more items]"],
        ),
    ],
)
def test_a_marker_counts_what_a_list_lost(rule: dict[str, Any], content: Any, result: Any) -> None:
    left = fixed_point(rules(**rule), content).content
    if result is None:
        assert left is content or left == ["a", "CVE-2024-3400"]
    else:
        assert left == result


def test_removals_without_a_marker_are_counted() -> None:
    for rule, content, count in (
        ({"steps": [{"limit": 2}]}, ["short"] * 9, 7),
        ({"steps": [{"limit": 2}]}, LONG, 0),
        ({"mark": False, "steps": [{"limit": 2}]}, LONG, 7),
        ({"keys": "all", "steps": [{"limit": 2}]}, LONG, 7),
    ):
        assert fixed_point(rules(**rule), content).unmarked == count
    assert fixed_point(rules(steps=[{"path": "m", "limit": 1}]), {"m": MAP}).removed_keys == 2
    assert fixed_point(rules(steps=[{"keep": ["id"]}]), WIDE).removed_keys == len(WIDE) * (len(WIDE[0]) - 1)


def test_counts_of_several_steps_add_up_without_what_is_restored() -> None:
    steps = [{"drop": "[?id > 7]", "mark": "risk"}, {"limit": 2, "mark": True}, {"keep": ["id", "risk", "note"]}]
    content = [*WIDE[:5], {"id": 5, "note": "seen by APT41", "risk": "low"}, *WIDE[6:]]
    rule = {"steps": steps, "preserve": ["threat_actor"]}
    kept = [{key: item[key] for key in ("id", "risk", "note")} for item in WIDE[:2]]
    left = fixed_point(rules(**rule), content).content
    assert left == [*kept, {"note": "seen by APT41"}, "…[7 more items; risk: 1 high, 6 low]"]


def test_conditions_and_paths_never_see_a_marker() -> None:
    steps = [
        {"path": "a[?length(@) > 0]", "drop": "seen"},
        {"path": "a", "limit": 2, "mark": "risk", "sort_by": "-id"},
        {"path": "a", "keep": ["id", "risk"]},
        {"path": "a[*]", "compact": True},
    ]
    left = fixed_point(rules(steps=steps), {"a": WIDE}).content
    assert left["a"] == [{"id": 0, "risk": "low"}, {"id": 1, "risk": "low"}, "…[8 more items; risk: 1 high, 7 low]"]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"keep": "id", "mark": True}, "`mark` counts items, so it needs a filter"),
        ({"limit": 1, "mark": "tags[0]"}, "expected true, false, or a short expression without `,`, `;`, `:` and `]`"),
        ({"keep": ["id", "[?risk]"]}, "expected keys or filters, not both: write two steps"),
        ({"keep": {"names": ["[?risk]"], "strict": True}}, "`strict` needs keys, not filters"),
        ({"keep": {"names": ["id"]}}, "`strict` is missing"),
        ({"keep": {"names": ["id"], "strict": False}}, "expected true, not `false`"),
        ({"keep": {"names": ["id"], "strct": True}}, "unknown key `strct`"),
        ({"keep": "items[?risk]"}, "expected keys or a filter: `[?risk == 'high']`"),
        ({"dedupe": {"ignore": "case"}}, "expected 'digits', not `case`"),
        ({"dedupe": False}, "expected true, an expression, or {ignore: digits, keep: 3}"),
        ({"limit": 1, "sort_by": ["id", "-"]}, "the expression is empty"),
        ({"limit": 1, "sort_by": {"a b": ["x"]}}, "`b` is not an operator"),
        ({"limit": 1, "sort_by": {"a": []}}, "expected one expression with its words: {severity: [high, low]}"),
        ({"limit": 1, "sort_by": {"a": [1]}}, "expected words, the highest first: {severity: [high, low]}"),
    ],
)
def test_a_wrong_step_is_refused(step: dict[str, Any], message: str) -> None:
    problems = compile_rules([rule_file({"steps": [step]})])[1]
    assert [problem.message for problem in problems] == [message]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            {"limit": 2, "sort_by": ["severity", "-last_seen"]},
            "keeps the 2 highest items of the answer by `severity`, then the oldest `last_seen`",
        ),
        (
            {"path": "log", "text": "lines", "limit": 9, "mark": True},
            "keeps the first 9 lines of `log`, and a marker counts the others",
        ),
        (
            {"path": "a", "keep": ["[?b]", "[?c > 1]"], "mark": "d"},
            "keeps only items of `a` that match `[?b]` or `[?c > 1]`, and a marker counts the others by `d`",
        ),
        ({"dedupe": {"ignore": "digits"}}, "drops repeated items of the answer, ignoring digits"),
        ({"dedupe": {"by": "ip", "keep": 3}}, "keeps the first 3 of the items of the answer for each `ip`"),
    ],
)
def test_a_description_of_a_step(step: dict[str, Any], words: str) -> None:
    [rule] = rules(steps=[step]).rules
    assert [description.text for description in descriptions(rule)] == [words]


def test_with_all_keys_each_object_keeps_its_keys() -> None:
    rule = {"keys": "all", "steps": [{"path": "a", "keep": "x"}]}
    left = reduced(rule, {"a": [{"x": 1, "y": 2, "z": "t", "l": [1]}]})
    assert left == {"a": [{"x": 1, "y": 2, "z": "", "l": []}]}
