"""`validate`: everything that PydanticAI refuses is an error at its place, and a sound history has no findings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic_ai.messages import ModelMessagesTypeAdapter

from reducer.histories.findings import CODES, Finding
from reducer.histories.validate import check_document, read_document
from reducer.paths.written import path_text
from tests.helpers import table
from tests.histories.messages import (
    HISTORY,
    answer,
    call,
    edited,
    prompt,
    request,
    requests,
    response,
    results,
    session,
    text,
)

LOADING = ("V001", "V002", "V003", "V010")


def validate(stored: bytes) -> list[Finding]:
    return check_document(read_document(stored))


def found(history: Any) -> list[tuple[str, str, str]]:
    findings = validate(json.dumps(history).encode())
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


PARTS: dict[str, Any] = {"return": answer} | {
    part.__name__: part for part in (prompt, system, text, call, retry, requests, results)
}
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
    assert validate(stored) == [Finding(code, (), message, line, column)]


def test_positions_count_characters_of_the_file() -> None:
    stored = """[
 {"kind": "request", "parts": [], "é": ["ü", 1],
  "timestamp":
   true}, {"kind": "request", "parts": [], "é": 1,
 "timestamp": false}]"""
    assert [finding[1:] for finding in validate(stored.encode())] == [
        ((0, "timestamp"), "found true; input should be a valid datetime", 4, 4),
        ((1, "timestamp"), "found false; input should be a valid datetime", 5, 15),
    ]


def test_codes_are_complete() -> None:
    assert all(code.severity in ("error", "warning") and code.meaning.endswith(".") for code in CODES.values())
    assert all(code.refused_by for code in CODES.values() if code.severity == "error")


VALUES = (None, True, 5, -1.5, "x", "", [], {}, [1], {"a": 1}, "2025-01-01", "request", "text", "tool-return")


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key in value if type(value) is dict else range(len(value)) if type(value) is list else ():
        yield (*path, key)
        yield from paths(value[key], (*path, key))


def test_every_change_of_a_history_is_an_error_where_pydantic_ai_refuses_it() -> None:
    counts = {True: 0, False: 0}
    for path in paths(HISTORY):
        for new in (*VALUES, ...):
            mutant = edited(HISTORY, path, new)
            errors = [one for one in validate(json.dumps(mutant, indent=1).encode()) if one.code in LOADING]
            is_refused = refused(mutant)
            counts[is_refused] += 1
            assert bool(errors) is is_refused, (path, new, errors)
            # A changed kind asks for other fields; any other change is reported where it is.
            if path[-1] not in ("kind", "part_kind", "parts"):
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
    findings = validate(stored)
    assert findings or b"[]" in stored
    for one in findings:
        assert one.code in CODES
        assert 1 <= one.line <= stored.count(b"\n") + 1
        assert one.column >= 1


def test_real_histories_have_no_errors(data: Path) -> None:
    files = sorted((data / "histories").glob("*/*.json"))
    assert len(files) > 100
    # The agents that end by a call (`submit`, `Finish`), and ids that contain `#`.
    assert {finding.code for file in files for finding in validate(file.read_bytes())} == {"V031", "V036"}
