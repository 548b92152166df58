"""The engine with hostile contents, gates, `max_chars` and `preserve`."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from typing import Any

import pytest

from reducer.engine import Outcome, attempt, reduce_content
from reducer.values import MAX_TEXT_CHARS, dump
from tests.helpers import fixed_point, reduced, rules, table

ALL = {
    "preserve": ["ioc", "threat_actor"],
    "max_chars": 500,
    "steps": [
        {"path": "items", "limit": 2, "sort_by": "n", "always_keep": "length(tags) > `3`"},
        {"path": "@", "truncate": 40},
        {"path": "items[*].raw", "keep": ["a"]},
        {"path": "@", "compact": True},
        {"path": "items", "dedupe": True},
    ],
}


def nested(levels: int, value: Any = 1) -> Any:
    for number in range(levels):
        value = [value] if number % 2 else {"items": value}
    return value


class Rude:
    @property
    def kind(self) -> str:
        return "x"


@pytest.mark.parametrize(
    "content",
    [
        None,
        True,
        3,
        2.5,
        b"bytes",
        object(),
        (n for n in "abc"),
        {"kind": "image-url", "url": "https://example.org/" + "a" * 900},
        [Rude(), Rude(), Rude()],
        "",
        [],
        {},
        '{"a": 1, "a": "x"}',
    ],
    ids=lambda content: type(content).__name__,
)
def test_other_contents_are_returned_unchanged(content: Any) -> None:
    assert reduced(ALL, content) is content


def test_a_deep_or_cyclic_content_is_returned_unchanged() -> None:
    deep = nested(100_000)
    outcome = attempt(rules(**ALL), "t", deep)
    assert (outcome.content is deep, outcome.fault) == (True, "deeper than 128 levels")
    text = "[" * 100_000 + "]" * 100_000
    assert reduced({"steps": [{"path": "a", "limit": 1}]}, text) is text
    cyclic: dict[str, Any] = {"items": [1, 2, 3]}
    cyclic["items"].append(cyclic)
    assert reduced(ALL, cyclic) is cyclic


LONG = {"id": 10**5000, "text": "word " * 40}
TOO_DEEP = "deeper than 128 levels, so an item stays unchanged"
TOO_LONG = "an integer with more digits than Python writes, so an item stays unchanged"


@pytest.mark.parametrize("levels", [130, 100_000])
@pytest.mark.parametrize(
    "rule",
    [
        ALL,
        {"steps": [{"path": "items", "dedupe": True}]},
        {"steps": [{"truncate": 20}], "preserve": ["cve"]},
        {"steps": [{"path": "items", "drop": "[?n == `1`]"}], "max_chars": 3000},
    ],
)
def test_an_item_that_is_too_deep_stays_and_everything_else_is_reduced(rule: dict[str, Any], levels: int) -> None:
    deep = nested(levels)
    items = [{"n": n % 4, "text": "CVE-2024-3400 " + "word " * 40} for n in range(8)]
    ruleset, note = rules(**rule, mark=False), "note " * 90
    outcome = attempt(ruleset, "t", {"items": [*items, deep], "note": note})
    assert outcome.content["items"][-1] is deep
    assert outcome.fault == TOO_DEEP
    readable = attempt(ruleset, "t", {"items": items, "note": note}).content
    assert {**outcome.content, "items": outcome.content["items"][:-1]} == readable
    assert attempt(ruleset, "t", outcome.content).content is outcome.content
    assert attempt(ruleset, "t", [deep, *items]).content[0] is deep


def test_an_object_without_a_json_form_stays_and_everything_else_is_reduced() -> None:
    rude = Rude()
    outcome = attempt(rules(**ALL), "t", {"items": [rude, 2, 3, 4], "text": "a " * 400})
    assert outcome.content["items"] == [rude, 2]
    assert len(outcome.content["text"]) < 80
    assert outcome.fault == "a Rude has no JSON form, so an item stays unchanged"


def test_an_item_with_an_integer_that_is_too_long_stays_and_everything_else_is_reduced() -> None:
    items = [{"n": n % 4, "text": "word " * 40} for n in range(8)]
    ruleset = rules(steps=[{"path": "items", "dedupe": True, "mark": False}])
    outcome = attempt(ruleset, "t", {"items": [*items, LONG]})
    assert outcome.fault == TOO_LONG
    assert outcome.content["items"][-1] is LONG
    assert len(outcome.content["items"]) < 9
    assert attempt(ruleset, "t", outcome.content).content is outcome.content
    limited = attempt(rules(steps=[{"path": "items", "limit": 2, "mark": False}]), "t", {"items": [LONG, *items]})
    assert (limited.content, limited.fault) == ({"items": [LONG, items[0]]}, "")


def test_the_bound_on_depth_does_not_depend_on_the_stack() -> None:
    content = {"items": [{"n": n, "text": "word " * 50} for n in range(9)], "deep": nested(100)}
    expected = reduced(ALL, content)
    assert expected is not content

    def lower(levels: int) -> Any:
        return lower(levels - 1) if levels else reduced(ALL, content)

    assert lower(150) == expected


def test_a_text_too_long_to_read_is_returned_unchanged() -> None:
    for content in ("x" * (MAX_TEXT_CHARS + 1), {"a": "x" * (MAX_TEXT_CHARS + 1)}):
        outcome = attempt(rules(steps=[{"truncate": 40}]), "t", content)
        assert outcome.content is content
        assert outcome.fault == "a text of more than 67,108,864 characters"


def test_json_text_is_written_compactly_only_where_something_changes() -> None:
    big, step = 10**300 + 7, {"path": "items", "limit": 1}
    text = json.dumps({"items": ["é\ud800", 2], "n": 1.5, "big": big}, indent=2)
    result = reduced({"steps": [step]}, text)
    assert result == f'{{"items":["é\\ud800"],"n":1.5,"big":{big}}}'
    result.encode()
    untouched = json.dumps({"items": [1], "n": 1.50}, indent=2)
    assert reduced({"steps": [step]}, untouched) is untouched
    assert reduced({"steps": [{"compact": True}]}, '{ "a": [1, 2],  "b": "x" }') == '{"a":[1,2],"b":"x"}'
    rows = "[('a, b', datetime.date(2024, 5, 1)), ({'c': None, 'd': 1}, None)]"
    assert reduced({"steps": [{"compact": True}]}, rows) == "[('a, b', datetime.date(2024, 5, 1)), ({'d': 1}, None)]"
    assert reduced({"steps": [{"compact": "all"}]}, rows) == "[('a, b',datetime.date(2024, 5, 1)),({'d':1},None)]"
    assert reduced({"steps": [{"compact": "all"}]}, "[('a', 1)]") == "[('a',1)]"


def test_an_unstable_rule_is_not_applied_and_its_step_is_named() -> None:
    ruleset = rules(steps=[{"path": "items", "dedupe": "text"}, {"path": "@", "truncate": 20}])
    content = {"items": [{"text": "the same beginning of " + letter * 60} for letter in "abc"], "keep": "b" * 9}
    outcome = attempt(ruleset, "t", content)
    assert outcome.content is content
    assert outcome.fault == "a second pass would change the result: `dedupe items` is to blame"


LINES = ["the same beginning " * 9 + end for end in ("of line 1", "of line 22")]
EQUAL_LINES = {"steps": [{"path": "log", "text": "lines", "dedupe": {"ignore": "digits"}}], "max_chars": 100}
CUT_TWICE = {"steps": [{"truncate": {"head": 60, "tail": 30}}, {"truncate": 75}]}
SECOND_PASS = [
    *(tuple(case.values()) for case in table(__file__, "second_pass.yaml")),
    ("`max_chars` makes two lines equal", EQUAL_LINES, {"log": "\n".join(LINES)},
     {"log": "the same beginning " * 6 + "the …[63 more characters]\n…[1 more items]"}),
    ("a cut that would not make a text shorter still bounds the next one", CUT_TWICE, "word " * 20,
     "word " * 11 + "word …[41 more characters]"),
]  # fmt: skip
HASH = {"hash": "d41d8cd98f00b204e9800998ecf8427e"}


@pytest.mark.parametrize(("case", "rule", "content", "result"), SECOND_PASS, ids=[case[0] for case in SECOND_PASS])
def test_a_second_pass_changes_nothing(case: str, rule: dict[str, Any], content: Any, result: Any) -> None:
    assert fixed_point(rules(**rule), content).content == result


def test_a_step_removes_what_an_earlier_step_preserves() -> None:
    ruleset = rules(steps=[{"path": "items", "limit": 1, "preserve": ["hash"]}, {"path": "items", "drop": "[?!risk]"}])
    outcome = attempt(ruleset, "t", {"items": [{"id": 1}, HASH]})
    assert outcome.content == {"items": []}
    assert outcome.fault.endswith("`drop items` is to blame; only entities that all steps preserve were restored")
    assert reduce_content(ruleset, "t", outcome.content) is outcome.content
    assert attempt(ruleset, "t", {"items": [{"id": 1, "risk": "low"}, HASH]}).fault == ""


def test_gates_are_evaluated_on_the_return_as_it_arrived() -> None:
    gated = {"when": {"min_chars": 200}, "steps": [{"path": "items", "limit": 1}]}
    small, large = {"items": [1, 2, 3]}, {"items": [1, 2, 3], "text": "a" * 300}
    assert reduced(gated, small) is small
    assert reduced(gated, large)["items"] == [1]
    step = rules(steps=[{"path": "items", "limit": 1, "when": {"where": "kind == 'long'"}}])
    assert reduce_content(step, "t", {"kind": "long", "items": [1, 2]})["items"] == [1]
    assert attempt(step, "t", {"kind": "short", "items": [1, 2]}).steps[0].ran is False


def test_a_key_that_is_no_text_has_the_name_that_is_stored() -> None:
    value = {1: "kept", "b": 2}
    for place, result in ((value, {"1": "kept"}), ([value], [{"1": "kept"}])):
        assert reduced({"steps": [{"path": "a", "keep": ["1"]}]}, {"a": place}) == {"a": result}


# --- a root list that loses all items


LOW = [{"id": n, "risk": "low"} for n in range(12)]
DROP = {"drop": "[?risk == 'low']"}
SEEN = {"risk": "low", "ip": "192.0.2.7", "note": "seen last night"}


@pytest.mark.parametrize(
    "write", [lambda items: items, tuple, json.dumps, repr], ids=["list", "tuple", "JSON", "literal"]
)
@pytest.mark.parametrize(
    ("rule", "items", "result"),
    [
        ({"steps": [DROP]}, LOW, ["…[12 more items]"]),
        ({"steps": [DROP], "keys": "all"}, LOW, ["…[12 more items]"]),
        ({"steps": [DROP | {"mark": "risk"}]}, LOW, ["…[12 more items; risk: 12 low]"]),
        ({"steps": [DROP | {"mark": "risk"}]}, LOW[:1], ["…[1 more items]"]),  # the counts would be longer
        ({"steps": [{"keep": "[?risk == 'high']"}, {"path": "[*]", "keep": ["id"]}]}, LOW, ["…[12 more items]"]),
        ({"steps": [{"path": "[*]", "keep": ["risk"]}, DROP]}, LOW, [{"risk": "low"}]),
        ({"steps": [{"drop": "[?@ > 0]"}]}, [3, 4, 5], [3]),
        ({"steps": [DROP]}, [*LOW, {"risk": "high"}], [{"risk": "high"}, "…[12 more items]"]),
        ({"steps": [{"drop": "[?contains(@, 'GET')]"}]}, ["GET /index.html 200"] * 3, ["…[3 more items]"]),
        ({"steps": [{"drop": "[?contains(@, 'GET')]"}]}, ["GET /", "GET /index.html 200"], ["GET /"]),
        ({"steps": [DROP], "preserve": ["ip"]}, [*LOW, SEEN], [{"ip": "192.0.2.7"}, "…[12 more items]"]),
        (
            {"steps": [{"drop": "[?contains(@, 'GET')]"}], "preserve": ["ip"]},
            ["GET /index.html 200 to 192.0.2.7"] * 2,
            ["…[2 more items; mentions 192.0.2.7]"],
        ),
    ],
)
def test_a_return_that_loses_all_items_holds_a_marker_if_it_is_shorter_than_the_first(
    write: Callable[[Any], Any], rule: dict[str, Any], items: list[Any], result: list[Any]
) -> None:
    reduced = fixed_point(rules(**{"preserve": [], **rule}), write(items)).content
    if write is json.dumps:
        assert reduced == dump(result)
    else:
        assert reduced == write(result)


def test_other_lists_can_lose_all_items() -> None:
    assert reduced({"steps": [{"path": "rows", **DROP, "mark": False}]}, {"rows": LOW}) == {"rows": []}


# --- preserve

CVE = "CVE-2024-3400"
LIMIT = {"path": "a", "limit": 1}
NOTES = {"a": [{"text": "nothing to see in here"}, {"text": "word " * 30 + "192.0.2.1"}]}


@pytest.mark.parametrize(
    ("rule", "content", "result"),
    [
        (
            {"preserve": ["cve"], "steps": [LIMIT, {"path": "b", "limit": 1, "preserve": []}]},
            {"a": [{"id": 1}, {"id": 2, "cve": CVE}], "b": [{"id": 1}, {"id": 2, "cve": "CVE-2021-44228"}]},
            {"a": [{"id": 1}, {"cve": CVE}], "b": [{"id": 1}]},
        ),
        (  # what remains elsewhere is not restored
            {"preserve": ["cve"], "steps": [LIMIT]},
            {"a": [{"id": 1}, {"cve": CVE}], "summary": f"exploits {CVE}"},
            {"a": [{"id": 1}], "summary": f"exploits {CVE}"},
        ),
        (  # without its other keys the object would be a media item, whose texts are not read
            {"preserve": ["url"], "steps": [{"path": "a", "keep": ["n"]}]},
            {"a": {"kind": "image-url", "url": "https://example.org/a.png", "n": 1}},
            {"a": {"url": "https://example.org/a.png", "n": 1}},
        ),
        (  # what a named step removes is not restored for an earlier cut
            {"steps": [{"path": "a[*].text", "truncate": 10}, LIMIT]},
            NOTES,
            {"a": NOTES["a"][:1]},
        ),
        (  # what is cut and then extracted counts all that is removed
            {"steps": [{"truncate": 243}, {"extract": ["ip"]}]},
            "Traffic to 192.0.2.7 went up last night. " * 12,
            "…[492 more characters; mentions 192.0.2.7]",
        ),
    ],
)
def test_what_is_restored(rule: dict[str, Any], content: Any, result: Any) -> None:
    assert reduced(rule, content) == result


def test_max_chars_cuts_texts_and_lists_and_nothing_that_fits() -> None:
    rule = rules(max_chars=3000)
    content = {"articles": ["word " * 1000] * 40, "rows": [{"n": n} for n in range(500)], "short": "stays"}
    result = fixed_point(rule, content).content
    assert len(json.dumps(result)) < 3300
    assert result["short"] == "stays"
    assert result["articles"][-1].startswith("…[")
    fitting = {"articles": ["word"], "rows": [{"n": 1}]}
    assert reduce_content(rule, "t", fitting) is fitting


def test_preserve_wins_over_max_chars() -> None:
    content = [f"seen at 192.0.2.{n} by the sensor in the hall near the door" for n in range(50)]
    result = json.dumps(reduced({"max_chars": 100, "preserve": ["ipv4"]}, content))
    assert len(result) > 100
    assert all(f"192.0.2.{n}" in result for n in range(50))


def test_a_bound_limits_how_many_indicators_are_kept() -> None:
    listed, step = {"ips": [f"192.0.2.{n}" for n in range(50)], "note": "word " * 40}, {"path": "ips", "limit": 5}
    whole = attempt(rules(preserve=["ioc"], steps=[step]), "t", listed)
    assert (whole.content, whole.restored.lost) == (listed, ())
    bounded = attempt(rules(preserve={"ioc": 10}, steps=[step]), "t", listed)
    assert [value for value in listed["ips"] if value in json.dumps(bounded.content)] == listed["ips"][:15]
    assert bounded.restored.lost == tuple(listed["ips"][15:])
    kept = reduced({"preserve": ["ioc"], "steps": [{**step, "preserve": []}]}, listed)["ips"]
    assert kept == [*listed["ips"][:5], "…[45 more items]"]


def test_a_bound_counts_each_type_and_leads_to_a_fixed_point() -> None:
    steps = [{"path": "rows", "limit": 1}, {"path": "note", "truncate": 20}]
    rows = [{"n": n, "ip": f"192.0.2.{n}", "cve": f"CVE-2024-{1000 + n}"} for n in range(6)]
    content = {"rows": rows, "note": "cut here and there, " * 9 + "198.51.100.7"}
    text = json.dumps(fixed_point(rules(preserve={"ipv4": 2, "cve": 1}, steps=steps), content).content)
    assert "198.51.100.7" in text  # a mention is shorter than an item, so it comes first
    assert [n for n in range(1, 6) if f"192.0.2.{n}" in text] == [1]
    assert sum(f"CVE-2024-{1000 + n}" in text for n in range(1, 6)) == 1


def test_restored_and_mentioned_entities_are_counted_once() -> None:
    steps = [LIMIT, {"path": "text", "truncate": 10}]
    content = {"a": [{"id": 1}, {"cve": CVE}, {"id": 3}], "text": "word " * 60 + f"192.0.2.1 and {CVE}"}
    assert attempt(rules(preserve=["cve", "ipv4"], steps=steps), "t", content).restored.preserved == 2
    assert attempt(rules(preserve=[], steps=steps[:1]), "t", content).restored.preserved == 0
    assert attempt(rules(steps=steps), "other", content) == Outcome(None, content)


# --- memory


@pytest.mark.parametrize(
    "rule",
    [
        {"steps": [{"extract": ["ioc"]}]},
        {"steps": [{"truncate": 20}]},
        {"steps": [{"path": "items", "limit": 5}], "preserve": ["ioc"]},
    ],
)
def test_plans_and_entities_do_not_burden_the_garbage_collector(rule: dict[str, Any]) -> None:
    # The collector stops all threads while it reads the objects that it tracks, in an agent also the event loop.
    count = 1_000
    words = "which the analysts of the second shift saw last night, " * 3
    items = [{"note": f"host{n}.evil.com, {words}and 192.0.{n // 250}.{n % 250}"} for n in range(count)]
    ruleset = rules(**rule)
    attempt(ruleset, "t", {"items": items[:9]})
    gc.freeze()  # leaves out the objects that exist
    try:
        outcome = attempt(ruleset, "t", {"items": items})
        assert outcome.content["items"] != items
        assert _tracked() < count
    finally:
        gc.unfreeze()


def _tracked() -> int:
    for _ in range(3):  # each stops to track tuples whose items are no longer tracked
        gc.collect()
    return len(gc.get_objects())
