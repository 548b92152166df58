"""Session histories: every copy of a return is reduced alike, and all else is the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from reducer import Reducer
from reducer.histories.stored import Return, change_copies, reduce_json, returns, splice
from tests.histories.fakes import shorter
from tests.histories.spelled import TEXTS, Pairs, spellings
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


def pairs(value: Any) -> Any:
    if isinstance(value, dict):
        return Pairs((key, pairs(item)) for key, item in value.items())
    return [pairs(item) for item in value] if isinstance(value, list) else value


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
    return str(draw(spellings())(pairs(draw(st.sampled_from([messages, messages[0], *wrapped])))))


def reduced_plainly(value: Any) -> Any:
    """Reduce a session history in place, each copy by itself: `shorter` looks at the content only."""
    if isinstance(value, list) or (isinstance(value, dict) and "role" not in value):
        for item in value.values() if isinstance(value, dict) else value:
            reduced_plainly(item)
        return value
    if not isinstance(value, dict):
        return value
    wrong, places = set(), []
    for name in ("parts", "activity_parts"):
        for number, part in enumerate(value[name] or []):
            if part.get("activity_type", part["type"]) not in ("tool_result", "tool_call"):
                continue
            for result in part["results"]:
                places.append((result["call_id"], result, "content", result["name"]))
                wrong |= {result["call_id"]} if result.get("is_error") else set()
            if details := part.get("technical_details"):
                id = part["results"][0]["call_id"] if part["results"] else number
                places.append((id, details, "raw_result", details["function_name"]))
                wrong |= {id} if details["status"] == "error" else set()
    for id, holder, key, tool in places:
        if id not in wrong and tool not in (None, "final_result") and isinstance(holder.get(key), (str, list, dict)):
            holder[key] = shorter(tool, holder[key])
    return value


def changed(data: bytes) -> list[tuple[Any, Any]]:
    found = [one for one in returns(data) if not one.untouched]
    return [change for one in found for change in change_copies(one, shorter(one.tool, one.content), shorter)]


@given(sessions())
def test_only_contents_change_and_all_copies_alike(text: str) -> None:
    data = text.encode()
    result = reduce_json(data, shorter)
    event("changed" if result is not data else "unchanged")
    assert json.loads(result) == reduced_plainly(json.loads(text))
    assert reduce_json(result, shorter) is result
    changes = changed(data)
    assert splice(data, changes) == result
    at = 0
    for number, piece in enumerate(outside(data, [place[1:] for place, _ in changes])):
        if number:
            at += len(value_at(result, at))
        assert result.startswith(piece, at)
        at += len(piece)
    assert at == len(result)


def value_at(data: bytes, at: int) -> bytes:
    """Return the JSON value that starts at `at`."""
    text = data[at:].decode()
    return text[: json.JSONDecoder().raw_decode(text)[1]].encode()


def named(found: Return) -> tuple[Any, ...]:
    return found.tool, found.call_id, found.nth, *found.key[:2], len(found.places), found.untouched


def test_each_return_is_given_once() -> None:
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


def test_a_raw_result_keeps_its_type_and_holds_what_the_text_encodes(tmp_path: Path) -> None:
    (tmp_path / "logs.yaml").write_text("version: 1\ntool: query_logs\nsteps: [{limit: 2}]\n")
    data = (HERE / "session_document.json").read_bytes()
    old, new = (json.loads(text)["parts"][1] for text in (data, Reducer.load(tmp_path).reduce_json(data)))
    raw = old["technical_details"]["raw_result"]
    assert len(raw) == 3
    assert new["technical_details"]["raw_result"] == json.loads(new["results"][0]["content"]) == raw[:2]


def history(**activity: Any) -> bytes:
    """Write a session history with one activity, which the older list has too if `older` is given."""
    older = activity.pop("older", None)
    part = {"type": "activity", "activity_type": "tool_result", **activity}
    return json.dumps([{"role": "x", "parts": [part], "activity_parts": older}]).encode()


def test_copies_of_which_one_has_no_id_are_one_return() -> None:
    with_id, without = ({"name": "t", "content": "a long text", **more} for more in ({"call_id": "c"}, {}))
    for first, second in ((with_id, without), (without, with_id), (without, without)):
        data = history(results=[first] * 2, older=[{"type": "tool_call", "results": [second] * 2}])
        assert [len(found.places) for found in returns(data)] == [2, 2]


@pytest.mark.parametrize("results", [[], [{"name": "u", "content": "x"}]])
def test_technical_details_without_a_result_are_returns(results: list[Any]) -> None:
    details = [{"function_name": "t", "raw_result": [number]} for number in range(3)]
    found = [
        (one.tool, [place.content for place in one.places])
        for one in returns(history(results=results, technical_details=details))
    ]
    assert found == [*[("u", ["x"])] * len(results), ("t", [[0]]), ("t", [[1]]), ("t", [[2]])]


def test_technical_details_pair_by_position_then_by_name() -> None:
    results = [{"name": name, "content": f"the text of {name}", "call_id": name} for name in ("a", "b", "c")]
    details = [{"function_name": name, "raw_result": f"raw {name}", "status": "success"} for name in ("a", "c", "d")]
    data = history(results=results, technical_details=details)
    assert [(one.tool, [place.content for place in one.places]) for one in returns(data)] == [
        ("a", ["the text of a", "raw a"]),
        ("b", ["the text of b"]),
        ("c", ["the text of c", "raw c"]),
        ("d", ["raw d"]),
    ]


@pytest.mark.parametrize(
    "results", [None, {}, "text", [{"name": "t", "content": 1.5}], [7, None, [], {"content": "a long text"}]]
)
def test_what_has_no_content_to_reduce_stays(results: Any) -> None:
    data = history(results=results, technical_details=7, older="none")
    assert reduce_json(data, shorter) is data
