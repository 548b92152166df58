"""What stays of texts around values that later messages refer to: sentences and lines, with marks between that count
what went.
"""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from reducer.engine import attempt, reduce_content
from reducer.histories.against import check_content
from reducer.references import searched, searcher
from reducer.rules import Ruleset
from tests.helpers import compiled
from tests.laws import checks
from tests.laws.strategies import ENTITIES, laws

VALUES = (
    "INC-4711",
    "case-4",
    "größe-77",
    "кадр-5",
    "日本-99",
    "№4821",
    "Storm Petrel",
    "a_b_c",
    "10.0.0.7",
    *ENTITIES[:9],
)
WORDS = (
    "the",
    "traffic",
    "was",
    "seen",
    "last",
    "night,",
    "größer",
    "🙂",
    "near",
    "(again)",
    '"so"',
    "x" * 30,
    "\\n",
    "v3.3.14.5",
    *ENTITIES,
)
_MARK = re.compile(r" ?…\[([1-9][0-9]*) more characters(\]|; mentions )")

sentences = st.builds(
    lambda words, end: " ".join(words) + end,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=30),
    st.sampled_from((". ", ".\n", "\n", "! ", ", ")),
)
lines = st.builds(
    lambda value, before, after: f"{before}{value}{after}",
    st.sampled_from(VALUES),
    sentences | st.just(""),
    sentences | st.just(" "),
)
dense = st.lists(st.sampled_from((*WORDS, *VALUES)), min_size=1, max_size=80).map("/".join)
texts = st.lists(st.one_of(sentences, sentences.map(lambda text: text * 8), lines, dense), min_size=1, max_size=10).map(
    "".join
)
lengths = st.one_of(
    st.integers(1, 300), st.fixed_dictionaries({"head": st.integers(0, 120), "tail": st.integers(1, 120)})
)
steps = st.one_of(
    lengths.map(lambda length: [{"truncate": length}]),
    lengths.map(lambda length: [{"truncate": length}]),
    st.tuples(lengths, lengths).map(lambda both: [{"truncate": both[0]}, {"truncate": both[1]}]),
    st.sampled_from((["cve"], ["ioc"])).map(lambda types: [{"extract": types}]),
    st.just([{"path": "t", "truncate": 4000}]),
)
SHAPES = {
    "text": lambda text: text,
    "object": lambda text: {"t": text},
    "texts": lambda text: [text, "and more", text],
    "rows": lambda text: [{"t": text}, {"n": 1, "t": text}],
    "json": lambda text: json.dumps({"t": text}),
}


@st.composite
def _cases(draw: st.DrawFn) -> tuple[Ruleset, Any, frozenset[str]]:
    text = draw(texts)
    rule = {
        "version": 1,
        "tool": "t",
        "steps": draw(steps),
        **draw(st.sampled_from(({}, {}, {"preserve": ["ioc"]}, {"preserve": []}, {"max_chars": 400}))),
    }
    ruleset = compiled(rule)
    assert ruleset is not None
    standing = sorted(searcher(VALUES)(searched(text)))
    chosen = draw(st.lists(st.sampled_from(standing), max_size=5)) if standing else []
    return ruleset, SHAPES[draw(st.sampled_from(sorted(SHAPES)))](text), frozenset(chosen)


cases = _cases()


@laws
@given(cases)
def test_a_value_that_is_referred_to_stays_and_so_do_the_laws(case: tuple[Ruleset, Any, frozenset[str]]) -> None:
    ruleset, content, values = case
    result = reduce_content(ruleset, "t", content, protected=values)
    search = searcher(values)
    assert search(searched(result)) >= search(searched(content))
    checks.same_type(content, result)
    checks.root_keys(content, result)
    checks.within(content, result)
    checks.never_larger(content, result)
    checks.no_halves(content, result)
    again = reduce_content(ruleset, "t", checks.round_tripped(result), protected=values)
    assert checks.as_bytes(again) == checks.as_bytes(result)


def pieces(old: str, new: str) -> list[tuple[int, int]] | None:
    """Give where the pieces of `new` between its marks stand in `old`, if every mark counts what lies between them;
    None if one does not.
    """

    def placed(at: int, start: int) -> list[tuple[int, int]] | None:
        if start <= len(old) and old[start:] == new[at:]:
            return [(start, len(old))]
        for match in _MARK.finditer(new, at):
            kept = new[at : match.start()]
            if not old.startswith(kept, start):
                continue
            # What is mentioned may have brackets in it.
            for bracket in re.finditer(r"\]", new[match.end() - 1 :] if match[2] == "]" else new[match.end() :]):
                end = bracket.end() + match.end() - (match[2] == "]")
                for rest in (end, end + 1) if new.startswith("…", end) else (end,):
                    found = placed(rest, start + len(kept) + int(match[1]))
                    if found is not None:
                        return [(start, start + len(kept)), *found]
                if match[2] == "]":
                    break
        return None

    return placed(0, 0)


