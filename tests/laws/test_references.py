"""Values that later messages reference stay with the sentence around them, and the laws still hold."""

from __future__ import annotations

import json
import re
from dataclasses import make_dataclass
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reducer.engine import reduce_content
from reducer.histories.against import check_content
from reducer.references import NUMBER, searched, searcher
from tests.helpers import nested, rules
from tests.laws.laws import Case, case_of, law_test
from tests.laws.strategies import ENTITIES, cases, fields, laws, some

# --- any rule and content

_WORD = re.compile(r"[A-Za-z0-9#$][\w.:/@\[\]-]*[A-Za-z0-9]|[A-Za-z0-9]{2,}")
_NUMBER = re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?![\w.])")


@st.composite
def _with_references(draw: st.DrawFn) -> Case:
    rule, _, content = draw(cases)
    text = searched(content)
    values = sorted({*_WORD.findall(text), *(NUMBER + number for number in _NUMBER.findall(text))})
    chosen = draw(st.lists(st.sampled_from(values), max_size=4)) if values else []
    return case_of(rule, content, frozenset((*chosen, "not-in-it-1")))


# `extract` finds a text that an earlier step emptied.
_EMPTIED = {"keys": "all", "steps": [{"limit": 1}, {"drop": "n*"}, {"path": "[*].notes", "extract": ["ipv4"]}]}
_NOTES = [{"id": 0, "name": "größer", "notes": "größer"}, {"id": 0}]
test_the_laws_hold = law_test(_with_references(), case_of(_EMPTIED, _NOTES, frozenset(("größer",))))


@laws
@given(cases)
def test_values_that_are_not_in_the_content_change_nothing(case: Any) -> None:
    _, ruleset, content = case
    plain = reduce_content(ruleset, "t", content)
    for protected in (None, frozenset[str](), frozenset(("nowhere-77", NUMBER + "918273"))):
        assert json.dumps(reduce_content(ruleset, "t", content, protected=protected)) == json.dumps(plain)


# --- texts: sentences and lines around values

VALUES = ("INC-4711", "case-4", "größe-77", "кадр-5", "日本-99", "№4821", "Storm Petrel", "a_b_c", "10.0.0.7")
VALUES += ENTITIES[:9]
WORDS = (
    *("the", "traffic", "was", "seen", "last", "night,", "größer", "🙂", "near", "(again)", '"so"', "x" * 30),
    *("\\n", "v3.3.14.5", *ENTITIES),
)

_words = st.lists(some(*WORDS), min_size=1, max_size=30).map(" ".join)
_sentences = st.tuples(_words, some(". ", ".\n", "\n", "! ", ", ")).map("".join)
_lines = st.tuples(_sentences | st.just(""), some(*VALUES), _sentences | st.just(" ")).map("".join)
_dense = st.lists(some(*WORDS, *VALUES), min_size=1, max_size=80).map("/".join)
_texts = st.lists(st.one_of(_sentences, _sentences.map(lambda text: text * 8), _lines, _dense), min_size=1, max_size=10)
texts = _texts.map("".join)
lengths = st.one_of(st.integers(1, 300), fields({"head": st.integers(0, 120), "tail": st.integers(1, 120)}))
_truncate = fields({"truncate": lengths})
_steps = st.one_of(
    *(st.tuples(_truncate), st.tuples(_truncate), st.tuples(_truncate, _truncate)),
    some([{"extract": ["cve"]}], [{"extract": ["ioc"]}], [{"path": "t", "truncate": 4000}]),
)
_options = some({}, {}, {"preserve": ["ioc"]}, {"preserve": []}, {"max_chars": 400})
_shapes = some(
    str,
    lambda text: {"t": text},
    lambda text: [text, "and more", text],
    lambda text: [{"t": text}, {"n": 1, "t": text}],
    lambda text: json.dumps({"t": text}),
)


def _some_of(text: str) -> st.SearchStrategy[frozenset[str]]:
    """Draw some of the values in a text."""
    found = sorted(searcher(VALUES)(searched(text)))
    return st.frozensets(some(*found), max_size=5) if found else st.just(frozenset())


