"""Structure in texts: rules reduce it and write it in its own notation, and `unwrap` replaces the text with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reducer.analysis.explanation import step_reports
from reducer.engine import attempt, reduce_content
from reducer.values import chars
from tests.helpers import fixed_point, rules

ROWS = repr([("a", 1, None), ("b", 2, "it's"), ("c", 3, "x" * 30)])
RESULTS = [{"id": number, "payload": json.dumps({"score": number, "raw": "r" * 20})} for number in range(4)]
WRAPPED = {"parts": [{"type": "text", "text": json.dumps({"results": RESULTS}, indent=1)}], "isError": False}
LINES = "".join(json.dumps({"n": number, "level": "error" if number == 3 else "info"}) + "\n" for number in range(5))
PLAIN: list[Any] = ["[1, 2]", '{"a": 1}', "text", {"a": "(1, 2)"}, {"a": '{"b": 1, "b": 2}'}, {"a": '{"b": NaN}'}]
PLAIN += [{"a": '"text"'}, {"a": "[1e5,1e5,1e5]"}, ["{'a': None}"]]


def reduced(content: Any, *steps: dict[str, Any], **keys: Any) -> Any:
    """Reduce a content with a rule of these steps to a fixed point."""
    return fixed_point(rules(steps=steps, **keys), content).content


@pytest.mark.parametrize(
    ("content", "steps", "result"),
    [
        (ROWS, [{"limit": 2}], """[('a', 1, None), ('b', 2, "it's")]"""),
        (ROWS, [{"path": "[*]", "limit": 1}], "[('a',), ('b',), ('c',)]"),
        (
            ROWS,
            [{"path": "[*][2]", "truncate": 2}],
            """[('a', 1, None), ('b', 2, "it's"), ('c', 3, 'xx …[28 more characters]')]""",
        ),
        ("3 rows:\n" + ROWS + "\n", [{"limit": {"tail": 1}}], "3 rows:\n[('c', 3, '" + "x" * 30 + "')]\n"),
        (
            "{'a': (1, 2), 'b': {'c': {1, 2}, 'd': b'x'}}",
            [{"path": "b", "keep": ["c"]}],
            "{'a': (1, 2), 'b': {'c': {1, 2}}}",
        ),
        ("{'a': (1, 2), 'b': {'c': {1, 2}}}", [{"drop": ["a", "b"]}], "{'a': (), 'b': {}}"),
        (
            "[Host(name='a', at=date(2024, 5, 1), up=True)]",
            [{"keep": ["name", "at"]}],
            "[Host(name='a', at=date(2024, 5, 1))]",
        ),
        (
            "meta=None content=[Text(text='[1, 2]')]",
            [{"path": "content[*].text", "limit": 1}],
            "meta=None content=[Text(text='[1]')]",
        ),
        (LINES, [{"limit": 3}], LINES[: LINES.index('{"n": 3')]),
        (LINES, [{"drop": "[?level == 'info']"}], '{"n": 0, "level": "info"}\n{"n": 3, "level": "error"}\n'),
        (LINES, [{"keep": ["n"]}], "".join(f'{{"n":{number}}}\n' for number in range(5))),
        (json.dumps('{"a": [1, 2, 3]}'), [{"path": "a", "limit": 1}], json.dumps('{"a":[1]}')),
        (
            {"a": '{"k": [1, 2, 3]}', "b": "[1, 2, 3]"},
            [{"path": "a.k", "limit": 1}],
            {"a": '{"k":[1]}', "b": "[1, 2, 3]"},
        ),
        ({"a": ROWS}, [{"path": "a", "limit": 1}], {"a": "[('a', 1, None)]"}),
        ({"a": ROWS}, [{"path": "a[*]", "limit": 1}], {"a": "[('a',), ('b',), ('c',)]"}),
        (
            {"a": "[Host(name='a', up=True), (1, {1, 2})]"},
            [{"path": "a[*]", "drop": "up"}],
            {"a": "[Host(name='a'), (1, {1, 2})]"},
        ),
        ({"a": "[(1, 2, 3)]"}, [{"path": "a", "drop": "[?[0] == `1`]"}], {"a": "[]"}),
        ({"a": '{"k": 1}'}, [{"path": "a.k.none", "limit": 1}, {"drop": "a"}], {"a": ""}),
        ({"r": {"a": '{"k": 1, "l": 2}', "b": 1}}, [{"path": "r", "keep": ["a.k"]}], {"r": {"a": '{"k":1}'}}),
        (['{"a": 1, "b": 2}', '{"a": 3, "b": 4}'], [{"path": "[*]", "keep": ["a"]}], ['{"a":1}', '{"a":3}']),
        (["[1, 2]", "[3, 4]", "[5]"], [{"limit": 2}], ["[1, 2]", "[3, 4]"]),
        ({"a": json.dumps(json.dumps(["x", "y"]))}, [{"path": "a", "limit": 1}], {"a": '"[\\"x\\"]"'}),
    ],
)  # fmt: skip
def test_steps_reduce_the_structure_in_texts_and_keep_its_notation(
    content: Any, steps: list[dict[str, Any]], result: Any
) -> None:
    assert reduced(content, *steps) == result


@pytest.mark.parametrize(
    ("content", "step"),
    [
        (ROWS, {"limit": 3}),
        (ROWS[:-1], {"limit": 1}),
        ('{"n": 1}\n{"n": 2}', {"limit": 1}),
        ({"a": "[1, 2, 3] and more"}, {"path": "a", "limit": 1}),
        ({"a": '{"k": [1, 2], "k": 3}'}, {"path": "a.k", "limit": 1}),
        (
            {"a": '[{"kind": "image-url", "url": "u", "vendor_metadata": {"x": [1, 2]}}]'},
            {"path": "a[*].vendor_metadata.x", "limit": 1},
        ),
        ({"a": "[" * 200 + "1" + "]" * 200}, {"path": "a[*]", "limit": 1}),
        ({"a": "[1e5,1e5,1]"}, {"path": "a", "limit": 2}),  # written anew the numbers would be longer
        ({"kind": "image-url", "url": "[1, 2]"}, {"path": "url", "limit": 1}),
        ({"a": "[1, 2, 3]"}, {"limit": 1}),
    ],
)
def test_what_cannot_be_read_or_would_be_longer_is_unchanged(content: Any, step: dict[str, Any]) -> None:
    assert reduce_content(rules(steps=[step]), "t", content) is content


def test_conditions_see_what_the_texts_contain() -> None:
    path = "parts[0].text.results"
    best = {"path": path, "limit": 1, "sort_by": "payload.score", "mark": False}
    result = reduced(WRAPPED, best, {"path": path, "keep": ["payload.score"]})
    assert result["parts"] == [{"type": "text", "text": '{"results":[{"payload":"{\\"score\\":3}"}]}'}]
    high = {"path": f"{path}[?payload.score > `1`].payload", "keep": ["score"]}
    assert reduced(json.dumps(WRAPPED), high).count("raw") == 2
    gated = {"path": path, "limit": 1, "mark": False, "when": {"where": "parts[0].text.size == `4`"}}
    sized = {**WRAPPED, "parts": [{"text": json.dumps({"size": 4, "results": RESULTS})}]}
    assert len(json.loads(reduced(sized, gated)["parts"][0]["text"])["results"]) == 1


def test_a_text_that_is_on_no_path_is_cut_as_a_text() -> None:
    content = {"a": json.dumps({"k": "v" * 100})}
    assert reduced(content, {"path": "a", "truncate": 10}) == {"a": '{"k": …[104 more characters]'}
    # It is on the path of one step, so it is structure to all of them.
    both = reduced(content, {"path": "a", "truncate": 10}, {"path": "a.none", "limit": 1})
    assert both == {"a": '{"k":"vvvvvvvvvv …[90 more characters]"}'}


def test_a_step_that_shortens_lists_does_not_open_the_texts_in_them() -> None:
    rows = {"rows": [['{"a": null,  "b": 1}', "x"], ["y"]]}
    ruleset = rules(steps=[{"path": "*[]", "limit": 3, "sort_by": "a"}, {"path": "[]", "drop": "b"}, {"compact": True}])
    assert reduce_content(ruleset, "t", rows) is rows


def test_markers_and_thin_items_are_written_within_the_text() -> None:
    rows = repr([("a", "nothing"), ("b", "seen with 192.0.2.7 again and again"), ("c", "nothing")])
    thin = "[('a', 'nothing'), ('seen with 192.0.2.7 again and again',)]"
    assert reduced(rows, {"limit": 1}, preserve=["ipv4"]) == thin
    content = {"body": json.dumps({"notes": "word " * 40 + "192.0.2.7 " + "word " * 40})}
    result = reduced(content, {"path": "body.notes", "truncate": 20})
    assert json.loads(result["body"])["notes"] == "word word word word …[391 more characters; mentions 192.0.2.7]"


def test_max_chars_counts_what_is_written() -> None:
    rows = repr([("a" * 50, None, True)] * 40)
    assert len(reduced(rows, {"path": "none", "limit": 1}, max_chars=700)) <= 700
    assert chars(reduced(WRAPPED, {"path": "parts[*].text.results", "keep": ["id"]}, max_chars=110)) <= 110


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ([{"type": "note", "text": '[{"a": "{\\"b\\": 1}"}]'}], [{"type": "note", "text": [{"a": {"b": 1}}]}]),
        (["[1, 2]", "text", "12"], [[1, 2], "text", "12"]),
        ('{"a": "[1, 2]"}', '{"a":[1,2]}'),
        ("{'a': ('[1, null]', 2)}", "{'a': ([1, None], 2)}"),
        (json.dumps('{"a": "[1]"}'), json.dumps('{"a":[1]}')),
        ({"a": '{"kind": "image-url", "url": "u"}', "b": "[1]"}, {"a": '{"kind": "image-url", "url": "u"}', "b": [1]}),
        *zip(PLAIN, PLAIN, strict=True),
    ],
)
def test_unwrap_takes_nested_json_out_of_its_text_and_leaves_the_rest(content: Any, result: Any) -> None:
    left = reduced(content, {"unwrap": True})
    assert left == result
    assert left is content or content != result


def test_unwrapped_structure_is_reduced_by_other_steps() -> None:
    path = "parts[*].text.results"
    result = reduced(WRAPPED, {"unwrap": True}, {"path": path, "limit": 1, "sort_by": "payload.score", "mark": False})
    assert result["parts"][0]["text"] == {"results": [{"id": 3, "payload": {"score": 3, "raw": "r" * 20}}]}
    dropped = reduced(WRAPPED, {"path": path, "drop": "payload"}, {"unwrap": True})
    assert dropped["parts"][0]["text"]["results"][0] == {"id": 0}


LOG = '{"a": {"b": 1}}\nsecond line\n["[2]", 3]\nsecond line\n'
OF_LINES: list[dict[str, Any]] = [
    *({"limit": 2}, {"dedupe": True}, {"drop": "[?@ == 'second line']"}, {"keep": "[?contains(@, 'line')]"}),
    *({"truncate": 7}, {"extract": ["ipv4"]}, {"compact": True}, {"limit": 1, "sort_by": "a.b"}, {"unwrap": True}),
]


@pytest.mark.parametrize("of_lines", OF_LINES, ids=str)
@pytest.mark.parametrize("more", [{}, {"text": "lines"}, {"path": "[*]"}], ids=str)
def test_a_line_is_never_replaced_by_its_value(of_lines: dict[str, Any], more: dict[str, Any]) -> None:
    step, unwrap = {"text": "lines", **of_lines}, {"unwrap": True, **more}
    alone = reduced(LOG, step)
    assert type(alone) is str
    assert reduced(LOG, unwrap, step) == reduced(LOG, step, unwrap) == alone


@pytest.mark.parametrize("of_lines", OF_LINES, ids=str)
@pytest.mark.parametrize("unwrap", [{"unwrap": True}, {"path": "log", "unwrap": True, "text": "lines"}], ids=str)
def test_a_line_of_a_nested_text_is_never_replaced_by_its_value(
    of_lines: dict[str, Any], unwrap: dict[str, Any]
) -> None:
    content, step = {"log": LOG}, {"path": "log", "text": "lines", **of_lines}
    alone = {"log": reduced(LOG, {"text": "lines", **of_lines})}
    assert reduced(content, unwrap, step) == reduced(content, step, unwrap) == alone


def test_conditions_do_not_look_into_the_lines_of_a_text() -> None:
    step = {"text": "lines", "drop": "[?a.b]"}
    assert reduced(LOG, step) is LOG
    assert reduced({"log": LOG}, {"path": "log", **step}) == {"log": LOG}


def test_live_values_around_a_text() -> None:
    content = {"rows": ({"body": '{"k": [1, 2]}'}, {"body": "x"}), 1: "y"}
    left = {"rows": ({"body": '{"k":[1]}'}, {"body": "x"}), "1": "y"}
    assert reduced(content, {"path": "rows[*].body.k", "limit": 1}) == left


@pytest.mark.parametrize(
    ("content", "step"),
    [
        (ROWS, {"limit": 1}),
        (WRAPPED, {"unwrap": True}),
        (WRAPPED, {"path": "parts[0].text.results", "limit": 1, "mark": False}),
    ],
)
def test_the_report_counts_texts_as_they_are_written(content: Any, step: dict[str, Any]) -> None:
    outcome = attempt(rules(steps=[step]), "t", content)
    (entry,) = step_reports(outcome, True)
    assert (entry.before, entry.after, entry.restored) == (chars(content), chars(outcome.content), 0)
