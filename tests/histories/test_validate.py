"""`validate`: what PydanticAI refuses is an error at its place, and with `against`, each change but a reduction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic_ai.messages import ModelMessagesTypeAdapter

from reducer.histories.against import check_content, compare
from reducer.histories.validate import CODES, Finding, check
from reducer.paths.written import path_text
from tests.helpers import reduced, table
from tests.histories import messages
from tests.histories.messages import HISTORY, answer, call, edited, prompt, request, response, session

DATA = Path(__file__).parent / "data"
LOADING = ("V001", "V002", "V003", "V010")


def found(history: Any) -> list[tuple[str, str, str]]:
    findings = check(json.dumps(history).encode())
    return [(finding.code, path_text(finding.path), finding.message) for finding in findings]


def refused(history: Any) -> bool:
    try:
        ModelMessagesTypeAdapter.validate_json(json.dumps(history))
    except ValidationError:
        return True
    return False


def retry(call_id: str) -> dict[str, Any]:
    return {**answer(call_id), "part_kind": "retry-prompt"}


def system() -> dict[str, Any]:
    return {**prompt(), "part_kind": "system-prompt"}


PARTS: dict[str, Any] = {**vars(messages), "return": answer, "retry": retry, "system": system}
USER = {"role": "user", "text_content": "Who is it?", "parts": [], "activity_parts": None}


def written_out(history: Any) -> Any:
    """Replace each text with the message that has the parts in the text, as `findings.yaml` explains."""
    if isinstance(history, str) and history != "user":
        lists = [
            [PARTS[name](*more) for name, *more in map(str.split, one.split(", "))] for one in history.split(" / ")
        ]
        if history.startswith(("requests", "results")):
            return session(*lists[0], older=lists[1] if lists[1:] else None)
        return (response if history.startswith(("text", "call")) else request)(*lists[0])
    if isinstance(history, list):
        return list(map(written_out, history))
    if isinstance(history, dict) and history.keys().isdisjoint(("kind", "parts", "role", "text_content")):
        return {key: written_out(value) for key, value in history.items()}
    return USER if history == "user" else history


@pytest.mark.parametrize("case", table(__file__, "findings.yaml"))
def test_findings(case: dict[str, Any]) -> None:
    history = written_out(case["history"])
    findings = found(history)
    for expected, finding in zip(case.get("findings", ()), findings, strict=True):
        start, is_cut, _ = expected[2].partition("…")
        assert [*finding[:2], finding[2][: len(start)] if is_cut else finding[2]] == [*expected[:2], start]
    if isinstance(history, list) and "V010" in [code for code, _, _ in findings]:
        assert refused(history)


def test_a_history_without_findings() -> None:
    assert found(HISTORY) == []


FORGED = ((call, "a", "t"), (answer, "b", "u"))


def test_many_forged_ids_are_found_one_by_one() -> None:
    """It would take minutes to compare every return with every call."""
    calls, answers = ([part(f"{name}{n}", tool) for n in range(5_000)] for part, name, tool in FORGED)
    findings = found([request(prompt()), response(*calls), request(*answers)])
    assert Counter(code for code, *_ in findings) == {"V031": 5_000, "V032": 5_000}


CANNOT = "PydanticAI cannot parse the JSON: "
BYTES = [
    (b"", "V002", f"{CANNOT}the text ends while parsing a value", 1, 1),
    (b"[\n{\xc3\xa9\xff}]", "V001", "byte 0xff is not UTF-8 text", 2, 3),
    (b'[\n{"\xc3\xa9": ,}]', "V002", f"{CANNOT}expected value", 2, 7),
    (b'[{"kind": "requ', "V002", f"{CANNOT}the text ends while parsing a string", 1, 15),
    (b'["a\nb"]', "V002", f"{CANNOT}control character (\\u0000-\\u001F) found while parsing a string", 2, 1),
    (b"[" * 100_000, "V002", f"{CANNOT}recursion limit exceeded", 1, 202),
    (b"\xef\xbb\xbf[]", "V002", f"{CANNOT}starts with a byte order mark", 1, 1),
    (b'[\n "\\ud800\\u0041"]', "V002", f"{CANNOT}lone leading surrogate in hex escape", 2, 14),
    (b"[" + b"1" * 5_000 + b"]", "V002", f"{CANNOT}number out of range", 1, 4303),
]  # fmt: skip


@pytest.mark.parametrize(("stored", "code", "message", "line", "column"), BYTES, ids=[code[1][:40] for code in BYTES])
def test_text_that_is_not_json(stored: bytes, code: str, message: str, line: int, column: int) -> None:
    assert check(stored) == [Finding(code, (), message, line, column)]


def test_positions_count_characters_of_the_file() -> None:
    stored = """[
 {"kind": "request", "parts": [], "é": ["ü", 1],
  "timestamp":
   true}, {"kind": "request", "parts": [], "é": 1,
 "timestamp": false}]"""
    assert [finding[1:] for finding in check(stored.encode())] == [
        ((0, "timestamp"), "found true; input should be a valid datetime", 4, 4),
        ((1, "timestamp"), "found false; input should be a valid datetime", 5, 15),
    ]


VALUES = (None, True, 5, -1.5, "x", "", [], {}, [1], {"a": 1}, "2025-01-01", "request", "text", "tool-return")


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key in value if type(value) is dict else range(len(value)) if type(value) is list else ():
        yield (*path, key)
        yield from paths(value[key], (*path, key))


RECENT = json.loads((DATA / "recent.json").read_text())
"""Fields that only recent versions of PydanticAI know; earlier ones ignore them."""
DECIDING = ("kind", "part_kind", "parts", "sources", "start")
"""A change of these decides how PydanticAI reads the object around it, so its errors can be elsewhere in the object."""


@pytest.mark.parametrize("history", [HISTORY, RECENT], ids=["history", "recent"])
def test_every_change_of_a_history_is_an_error_where_pydantic_ai_refuses_it(history: Any) -> None:
    counts = {True: 0, False: 0}
    for path in paths(history):
        for new in (*VALUES, ...):
            mutant = edited(history, path, new)
            errors = [one for one in check(json.dumps(mutant, indent=1).encode()) if one.code in LOADING]
            is_refused = refused(mutant)
            counts[is_refused] += 1
            assert bool(errors) is is_refused, (path, new, errors)
            if path[-1] not in DECIDING:
                assert all(error.path[: len(path)] == path for error in errors), (path, new, errors)
    assert min(counts.values()) > 200, counts


KEYS = st.sampled_from(("kind", "parts", "part_kind", "content", "messages", "timestamp", "args", "role", "results"))
SCALARS = st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from(VALUES[4:])
TREES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5))


BYTES_OF_ANY_KIND = st.binary(max_size=60) | st.text('[]{}:,"\\u0d8e1N\n', max_size=40).map(str.encode)


@given(BYTES_OF_ANY_KIND | TREES.map(lambda value: json.dumps(value).encode()))
@example(b'[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"\\ud800"}]}]')
@example(b"\xef\xbb\xbf" * 3)
def test_any_bytes_have_findings_at_places_in_the_text(stored: bytes) -> None:
    findings = check(stored)
    assert findings or b"[]" in stored
    for one in [*findings, *compare(stored, stored[::-1])]:
        assert one.code in CODES
        assert 1 <= one.line <= stored.count(b"\n") + 1
        assert one.column >= 1


def test_real_histories_have_no_errors(data: Path) -> None:
    files = sorted((data / "histories").glob("*/*.json"))
    assert len(files) > 100
    # The agents that end by a call (`submit`, `Finish`), and ids that contain `#`.
    assert {finding.code for file in files for finding in check(file.read_bytes())} == {"V031", "V036"}


# --- against: a reduction has no findings, and each planted change is found at its place

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
    lines = "a line\r\nanother …[ line\nthe last line"
    assert check_content(lines, reduced({"steps": [{"limit": 2, "text": "lines"}]}, lines)) == []


NAN = [float("nan"), "a", "b", TEXT]
NANS = [
    (NAN, [float("nan"), "a", TEXT], []),
    (NAN, ["a", "…[3 more items; mentions 192.0.2.1]"], []),
    (NAN, ["a", "…[3 more items; mentions 192.0.2.2]"], ["V109"]),
    ({"a": NAN}, {"a": [5.0, "a", "b", TEXT]}, ["V105"]),
]


@pytest.mark.parametrize(("before", "after", "codes"), NANS, ids=range(len(NANS)))
def test_nan_is_a_number_like_any_other(before: Any, after: Any, codes: list[str]) -> None:
    assert [found.code for found in compare(stored(history(after)), stored(history(before)))] == codes


def test_other_data_is_compared_as_bytes() -> None:
    words = 'differs outside the contents: found the text "["; the original has the text "]"'
    assert compare(b"[", b"]") == [Finding("V101", (), words, 1, 1)]


PIECES = ["a", " ", "…[", "5 more characters", "1 more items", "; mentions ", "]", "…", TEXT]
texts = st.lists(st.sampled_from(PIECES)).map("".join)


@given(texts, texts)
def test_forged_markers_and_other_texts_have_findings_or_none(old: str, new: str) -> None:
    assert check_content(old, old) == []
    for found in check_content([old, {"a": old}], [new, {"a": new}]):
        assert found.code in ("V106", "V109", "V110", "V111", "V112")
