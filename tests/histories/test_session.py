"""Session histories: all copies of a return change in the same way, and all other bytes stay."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from reducer import Reducer
from reducer.histories.stored import Return, change_copies, events, reduce_json, returns, splice
from reducer.references import Prompt, Response, Returned, references
from tests.histories.messages import requests, results, shorter
from tests.histories.spelled import TEXTS, spellings
from tests.histories.test_stored import outside

HERE = Path(__file__).parent / "data"
TOOLS = st.sampled_from(["explore", "search"] * 4 + ["final_result", None])
CONTENTS = st.one_of(
    TEXTS, st.lists(st.integers(), min_size=3), st.fixed_dictionaries({"content": st.lists(TEXTS)}), st.just(7)
)
RESULTS = st.fixed_dictionaries(
    {"name": TOOLS, "content": CONTENTS}, optional={"is_error": st.sampled_from([False, False, False, None, True])}
)
DETAILS = st.fixed_dictionaries(
    {"function_name": TOOLS, "raw_result": CONTENTS, "status": st.sampled_from(["success", "success", "error", None])}
)
ACTIVITIES = st.fixed_dictionaries(
    {
        "type": st.just("activity"),
        "activity_type": st.sampled_from(["tool_result", "tool_result", "tool_call", "thought", "later_kind"]),
        "content": st.none() | TEXTS,
        "results": st.lists(RESULTS, min_size=1, max_size=3) | st.just([]),
    },
    optional={"technical_details": DETAILS},
)


@st.composite
def sessions(draw: st.DrawFn) -> str:
    messages = []
    for _ in range(draw(st.integers(1, 3))):
        parts = draw(st.lists(ACTIVITIES, min_size=1, max_size=3))
        for number, result in enumerate(result for part in parts for result in part["results"]):
            result["call_id"] = f"call_{number}"
        for part in parts:
            if part["results"] and "technical_details" in part:
                part["technical_details"]["function_name"] = part["results"][0]["name"]
        keys = {"activity_type", "technical_details"}
        older = [
            {key: value for key, value in part.items() if key not in keys} | {"type": part["activity_type"]}
            for part in parts
        ]
        lists = {"parts": draw(st.sampled_from([parts, None])), "activity_parts": draw(st.sampled_from([older, []]))}
        messages.append({"role": "assistant", "text_content": draw(st.none() | TEXTS), **lists})
    wrapped = {"session_id": "s", "messages": messages}, {"hits": [{"_source": message} for message in messages]}
    return draw(spellings())(draw(st.sampled_from([messages, messages[0], *wrapped])))


def reduced_plainly(value: Any) -> Any:
    """Reduce each copy of a session history separately and in place; `shorter` depends only on the content."""
    if isinstance(value, list) or (isinstance(value, dict) and "role" not in value):
        for item in value.values() if isinstance(value, dict) else value:
            reduced_plainly(item)
    elif isinstance(value, dict):
        activities = [pair for name in ("parts", "activity_parts") for pair in enumerate(value[name] or [])]
        wrong, places = set(), []
        for number, part in activities:
            if part.get("activity_type", part["type"]) in ("tool_result", "tool_call"):
                for result in part["results"]:
                    places.append((result["call_id"], result, "content", result["name"]))
                    wrong |= {result["call_id"]} if result.get("is_error") else set()
                if details := part.get("technical_details"):
                    id = part["results"][0]["call_id"] if part["results"] else number
                    places.append((id, details, "raw_result", details["function_name"]))
                    wrong |= {id} if details["status"] == "error" else set()
        for id, holder, key, tool in places:
            if id not in wrong and tool not in (None, "final_result") and isinstance(holder[key], (str, list, dict)):
                holder[key] = shorter(tool, holder[key])
    return value


def changed(data: bytes) -> list[tuple[Any, Any]]:
    found = [one for one in returns(data) if not one.untouched]
    return [change for one in found for change in change_copies(one, shorter(one.tool, one.content), shorter)]


@given(sessions())
def test_only_contents_change_and_all_copies_change_alike(text: str) -> None:
    data = text.encode()
    result = reduce_json(data, shorter)
    event("changed" if result is not data else "unchanged")
    assert json.loads(result) == reduced_plainly(json.loads(text))
    assert reduce_json(result, shorter) is result
    changes = changed(data)
    assert splice(data, changes) == result
    rest = result.decode()
    for number, piece in enumerate(outside(data, [place[1:] for place, _ in changes])):
        if number:
            rest = rest[json.JSONDecoder().raw_decode(rest)[1] :]
        assert rest.startswith(piece.decode())
        rest = rest.removeprefix(piece.decode())
    assert not rest


def named(found: Return) -> tuple[Any, ...]:
    return found.tool, found.call_id, found.nth, *found.key[:2], len(found.copies), found.untouched


def test_each_return_is_yielded_once() -> None:
    assert [named(found) for found in returns((HERE / "session_history.json").read_bytes())] == [
        ("deep_research", "tool_0_deep_research", 1, 1, 2, 2, ""),
        ("get_indicator_details", "tool_1_get_indicator_details", 1, 1, 2, 2, ""),
        ("get_case_notes", "tool_2_get_case_notes", 1, 1, 3, 2, "it is an error"),
        ("deep_research", "tool_0_deep_research", 2, 1, 5, 2, ""),
    ]
    for name, message in (("session_index", 1), ("session_document", 0)):
        assert [named(found) for found in returns((HERE / f"{name}.json").read_bytes())] == [
            ("explore", "call_1", 1, message, 0, 3, ""),
            ("query_logs", "call_2", 1, message, 1, 3, ""),
            ("deep_research", "call_3", 1, message, 2, 3, ""),
            ("deep_research", "call_4", 1, message, 3, 3, "it is an error"),
        ]
    assert [named(found) for found in returns((HERE / "session_wrapped.json").read_bytes())] == [
        ("explore", "call_a", 1, 1, 2, 1, ""),
        ("explore", "", 1, 1, 2, 1, ""),
    ]


def test_a_raw_result_keeps_its_type_and_matches_the_text(tmp_path: Path) -> None:
    (tmp_path / "logs.yaml").write_text("version: 1\ntool: query_logs\nsteps: [{limit: 2}]\n")
    data = (HERE / "session_document.json").read_bytes()
    old, new = (json.loads(text)["parts"][1] for text in (data, Reducer.load(tmp_path).reduce_json(data)))
    raw = old["technical_details"]["raw_result"]
    assert len(raw) == 3
    assert new["technical_details"]["raw_result"] == json.loads(new["results"][0]["content"]) == raw[:2]


def history(results: Any, details: Any = None, older: Any = None) -> bytes:
    """Write a session history with one activity, and an older list of activities."""
    part = {"type": "activity", "activity_type": "tool_result", "results": results, "technical_details": details}
    return json.dumps([{"role": "x", "parts": [part], "activity_parts": older}]).encode()


def contents(data: bytes) -> list[tuple[str, list[Any]]]:
    """Return the tool of each return with the contents of all copies."""
    return [(found.tool, [copy.content for copy in found.copies]) for found in returns(data)]


def test_a_copy_without_an_id_belongs_to_the_same_return() -> None:
    with_id, without = ({"name": "t", "content": "a long text", **more} for more in ({"call_id": "c"}, {}))
    for first, second in ((with_id, without), (without, with_id), (without, without)):
        data = history([first] * 2, older=[{"type": "tool_call", "results": [second] * 2}])
        assert contents(data) == [("t", ["a long text"] * 2)] * 2


@pytest.mark.parametrize(
    ("results", "details", "expected"),
    [
        ("", "tt", [("t", ["t0"]), ("t", ["t1"])]),
        ("u", "tt", [("u", ["text u"]), ("t", ["t0"]), ("t", ["t1"])]),
        ("abc", "acd", [("a", ["text a", "a0"]), ("b", ["text b"]), ("c", ["text c", "c1"]), ("d", ["d2"])]),
    ],
)
def test_technical_details_pair_by_position_then_by_name(results: str, details: str, expected: Any) -> None:
    raw = [{"function_name": name, "raw_result": f"{name}{number}"} for number, name in enumerate(details)]
    texts = [{"name": name, "content": f"text {name}", "call_id": name} for name in results]
    assert contents(history(texts, raw)) == expected


def test_many_details_of_another_tool_take_little_time() -> None:
    details = [{"function_name": "other", "raw_result": "text"}] * 40_000
    start = process_time()
    assert len(contents(history([{"name": "t", "content": "text"}] * 40_000, details))) == 80_000
    assert process_time() - start < 15  # 40 s if every result is compared with every detail


@pytest.mark.parametrize(
    "results", [None, {}, "text", [{"name": "t", "content": 1.5}], [7, None, [], {"content": "a long text"}]]
)
def test_results_without_reducible_content_stay(results: Any) -> None:
    data = history(results, details=7, older="none")
    assert reduce_json(data, shorter) is data


USER = {"role": "user", "text_content": "Who is it?", "parts": [], "activity_parts": []}
FIRST, LAST = {"type": "text_output", "text": "Let me look."}, {"type": "text_output", "text": "It is host-7."}
THOUGHT = {"type": "activity", "activity_type": "thought", "content": "host-7 it is"}
ANSWER = {"role": "assistant", "text_content": None, "response_text_main": "It is host-7."}


def test_a_session_history_has_prompts_responses_and_returns_in_order() -> None:
    parts = [FIRST, requests("c1"), results("c1", "host-7"), THOUGHT, LAST]
    happened = [place.event for place in events(json.dumps([USER, {**ANSWER, "parts": parts}]).encode())]
    assert [type(event) for event in happened] == [Prompt, Response, Returned, Response]
    assert isinstance(happened[1], Response)
    assert [(call.tool, call.arguments, call.id) for call in happened[1].calls] == [("t", {}, "c1")]
    assert [(ref.value, ref.novel) for ref in references(happened)] == [("host-7", True)]


def test_the_older_list_is_read_if_the_newer_one_has_no_results() -> None:
    older = [{**part, "type": part["activity_type"]} for part in (requests("c1"), results("c1", "host-7"))]
    data = json.dumps([USER, {**ANSWER, "parts": [FIRST], "activity_parts": older}]).encode()
    assert [type(place.event) for place in events(data)] == [Prompt, Response, Returned, Response]
