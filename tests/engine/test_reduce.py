"""What the engine does with contents that are hostile, or not for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reducer.engine import Outcome, attempt, reduce_content
from reducer.formats import decode
from reducer.rules import Ruleset, compile_rules
from reducer.values import MOST_CHARS

ALL = {
    "version": 1,
    "tool": "t",
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


def rules(data: dict[str, Any]) -> Ruleset:
    ruleset, problems = compile_rules([("r.yaml", json.dumps(data))])
    assert ruleset is not None, problems
    return ruleset


def nested(levels: int, value: Any = 1) -> Any:
    for number in range(levels):
        value = [value] if number % 2 else {"items": value}
    return value


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
        "",
        [],
        {},
        '{"a": 1, "a": ' + '"x"' * 1 + "}",
    ],
    ids=lambda content: type(content).__name__,
)
def test_what_is_not_for_rules_comes_back_as_it_is(content: Any) -> None:
    assert reduce_content(rules(ALL), "t", content) is content


def test_deep_contents_are_left_alone() -> None:
    deep = nested(100_000)
    assert reduce_content(rules(ALL), "t", deep) is deep
    assert attempt(rules(ALL), "t", deep).fault == "deeper than 128 levels"
    text = "[" * 100_000 + "]" * 100_000
    assert reduce_content(rules({"version": 1, "tool": "t", "steps": [{"path": "a", "limit": 1}]}), "t", text) is text
    while deep:  # taken apart by hand: freeing it at once would recurse
        deep = deep["items"] if isinstance(deep, dict) else deep[0] if isinstance(deep, list) else None


def test_the_depth_that_is_looked_at_does_not_hang_on_the_stack() -> None:
    content = {"items": [{"n": n, "text": "word " * 50} for n in range(9)], "deep": nested(100)}
    expected = reduce_content(rules(ALL), "t", content)
    assert expected is not content

    def lower(levels: int) -> Any:
        return lower(levels - 1) if levels else reduce_content(rules(ALL), "t", content)

    assert lower(150) == expected


def test_a_content_that_holds_itself_is_left_alone() -> None:
    content: dict[str, Any] = {"items": [1, 2, 3]}
    content["items"].append(content)
    assert reduce_content(rules(ALL), "t", content) is content


def test_an_object_whose_dump_raises_is_left_alone() -> None:
    class Rude:
        @property
        def kind(self) -> str:
            return "x"

    content = {"items": [Rude(), Rude(), Rude()], "text": "a " * 400}
    assert reduce_content(rules(ALL), "t", content) is content
    assert "no JSON form" in attempt(rules(ALL), "t", content).fault


def test_huge_numbers_keep_their_value() -> None:
    big = 10**300 + 7
    text = json.dumps({"items": [{"n": big}, {"n": 1}, {"n": 2}], "total": 1e300})
    result = json.loads(
        reduce_content(
            rules({"version": 1, "tool": "t", "steps": [{"path": "items", "limit": 1, "sort_by": "n"}]}), "t", text
        )
    )
    assert result == {"items": [{"n": big}], "total": 1e300}


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"a":NaN}',
        '{"a":Infinity}',
        '{"a":1e999}',
        '{"a":1} and more',
        "[" + "9" * 5000 + "]",
        '"text"',
        "12",
    ],
)
def test_text_that_cannot_be_written_back_as_json_is_plain_text(text: str) -> None:
    assert decode(text) is text


@pytest.mark.parametrize("text", ['{"a":1}', " [1, 2]\n", "[]", '{"a":"\\ud800"}'])
def test_json_text_is_read(text: str) -> None:
    assert decode(text) == json.loads(text)


def test_json_text_is_written_back_compactly_and_safely() -> None:
    ruleset = rules({"version": 1, "tool": "t", "steps": [{"path": "items", "limit": 1}]})
    text = json.dumps({"items": ["é\ud800", 2], "n": 1.5}, indent=2)
    result = reduce_content(ruleset, "t", text)
    assert result == '{"items":["é\\ud800"],"n":1.5}'
    result.encode()
    untouched = json.dumps({"items": [1], "n": 1.50}, indent=2)
    assert reduce_content(ruleset, "t", untouched) is untouched


def test_compact_writes_json_text_without_blanks() -> None:
    ruleset = rules({"version": 1, "tool": "t", "steps": [{"compact": True}]})
    assert reduce_content(ruleset, "t", '{ "a": [1, 2],  "b": "x" }') == '{"a":[1,2],"b":"x"}'
    assert reduce_content(ruleset, "t", '{"a":[1,2],"b":"x"}') == '{"a":[1,2],"b":"x"}'


def test_a_rule_that_would_go_on_is_not_applied_and_blamed() -> None:
    ruleset = rules(
        {"version": 1, "tool": "t", "steps": [{"path": "items", "dedupe": "text"}, {"path": "@", "truncate": 20}]}
    )
    content = {"items": [{"text": "the same beginning of " + letter * 60} for letter in "abc"], "keep": "b" * 9}
    outcome = attempt(ruleset, "t", content)
    assert outcome.content is content
    assert outcome.fault == "a second pass would change the result: `dedupe items` is to blame"


def test_gates_are_judged_on_the_return_as_it_arrived() -> None:
    gated = {"version": 1, "tool": "t", "when": {"min_chars": 200}, "steps": [{"path": "items", "limit": 1}]}
    small, large = {"items": [1, 2, 3]}, {"items": [1, 2, 3], "text": "a" * 300}
    assert reduce_content(rules(gated), "t", small) is small
    assert reduce_content(rules(gated), "t", large)["items"] == [1]
    step = {"version": 1, "tool": "t", "steps": [{"path": "items", "limit": 1, "when": {"where": "kind == 'long'"}}]}
    assert reduce_content(rules(step), "t", {"kind": "long", "items": [1, 2]})["items"] == [1]
    assert attempt(rules(step), "t", {"kind": "short", "items": [1, 2]}).steps[0].ran is False


def test_max_chars_is_reached_by_the_ladder_and_says_what_went() -> None:
    ruleset = rules({"version": 1, "tool": "t", "max_chars": 3000})
    content = {"articles": ["word " * 1000] * 40, "rows": [{"n": n} for n in range(500)], "short": "stays"}
    result = reduce_content(ruleset, "t", content)
    assert len(json.dumps(result)) < 3300
    assert result["short"] == "stays"
    assert result["articles"][-1].startswith("…[")
    assert reduce_content(ruleset, "t", result) is result
    fitting = {"articles": ["word"], "rows": [{"n": 1}]}
    assert reduce_content(ruleset, "t", fitting) is fitting


def test_preserve_wins_over_max_chars() -> None:
    ruleset = rules({"version": 1, "tool": "t", "max_chars": 100, "preserve": ["ipv4"]})
    content = [f"seen at 192.0.2.{n} by the sensor in the hall near the door" for n in range(50)]
    result = json.dumps(reduce_content(ruleset, "t", content))
    assert len(result) > 100
    assert all(f"192.0.2.{n}" in result for n in range(50))


def test_a_step_may_preserve_less_than_its_rule() -> None:
    data = {
        "version": 1,
        "tool": "t",
        "preserve": ["cve"],
        "steps": [{"path": "a", "limit": 1}, {"path": "b", "limit": 1, "preserve": []}],
    }
    content = {
        "a": [{"id": 1}, {"id": 2, "cve": "CVE-2024-3400"}],
        "b": [{"id": 1}, {"id": 2, "cve": "CVE-2021-44228"}],
    }
    assert reduce_content(rules(data), "t", content) == {"a": [{"id": 1}, {"cve": "CVE-2024-3400"}], "b": [{"id": 1}]}


def test_what_still_stands_elsewhere_is_not_put_back() -> None:
    data = {"version": 1, "tool": "t", "preserve": ["cve"], "steps": [{"path": "a", "limit": 1}]}
    content = {"a": [{"id": 1}, {"cve": "CVE-2024-3400"}], "summary": "exploits CVE-2024-3400"}
    assert reduce_content(rules(data), "t", content) == {"a": [{"id": 1}], "summary": "exploits CVE-2024-3400"}


def test_what_a_named_step_takes_is_not_put_back_for_an_earlier_cut() -> None:
    data = {"version": 1, "tool": "t", "steps": [{"path": "a[*].text", "truncate": 10}, {"path": "a", "limit": 1}]}
    content = {"a": [{"text": "nothing to see in here"}, {"text": "word " * 30 + "192.0.2.1"}]}
    assert "192.0.2.1" not in json.dumps(reduce_content(rules(data), "t", content))


LISTED = {"ips": [f"192.0.2.{n}" for n in range(50)], "note": "word " * 40}


def test_a_list_of_indicators_is_kept_whole_by_preserve_and_by_a_bound_in_part() -> None:
    step = {"path": "ips", "limit": 5}
    whole = attempt(rules({"version": 1, "tool": "t", "preserve": ["ioc"], "steps": [step]}), "t", LISTED)
    assert (whole.content, whole.restored.lost) == (LISTED, ())
    bounded = attempt(rules({"version": 1, "tool": "t", "preserve": {"ioc": 10}, "steps": [step]}), "t", LISTED)
    kept = [value for value in LISTED["ips"] if value in json.dumps(bounded.content)]
    assert kept == LISTED["ips"][:15]
    assert bounded.restored.lost == tuple(LISTED["ips"][15:])
    ways_out = rules({"version": 1, "tool": "t", "preserve": ["ioc"], "steps": [{**step, "preserve": []}]})
    assert reduce_content(ways_out, "t", LISTED)["ips"] == LISTED["ips"][:5]


def test_a_bound_is_a_fixed_point_and_counts_each_type() -> None:
    ruleset = rules(
        {
            "version": 1,
            "tool": "t",
            "preserve": {"ipv4": 2, "cve": 1},
            "steps": [{"path": "rows", "limit": 1}, {"path": "note", "truncate": 20}],
        }
    )
    rows = [{"n": n, "ip": f"192.0.2.{n}", "cve": f"CVE-2024-{1000 + n}"} for n in range(6)]
    content = {"rows": rows, "note": "cut here and there, " * 9 + "198.51.100.7"}
    outcome = attempt(ruleset, "t", content)
    text = json.dumps(outcome.content)
    assert sum(f"192.0.2.{n}" in text for n in range(1, 6)) == 2
    assert "198.51.100.7" not in text
    assert sum(f"CVE-2024-{1000 + n}" in text for n in range(1, 6)) == 1
    assert outcome.fault == ""
    assert reduce_content(ruleset, "t", outcome.content) is outcome.content


def test_what_is_put_back_and_what_marks_mention_is_counted_once() -> None:
    data = {
        "version": 1,
        "tool": "t",
        "preserve": ["cve", "ipv4"],
        "steps": [{"path": "a", "limit": 1}, {"path": "text", "truncate": 10}],
    }
    content = {
        "a": [{"id": 1}, {"cve": "CVE-2024-3400"}, {"id": 3}],
        "text": "word " * 60 + "192.0.2.1 and CVE-2024-3400",
    }
    assert attempt(rules(data), "t", content).restored.preserved == 2
    assert attempt(rules({**data, "preserve": [], "steps": data["steps"][:1]}), "t", content).restored.preserved == 0
    assert attempt(rules(data), "other", content) == Outcome(None, content)


def test_a_text_too_long_to_read_is_left_as_it_is() -> None:
    ruleset = rules({"version": 1, "tool": "t", "steps": [{"truncate": 40}]})
    for content in ("x" * (MOST_CHARS + 1), {"a": "x" * (MOST_CHARS + 1)}):
        outcome = attempt(ruleset, "t", content)
        assert outcome.content is content
        assert outcome.fault == "a text of more than 67,108,864 characters"


def test_a_text_that_is_cut_and_then_extracted_counts_all_that_went() -> None:
    text = "Traffic to 192.0.2.7 went up last night. " * 12
    ruleset = rules({"version": 1, "tool": "t", "steps": [{"truncate": 243}, {"extract": ["ip"]}]})
    assert reduce_content(ruleset, "t", text) == f"…[{len(text)} more characters; mentions 192.0.2.7]"