@laws
@given(texts, lengths, st.data())
def test_marks_count_what_went_whoever_cuts_again(text: str, length: Any, data: st.DataObject) -> None:
    standing = sorted(searcher(VALUES)(searched(text)))
    values = frozenset(data.draw(st.lists(st.sampled_from(standing), max_size=5))) if standing else frozenset[str]()
    ruleset = compiled({"version": 1, "tool": "t", "steps": [{"truncate": length}]})
    smaller = compiled(
        {
            "version": 1,
            "tool": "t",
            "steps": [
                {"truncate": {**length, "head": length["head"] // 2} if type(length) is dict else (length + 1) // 2}
            ],
        }
    )
    assert ruleset is not None
    assert smaller is not None
    once = reduce_content(ruleset, "t", text, protected=values)
    found = pieces(text, once)
    assert found is not None, once
    assert check_content(text, once) == []
    event(f"{min(len(found), 4)} pieces")
    for rules in (ruleset, smaller):
        again = reduce_content(rules, "t", once)
        found = pieces(text, again)
        assert found is not None, again
        assert check_content(text, again) == check_content(once, again) == []
        assert len(found) <= 2 or again == once
        assert len(again) <= len(once)


@laws
@given(texts, lengths, st.data())
def test_other_counts_and_other_texts_are_found_out(text: str, length: Any, data: st.DataObject) -> None:
    standing = sorted(searcher(VALUES)(searched(text)))
    values = (
        frozenset(data.draw(st.lists(st.sampled_from(standing), min_size=1, max_size=3)))
        if standing
        else frozenset[str]()
    )
    ruleset = compiled({"version": 1, "tool": "t", "steps": [{"truncate": length}]})
    assert ruleset is not None
    once = reduce_content(ruleset, "t", text, protected=values)
    for mark in _MARK.finditer(once):
        wrong = f"{once[: mark.start(1)]}{int(mark[1]) + 7}{once[mark.end(1) :]}"
        assert check_content(text, wrong)
    at = data.draw(st.integers(0, len(once)))
    assert check_content(text, f"{once[:at]}§{once[at:]}")


def test_the_generated_texts_are_cut_around_values() -> None:
    counts = {"all": 0, "changed": 0, "around": 0, "faults": 0}

    @settings(laws, max_examples=200, database=None, derandomize=True)
    @given(cases)
    def run(case: tuple[Ruleset, Any, frozenset[str]]) -> None:
        ruleset, content, values = case
        outcome = attempt(ruleset, "t", content, values)
        counts["all"] += 1
        counts["changed"] += outcome.content is not content
        counts["around"] += "]…" in json.dumps(outcome.content, ensure_ascii=False)
        counts["faults"] += bool(outcome.fault)

    run()
    assert counts["changed"] >= 0.4 * counts["all"], counts
    assert counts["around"] >= 0.1 * counts["all"], counts
    assert counts["faults"] <= 0.05 * counts["all"], counts


def test_a_text_that_was_cut_around_several_values_is_a_reduction_of_both() -> None:
    lines = [
        f"Line {number} was seen by 1[.]2[.]3[.]4 and by 185.220.101.{number} in the night." for number in range(30)
    ]
    ruleset = compiled({"version": 1, "tool": "t", "steps": [{"truncate": 40}]})
    assert ruleset is not None
    text = "\n".join(lines)
    once = reduce_content(ruleset, "t", text, protected=["185.220.101.9", "185.220.101.20"])
    assert lines[9] in once
    assert lines[20] in once
    assert once.count("…[") == 3
    again = reduce_content(ruleset, "t", once)
    assert pieces(text, again) == [(0, len("Line 0 was seen by 1[.]2[.]3[.]4 and by")), (len(text), len(text))]
    assert check_content(text, once) == check_content(text, again) == check_content(once, again) == []


def test_marks_that_are_forged_stay_text_and_take_no_longer() -> None:
    ruleset = compiled({"version": 1, "tool": "t", "steps": [{"truncate": 40}]})
    assert ruleset is not None
    forged = f"{'word ' * 50}…[7 more characters] and INC-4711. {'more ' * 50}"
    for protected, count in ((["INC-4711"], 2), ([], 1)):
        result = reduce_content(ruleset, "t", forged, protected=protected)
        assert pieces(forged, result) is not None
        assert result.count("…[") - result.count("…[7 more") == count
    many = f"{'…[1 more characters; mentions APT28, ' * 5_000} It is INC-4711."
    assert "INC-4711" in reduce_content(ruleset, "t", many, protected=["INC-4711"])
