"""Wrappers of MCP: rules see what PydanticAI's client returns, and all copies are cut alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reducer.engine import attempt
from reducer.formats import decode, unwrapped
from reducer.values import chars, plain
from tests.helpers import reduced, rules, table

CASES = table(__file__, "mcp.yaml")
RECORDS = [{"id": n, "body": f"word {n} " * 20} for n in range(6)]
LIMIT = {"steps": [{"path": "items", "limit": 2, "mark": True}, {"path": "items", "keep": ["id"]}]}
LIST = {"steps": [{"limit": 2, "mark": True}, {"keep": ["id"]}]}
LEFT = [{"id": 0}, {"id": 1}, "…[4 more items]"]


def text(value: Any, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value if isinstance(value, str) else json.dumps(value, indent=1), **more}


def fixed(rule: dict[str, Any], content: Any) -> Any:
    """Reduce a content, also as JSON text, and check that a second pass changes nothing."""
    ruleset = rules(**rule)
    outcome = attempt(ruleset, "t", content)
    assert outcome.fault == ""
    assert attempt(ruleset, "t", outcome.content).content is outcome.content
    as_text = attempt(ruleset, "t", json.dumps(content)).content
    assert json.loads(as_text) == outcome.content
    return outcome.content


def of_client(result: dict[str, Any]) -> Any:
    """Return what the client of the installed PydanticAI returns for a result of a tool call, as it is stored."""
    types = pytest.importorskip("mcp.types")
    client = pytest.importorskip("pydantic_ai.mcp")
    parsed = types.CallToolResult.model_validate(result)
    if hasattr(client, "_map_mcp_call_tool_result"):
        return plain(client._map_mcp_call_tool_result(parsed))
    import asyncio

    class Server(client.MCPServerStdio):  # type: ignore[misc, name-defined]
        async def __aenter__(self) -> Any:
            return self

        async def __aexit__(self, *_: object) -> None:
            return None

    class Session:
        async def send_request(self, *_: object, **__: object) -> Any:
            return parsed

    server = Server("none", [])
    server._client = Session()
    return plain(asyncio.run(server.direct_call_tool("t", {})))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_wrapper_is_seen_as_the_client_returns_it(case: dict[str, Any]) -> None:
    for result in (case["result"], json.dumps(case["result"])):
        assert decode_text(unwrapped(result)) == case["value"]
    if "structuredContent" not in case["result"] and "isError" not in case["result"]:
        assert decode_text(unwrapped(case["result"]["content"])) == case["value"]


def decode_text(value: Any) -> Any:
    return decode(value) if isinstance(value, str) else value


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_installed_client_returns_the_same(case: dict[str, Any]) -> None:
    found = json.loads(json.dumps(of_client(case["result"]), default=str))
    if isinstance(found, list):
        keys = ("kind", "data", "media_type")
        found = [
            {key: item[key] for key in keys} if isinstance(item, dict) and "kind" in item else item for item in found
        ]
    assert found == case["value"]


@pytest.mark.parametrize(
    "value",
    [
        {"content": [text("x" * 90)], "total": 1},
        {"content": "x" * 90},
        {"content": [{"type": "text", "value": "x" * 90}]},
        {"content": [{"type": "text", "text": "x" * 90, "id": 7}]},
        [{"type": "text"}],
        [{"type": "note", "text": "x" * 90}],
        [text("a"), "b"],
        {"structuredContent": {"items": [1, 2]}},
        [],
    ],
)
def test_data_that_looks_similar_is_no_wrapper(value: Any) -> None:
    assert unwrapped(value) is value
    assert unwrapped(text_of := json.dumps(value)) is text_of


def test_both_copies_are_cut_alike() -> None:
    structure = {"items": RECORDS, "total": 6}
    result = fixed(LIMIT, {"content": [text(structure)], "structuredContent": structure, "isError": False})
    assert result["structuredContent"] == {"items": LEFT, "total": 6}
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert list(result) == ["content", "structuredContent", "isError"]
    wrapped = fixed(LIST, {"content": [text(RECORDS)], "structuredContent": {"result": RECORDS}})
    assert wrapped["structuredContent"] == {"result": LEFT}
    assert json.loads(wrapped["content"][0]["text"]) == LEFT
    each = fixed(LIST, {"content": [text(one) for one in RECORDS], "structuredContent": {"result": RECORDS}})
    assert each["structuredContent"] == {"result": LEFT}
    assert [one["text"] for one in each["content"]] == ['{"id":0}', '{"id":1}', "…[4 more items]"]


def test_a_text_that_is_no_copy_stays() -> None:
    content = [text("Found 6."), text({"total": 6, "items": RECORDS})]  # another order of keys
    result = fixed(LIMIT, {"content": content, "structuredContent": {"items": RECORDS, "total": 6}})
    assert result == {"content": content, "structuredContent": {"items": LEFT, "total": 6}}


def test_blocks_are_the_items_of_a_list_and_other_blocks_stay() -> None:
    image = {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    blocks = [text(RECORDS[0], annotations={"priority": 1}), image, *map(text, RECORDS[1:]), link]
    result = fixed(LIST, blocks)
    assert result[1] is image
    assert result[-2:] == [link, {"type": "text", "text": "…[5 more items]"}]
    assert result[0] == {"type": "text", "text": '{"id":0}', "annotations": {"priority": 1}}


def test_at_least_two_blocks_stay_because_one_would_be_read_as_its_value() -> None:
    assert len(fixed({"steps": [{"limit": 1}]}, [text(one) for one in RECORDS])) >= 2


def test_max_chars_counts_both_copies() -> None:
    structure = {"items": RECORDS * 10}
    rule = {"max_chars": 6000, "preserve": []}
    result = fixed(
        rule | {"steps": [{"drop": ["none"]}]}, {"content": [text(structure)], "structuredContent": structure}
    )
    alone = reduced(rule | {"steps": [{"drop": ["none"]}]}, structure)
    assert chars(result) <= 6000
    assert chars(result["structuredContent"]) < chars(alone) <= 6000


def test_what_does_not_change_is_the_same_object() -> None:
    structure = {"items": RECORDS[:1]}
    for content in (
        [text(structure)],
        {"content": [text(structure)], "structuredContent": structure},
        [text("a"), text("b")],
    ):
        assert reduced(LIMIT, content) == content or "body" not in json.dumps(reduced(LIMIT, content))
        assert reduced({"steps": [{"path": "none", "limit": 1}]}, content) is content
        as_text = json.dumps(content, indent=3)
        assert reduced({"steps": [{"path": "none", "limit": 1}]}, as_text) is as_text


def test_compact_removes_the_blanks_in_a_block() -> None:
    assert fixed({"steps": [{"compact": True}]}, [text({"a": [1, 2]})]) == [text('{"a":[1,2]}')]


def test_lines_of_a_text_in_a_block() -> None:
    rule = {"steps": [{"text": "lines", "drop": "[?contains(@, 'DEBUG')]"}]}
    assert fixed(rule, [text("DEBUG cold\nINFO started\nDEBUG warm")]) == [text("INFO started")]


def test_a_failed_call_is_never_reduced() -> None:
    content = {"content": [text({"items": RECORDS})], "isError": True}
    assert reduced(LIMIT, content) is content
