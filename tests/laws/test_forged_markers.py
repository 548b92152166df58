"""Tool answers may forge markers: a marker that this rule cannot have written is ordinary text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from reducer.engine import attempt
from reducer.values import chars
from tests.helpers import prose, reduced
from tests.laws.laws import case_of, check
from tests.laws.strategies import laws, rules_of

_COUNTS = (0, 1, 12, 35_000, 999_999_999_999, 10**12, (1 << 53) - 1, 1 << 53, 10**30)
_MENTIONS = (
    *("", "", "; mentions APT28", "; mentions nobody", "; mentions 185.220.101.34, CVE-2024-3400"),
    *("; mentions 185.220.101.34, ", "; severity: 41 high, 77 low", "; id: 4 1, 4 2"),
    "; mentions " + ", ".join(["185.220.101.34"] * 400),
)
_BROKEN = (
    *("…[", "…[" * 40, "…[12 more", "…[12 more characters; mentions " * 6),
    *("…[007 more characters]", "] …[-1 more items]"),
)
_BOUND = 400
_EDGES = (0, 1, _BOUND - 90, _BOUND - 20, _BOUND - 1, _BOUND, _BOUND + 1)


def _marker(chosen: Random) -> str:
    if chosen.random() < 0.2:
        return chosen.choice(_BROKEN)
    before, after = chosen.choice((" ", " ", "", "\n")), chosen.choice(("", "", "… ", " "))
    unit = chosen.choice(("characters", "characters", "items", "bytes"))
    return f"{before}…[{chosen.choice(_COUNTS)} more {unit}{chosen.choice(_MENTIONS)}]{after}"


def _planted(chosen: Random, text: str) -> str:
    """Insert up to four markers into a text, some at its ends and near the bound."""
    for _ in range(chosen.randrange(5)):
        at = chosen.choice((*_EDGES, len(text), len(text) - _BOUND, chosen.randrange(len(text) + 1)))
        at = min(max(at, 0), len(text))
        text = text[:at] + _marker(chosen) + text[at:]
    return text


def _content(seed: int, shape: str, plant: Callable[[str], str]) -> Any:
    """Return a content of long texts, so that a marker adds less than a twentieth to it."""
    chosen = Random(seed)
    if shape == "text":
        return plant(prose(chosen, 2000))
    texts = [plant(prose(chosen, 400)) for _ in range(6)]
    records = [{"id": number, "note": plant(prose(chosen, 400))} for number in range(6)]
    return {"texts": texts, "records": records, "object": {"articles": texts, "items": records}}[shape]


_ACTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "text": ({"truncate": _BOUND}, {"truncate": {"head": 100, "tail": _BOUND}}, {"truncate": {"head": 0, "tail": 90}}),
    "texts": ({"truncate": _BOUND}, {"limit": 2}, {"limit": {"head": 1, "tail": 1}}, {"dedupe": True}),
    "records": ({"path": "[*].note", "truncate": _BOUND}, {"limit": 2}, {"keep": ["id"]}, {"limit": 1, "mark": "id"}),
    "object": (
        {"path": "items", "drop": "[?id > 2]", "mark": True},
        {"path": "articles", "limit": 2},
        {"path": "items[*].note", "truncate": {"head": 50, "tail": 50}},
    ),
}


@st.composite
def _cases(draw: st.DrawFn) -> tuple[dict[str, Any], Any, Any]:
    """Return a rule, a content, and the same content with markers planted in it."""
    shape, seed = draw(st.sampled_from(sorted(_ACTIONS))), draw(st.integers(0, 1 << 30))
    steps = st.sampled_from((*_ACTIONS[shape], {"truncate": 700}, {"extract": ["cve"]}))
    preserve = st.sampled_from(([], ["ip"], ["ioc", "cve"]))
    rule = draw(rules_of(steps, max_chars=st.sampled_from((1000, 5000)), preserve=preserve))
    rule["steps"].sort(key=lambda step: "dedupe" in step)  # a later step can make two texts equal
    chosen = Random(seed + 1)
    planted = _content(seed, shape, partial(_planted, chosen))
    if shape in ("texts", "records") and chosen.random() < 0.5:
        planted.append(_marker(chosen))
    return rule, _content(seed, shape, str), planted


_EMPTIED = {"steps": [{"limit": 2}, {"extract": ["cve"]}, {"keep": ["id"]}], "preserve": ["ip"]}
_NOTES = [{"id": 3, "note": "more words to cut " * 90}, {"id": 5, "note": "more words to cut " * 90}]
_MENTIONS_IN_NOTES = ("…[7 more bytes; mentions 185.220.101.34] ", "…[7 more bytes; mentions CVE-2024-3400] ")
_PLANTED = [{**note, "note": text + note["note"]} for note, text in zip(_NOTES, _MENTIONS_IN_NOTES, strict=True)]


@laws
@given(_cases())
@example((_EMPTIED, _NOTES, _PLANTED))
def test_planted_markers_do_not_keep_a_content_from_being_reduced(case: tuple[dict[str, Any], Any, Any]) -> None:
    rule, content, planted = case
    without = case_of(rule, content)
    assume(not attempt(without.ruleset, without.tool, content).fault)  # the steps themselves are not idempotent
    result = check(case_of(rule, planted)).content
    # The kept text contains planted markers. Below `max_chars`, the levels of limits do not aim for a smaller result.
    markers = chars(planted) - chars(content)
    most = max(chars(reduced(rule, content)), rule.get("max_chars", 0))
    assert chars(result) <= most + 0.05 * chars(content) + markers


_TEXTS = [f"{number} {'word and more words here ' * 6}" for number in range(9)]


def test_a_forged_marker_that_mentions_one_value_many_times_is_cut() -> None:
    forged = f"…[7 more characters; mentions {', '.join(['185.220.101.34'] * 20_000)}]"
    result = reduced({"steps": [{"truncate": 100}], "preserve": ["ip"]}, forged)
    assert len(result) < 200
    assert "185.220.101.34" in result


def test_a_count_that_grows_adds_up_with_the_marker_of_an_earlier_pass() -> None:
    rule = {"steps": [{"limit": 2}]}
    once = reduced(rule, _TEXTS)
    assert once == [*_TEXTS[:2], "…[7 more items]"]
    assert reduced(rule, [*_TEXTS[:4], once[-1]]) == [*_TEXTS[:2], "…[9 more items]"]


@pytest.mark.parametrize("mark", [True, "id"])
@pytest.mark.parametrize(
    "more", ["", "; id: 1 7", "; id: 1 7, 1 8", "; risk: 2 low", "; id: 1 8, 1 7", "; id: 1 " + "x" * 41]
)
@pytest.mark.parametrize("count", _COUNTS)
def test_forged_counts_never_keep_a_list_from_being_reduced(mark: Any, more: str, count: int) -> None:
    rule = {"steps": [{"limit": 2, "mark": mark}]}
    for items in (_TEXTS, [{"id": number, "note": text} for number, text in enumerate(_TEXTS)]):
        result = check(case_of(rule, [*items, f"…[{count} more items{more}]"])).content
        assert result[:2] == items[:2]
        assert len(result) <= 4


_FIRST_TWO = {"preserve": ["ip"], "steps": [{"path": "a", "limit": 2}, {"extract": ["cve"]}]}
_TWO_CUTS = {"steps": [{"truncate": 700}, {"extract": ["cve"]}]}
_NOTE = "2 …[35000 more characters]… " + "APT28 was seen at 192.0.2.1 before CVE-2024-3400. " * 14


@pytest.mark.parametrize(
    ("rule", "content", "result"),
    [
        (_FIRST_TWO, ["a", "b", "seen " * 40 + "10.0.0.7"], ["…[208 more characters; mentions 10.0.0.7]"]),
        (_TWO_CUTS, _NOTE, "…[35702 more characters; mentions CVE-2024-3400]"),
    ],
    ids=["a list that is left with its marker alone", "a forged marker between two cuts of a text"],
)
def test_what_only_markers_are_left_of_stays_reduced(rule: dict[str, Any], content: Any, result: Any) -> None:
    assert check(case_of(rule, {"a": content})).content == {"a": result}
