"""Sums over returns: put together from parts they are the sums of the whole, and they stay small whatever comes."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reducer.analysis.lines import MAX_BAD, add_lines, look_at_lines
from reducer.analysis.report import look, look_briefly
from reducer.analysis.tally import OTHER_TOOLS, LineSum, Tally, tally_of
from reducer.rules import Ruleset, compile_rules
from tests.cli.conftest import history

_TEXTS = (
    "version: 1\ntool: t\nsteps:\n  - path: records\n    limit: 2\n    sort_by: seen\n  - path: recrds\n    keep: [name]\npreserve: [cve]\nmax_chars: 60\n",
    "version: 1\ntool: 'u*'\nsteps:\n  - truncate: 20\npreserve: {cve: 1}\n",
)


def rules() -> Ruleset:
    ruleset, problems = compile_rules((f"r{number}.yaml", text) for number, text in enumerate(_TEXTS))
    assert ruleset is not None, problems
    return ruleset


RULES = rules()
_names = st.sampled_from(["t", "u", "u2", "other"])
_records = st.lists(
    st.fixed_dictionaries(
        {}, optional={"name": st.text(max_size=9), "seen": st.integers(0, 3), "cve": st.just("CVE-2024-12345")}
    ),
    max_size=6,
)
_objects = st.fixed_dictionaries({}, optional={"records": _records, "record": _records})
_contents = _objects | st.text(max_size=60) | st.just("see CVE-2024-1111, CVE-2024-2222 " * 3)
_returns = st.lists(st.tuples(_names, _contents | st.none()), max_size=5)


@given(_returns, _returns)
def test_sums_of_parts_are_the_sums_of_the_whole(first: list[tuple[str, Any]], second: list[tuple[str, Any]]) -> None:
    entries = [look(RULES, "h", history(*part)).returns for part in (first, second)]
    parts = [tally_of(part) for part in entries]
    parts[0].merge(parts[1])
    assert parts[0] == tally_of([*entries[0], *entries[1]])
    empty = Tally()
    empty.merge(parts[0])
    assert empty == parts[0]


@given(_returns)
def test_a_brief_look_sees_the_same(found: list[tuple[str, Any]]) -> None:
    data = history(*found)
    seen = look(RULES, "h", data)
    assert look_briefly(RULES, "h", data) == (tally_of(seen.returns), b"")
    assert look_briefly(RULES, "h", data, write=True) == (tally_of(seen.returns), seen.reduced())


_WRONG = (b"wrong", b"3", b"\xff", b'[{"kind": "request", "parts": [')
_lines = st.lists(_returns | st.sampled_from([b"", b" \t", *_WRONG]))


@given(_lines, st.sampled_from([b"\n", b"\r\n"]))
def test_each_line_is_reduced_as_if_alone(found: list[Any], end: bytes) -> None:
    lines = [line if isinstance(line, bytes) else history(*line) for line in found]
    tally, sums, reduced = look_at_lines(RULES, end.join(lines), write=True)
    expected, each = Tally(), []
    for line, what in zip(lines, found, strict=True):
        seen = look(RULES, "h", line) if isinstance(what, list) else None
        each.append(line if seen is None else seen.reduced())
        expected.merge(tally_of(seen.returns if seen else ()))
    assert reduced == end.join(each)
    assert tally == expected
    wrong = [number for number, line in enumerate(lines, 1) if line in _WRONG]
    assert (sums.bad, [number for number, _ in sums.first_bad]) == (len(wrong), wrong[:MAX_BAD])
    assert look_at_lines(RULES, end.join(lines)) == (tally, sums, b"")


def test_line_numbers_go_on() -> None:
    total = LineSum("x.jsonl")
    for _ in range(4):
        add_lines(total, look_at_lines(RULES, b"[]\n\nwrong\n[]\nwrong\n")[1])
    assert (total.lines, total.blank, total.bad) == (20, 4, 8)
    assert [number for number, _ in total.first_bad] == [3, 5, 8, 10, 13]
    assert total.first_bad[0] == (3, "not JSON: Expecting value at column 1")


def test_sums_stay_small() -> None:
    many = look(RULES, "h", history(*((f"tool {number}" * 500, "x") for number in range(6000)))).returns
    tally = tally_of(many)
    before = deepcopy(tally)
    assert len(tally.tools) == 5001
    assert tally.tools[OTHER_TOOLS].calls == 1000
    assert max(map(len, tally.tools)) <= 1001
    tally.merge(tally_of(look(RULES, "h", history(*((f"more {number}", "x") for number in range(100)))).returns))
    assert len(tally.tools) == 5001
    assert tally.tools[OTHER_TOOLS].calls == 1100
    assert before != tally
    keys = ({"records": [], **{f"{'k' * 400}{number}{key}": 1 for key in range(3)}} for number in range(300))
    (rule,) = tally_of(look(RULES, "h", history(*(("t", {"x": 1, **key}) for key in keys))).returns).rules.values()
    missed = rule.steps[2]
    assert missed.missed == {"place recrds": 300}
    assert 0 < len(missed.reasons) <= 200
    assert all(len(reason.item.help) <= 1001 for reason in missed.reasons.values())
