"""`against`: a reduction has no findings, and each planted change is found at its place."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from reducer import Reducer
from reducer.engine import reduce_content
from reducer.histories.against import check_content, compare
from reducer.histories.stored import reduce_json
from reducer.histories.validate import Finding
from reducer.paths.written import path_text
from reducer.rules import compile_rules
from tests.helpers import RULES
from tests.histories.messages import answer, call, edited, prompt, request, response
from tests.laws.strategies import cases

DATA = Path(__file__).parent / "data"
TEXT = "The quick brown fox jumps over the lazy dog near 192.0.2.1 and runs on through the night without a rest."
CONTENT = {
    "id": 7, "open": True, "note": TEXT, "tags": ["a", "b", "c", "d"], "none": None,
    "items": [{"id": number, "name": f"host{number}", "raw": TEXT} for number in range(12)],
    "body": json.dumps({"hits": [1, 2, 3], "text": TEXT}),
}  # fmt: skip
REDUCED = {
    **CONTENT, "note": f"{TEXT[:39]} …[{len(TEXT) - 39} more characters]", "tags": ["a", "d"],
    "items": [{"id": number, "name": f"host{number}"} for number in range(5)],
}  # fmt: skip


def history(content: Any = CONTENT) -> list[dict[str, Any]]:
    answers = request(answer("a", content=content), answer("b", "final_result", {"x": 1}))
    return [request(prompt()), response(call("a"), call("b", "final_result")), answers]


def stored(history: Any) -> bytes:
    return json.dumps(history).encode()


def changed(path: str, *new: Any) -> Any:
    """Return the reduced history with the value at a path set, or removed."""
    return edited(history(REDUCED), [int(step) if step.isdigit() else step for step in path.split()], *new)


CHANGES = json.loads((DATA / "changes.json").read_text())
REDUCTIONS = json.loads((DATA / "reductions.json").read_text())


@pytest.mark.parametrize(("code", "place", "message", "change"), [(*row[:3], row[3:]) for row in CHANGES])
def test_a_change_is_found_where_it_is(code: str, place: str, message: str, change: Any) -> None:
    findings = compare(stored(changed(*change)), stored(history()))
    assert (code, place, message) in [(found.code, path_text(found.path), found.message) for found in findings]
    assert {found.code for found in findings} == {code}


@pytest.mark.parametrize("change", REDUCTIONS)
def test_a_reduction_has_no_findings(change: Any) -> None:
    assert compare(stored(changed(*change)), stored(history())) == []


def test_positions_are_those_of_the_new_file() -> None:
    new = json.dumps(changed("2 parts 0 content id", 8), indent=1)
    [found] = compare(new.encode(), json.dumps(history(), indent=1).encode())
    assert new.split("\n")[found.line - 1][found.column - 1 :] == "8,"
    old = stored(history()).decode()
    spaced = old.replace('"kind": "response"', '"kind":  "response"')
    place = spaced.index('"timestamp"', spaced.index("model_name")) + len('"timestamp": ') + 1
    assert [tuple(found)[3:] for found in compare(spaced.encode(), old.encode())] == [(1, place)]


def test_roots_sizes_and_markers_of_an_earlier_pass() -> None:
    for before, after in (([1, 2], []), ("text", ""), (["a", "b"], ["a", ""])):
        assert "V106" in [found.code for found in check_content(before, after)]
    assert [found.code for found in check_content('{"a":1,"b":2}', '{"a":1,"b":  2}')] == ["V112"]
    once, again = f"{TEXT[:60]} …[940 more characters]", f"{TEXT[:20]} …[980 more characters]"
    assert check_content(once, again) == []
    assert [found.code for found in check_content(once, again.replace("980", "41"))] == ["V110"]
    assert check_content(["a"] * 9 + ["…[5 more items]"], ["a", "…[13 more items]"]) == []
    defanged = ", ".join(f"1[.]2[.]3[.]{number}" for number in range(40))
    once, again = (f"{text} …[{2000 - len(text)} more characters; mentions {defanged}]" for text in (TEXT, TEXT[:20]))
    assert check_content(TEXT + defanged.ljust(2000 - len(TEXT)), once) == check_content(once, again) == []


NAN = [float("nan"), "a", "b", TEXT]
NANS = [
    (NAN, [float("nan"), "a", TEXT], []),
    (NAN, ["a", "…[3 more items; mentions 192.0.2.1]"], []),
    (NAN, ["a", "…[3 more items; mentions 192.0.2.2]"], ["V111"]),
    ({"a": NAN}, {"a": [5.0, "a", "b", TEXT]}, ["V105"]),
]


@pytest.mark.parametrize(("before", "after", "codes"), NANS, ids=range(len(NANS)))
def test_nan_is_a_number_like_any_other(before: Any, after: Any, codes: list[str]) -> None:
    assert [found.code for found in compare(stored(history(after)), stored(history(before)))] == codes


def test_other_data_is_compared_as_bytes() -> None:
    words = 'differs outside the contents: found the text "["; the original has the text "]"'
    assert compare(b"[", b"]") == [Finding("V101", (), words, 1, 1)]


@settings(max_examples=settings().max_examples // 2, suppress_health_check=list(HealthCheck))
@given(cases)
def test_results_of_generated_rules_are_reductions(case: Any) -> None:
    _, ruleset, content = case
    before = stored(history(content))
    reduce = partial(reduce_content, ruleset)
    after = reduce_json(before, reduce)
    event("reduced" if after != before else "unchanged")
    assert compare(after, before) == compare(reduce_json(after, reduce), before) == []


PIECES = ["a", " ", "…[", "5 more characters", "1 more items", "; mentions ", "]", "…", TEXT]
texts = st.lists(st.sampled_from(PIECES)).map("".join)


@given(texts, texts)
def test_forged_markers_and_other_texts_have_findings_or_none(old: str, new: str) -> None:
    assert check_content(old, old) == []
    for found in check_content([old, {"a": old}], [new, {"a": new}]):
        assert found.code in ("V106", "V109", "V110", "V111", "V112")


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_any_bytes_have_findings_at_a_place(new: bytes, old: bytes) -> None:
    assert all(found.line >= 1 and found.column >= 1 for found in compare(new, old))


BLUNT = ("max_chars: 1500", "steps: [truncate: {head: 40, tail: 30}]", "steps: [extract: [ioc]]", "steps: [limit: 2]")


def test_results_on_real_histories_are_reductions(data: Path) -> None:
    shipped = Reducer.load(RULES)
    rules = [compile_rules([("t.yaml", f"version: 1\ntool: '*'\n{rule}\n")])[0] for rule in BLUNT]
    reduced = 0
    for number, file in enumerate(sorted((data / "histories").glob("*/*.json"))):
        before = file.read_bytes()
        bluntly = reduce_json(before, partial(reduce_content, rules[number % len(BLUNT)]))
        for after in (shipped.reduce_json(before), bluntly):
            reduced += after != before
            assert compare(after, before) == []
    assert reduced > 80