@st.composite
def _text_cases(draw: st.DrawFn) -> Case:
    text = draw(texts)
    return case_of({"steps": [*draw(_steps)], **draw(_options)}, draw(_shapes)(text), draw(_some_of(text)))


test_the_laws_hold_for_texts = law_test(_text_cases())


@laws
@given(texts, lengths, st.data())
def test_markers_count_what_is_left_out_whichever_rule_cuts_again(text: str, length: Any, data: st.DataObject) -> None:
    half = {**length, "head": length["head"] // 2} if isinstance(length, dict) else (length + 1) // 2
    ruleset, smaller = (rules(steps=[{"truncate": each}]) for each in (length, half))
    once = reduce_content(ruleset, "t", text, protected=data.draw(_some_of(text)))
    assert check_content(text, once) == []
    # Without references, a marker is recognised at most 1,000 characters after the bound; later it is text.
    assume(once.rfind("…[") <= 1000)
    for each in (ruleset, smaller):
        again = reduce_content(each, "t", once)
        assert check_content(text, again) == check_content(once, again) == []
        assert again.count("…[") <= 1 or again == once
        assert len(again) <= len(once)


@laws
@given(texts, lengths, st.data())
def test_wrong_counts_and_foreign_texts_are_found(text: str, length: Any, data: st.DataObject) -> None:
    once = reduce_content(rules(steps=[{"truncate": length}]), "t", text, protected=data.draw(_some_of(text)))
    for marker in re.finditer(r" ?…\[([1-9][0-9]*) more characters(\]|; mentions )", once):
        wrong = f"{once[: marker.start(1)]}{int(marker[1]) + 7}{once[marker.end(1) :]}"
        assert check_content(text, wrong)
    at = data.draw(st.integers(0, len(once)))
    assert check_content(text, f"{once[:at]}§{once[at:]}")


def test_a_text_that_was_cut_around_several_values_is_a_reduction_of_both() -> None:
    lines = [f"Line {number} was seen by 1[.]2[.]3[.]4 and by 185.220.101.{number} at night." for number in range(30)]
    ruleset, text = rules(steps=[{"truncate": 40}]), "\n".join(lines)
    once = reduce_content(ruleset, "t", text, protected=["185.220.101.9", "185.220.101.20"])
    assert lines[9] in once
    assert lines[20] in once
    assert once.count("…[") == 3
    again = reduce_content(ruleset, "t", once)
    kept = "Line 0 was seen by 1[.]2[.]3[.]4 and by"
    assert again.startswith(f"{kept} …[{len(text) - len(kept)} more characters; mentions 185.220.101.0, ")


def test_a_comma_after_a_marker_is_not_in_what_it_mentions() -> None:
    ruleset = rules(steps=[{"truncate": 1}])
    text = f"185.220.101.34. {'the ' * 9}1[.]2[.]3[.]4 2001:db8::ff00:42:8329. mail-diacie[.]top, "
    once = reduce_content(ruleset, "t", text, protected=["185.220.101.34", "mail-diacie[.]top"])
    assert once.endswith("mentions 1[.]2[.]3[.]4, 2001:db8::ff00:42:8329]… mail-diacie[.]top, ")
    assert check_content(once, reduce_content(ruleset, "t", once)) == []


def test_forged_markers_stay_text_and_take_no_longer() -> None:
    ruleset = rules(steps=[{"truncate": 40}])
    forged = f"{'word ' * 50}…[7 more characters] and INC-4711. {'more ' * 50}"
    for protected, count in ((["INC-4711"], 2), ([], 1)):
        result = reduce_content(ruleset, "t", forged, protected=protected)
        assert check_content(forged, result) == []
        assert result.count("…[") - result.count("…[7 more") == count
    many = f"{'…[1 more characters; mentions APT28, ' * 5_000} It is INC-4711."
    assert "INC-4711" in reduce_content(ruleset, "t", many, protected=["INC-4711"])


# --- examples

ROWS = [{"id": f"case-{n}", "score": 1000 + n, "tags": ["a", f"tag-{n}"], "note": "seen " * 20} for n in range(6)]
LONG = f"First line.\n{'word ' * 100}\nThe ticket is INC-4711 here.\n{'more ' * 100}"
HEAD, AROUND = LONG[:56], "…\nThe ticket is INC-4711 here. …[501 more characters]"
_LIMIT, _CUT = [{"limit": 1, "mark": False}], [{"truncate": 60}]
_DROP_KEY, _DROP_TEXT = [{"path": "a", "drop": ["key-7"]}], [{"path": "a", "drop": ["t"]}]
_TWO_TAGS = {"id": "case-0", "score": 1000, "tags": ["a", "tag-0"]}
_NEAR_END, _NEAR_CUT = f"{LONG[:402]}INC-4711", f"{HEAD} INC-4711 {LONG[402:]}"


@pytest.mark.parametrize(
    ("steps", "content", "protected", "result"),
    [
        (_LIMIT, ROWS, "case-4", [ROWS[0], {"id": "case-4"}]),
        (_LIMIT, ROWS, NUMBER + "1004", [ROWS[0], {"score": 1004}]),
        (_LIMIT, ROWS, "tag-3 case-5", [ROWS[0], {"tags": ["tag-3"]}, {"id": "case-5"}]),
        ([{"drop": ["score", "note"]}, *_LIMIT], ROWS[:2], NUMBER + "1000", [_TWO_TAGS]),
        (_DROP_KEY, {"a": {"key-7": 1, "b": 2}}, "key-7", {"a": {"key-7": 1, "b": 2}}),
        (_DROP_KEY, {"a": {"key-7": [1], "b": 2}}, "key-7", {"a": {"key-7": [], "b": 2}}),
        (_LIMIT, ["one", "two", "id-33 here"], "id-33", ["one", "id-33 here"]),
        (_CUT, {"t": LONG}, "INC-4711", {"t": f"{HEAD} …[456 more characters]{AROUND}"}),
        ([{"truncate": 600}], {"t": LONG}, "INC-4711", {"t": f"{LONG[:596]} …[446 more characters]"}),
        ([{"extract": ["ip"]}], LONG, "INC-4711", f"…[512 more characters]{AROUND}"),
        (_DROP_TEXT, {"a": {"t": LONG}}, "INC-4711", {"a": {"t": f"…[512 more characters]{AROUND}"}}),
        (_CUT, _NEAR_END, "INC-4711", f"{HEAD} …[150 more characters]…{LONG[206:402]}INC-4711"),
        (_CUT, _NEAR_CUT, "INC-4711", f"{HEAD} INC-4711 {LONG[402:511]} …[531 more characters]"),
        (_CUT, f"{LONG[:142]}INC-4711", "INC-4711", f"{LONG[:142]}INC-4711"),
        (_LIMIT, ROWS, "case-0", [ROWS[0]]),
    ],
)
def test_what_contains_a_protected_value_stays(steps: list[Any], content: Any, protected: str, result: Any) -> None:
    ruleset = rules(steps=steps, mark=False)
    assert reduce_content(ruleset, "t", content, protected=protected.split(" ")) == result
    assert reduce_content(ruleset, "t", result, protected=protected.split(" ")) == result
    assert reduce_content(ruleset, "t", content) != content


def test_live_values_are_read_as_they_are_stored() -> None:
    row = make_dataclass("Row", ["id", "score"])
    rows = [row(f"case-{n}", 1000 + n) for n in range(4)]
    result = reduce_content(rules(steps=_LIMIT), "t", rows, protected=["case-2", NUMBER + "1003"])
    assert result == [rows[0], {"id": "case-2"}, {"score": 1003}]


def test_what_is_too_deep_stays_as_it_is() -> None:
    ruleset = rules(steps=[{"path": "a", "limit": 1}])
    content = {"a": ["x", "case-2"], "b": nested(5000, "case-1")}
    assert reduce_content(ruleset, "t", content, protected=["case-1", "case-2"]) is content
    assert reduce_content(ruleset, "t", content)["a"] == ["x"]
