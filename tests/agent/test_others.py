"""The guide for other frameworks: its examples run with the real libraries, and errors reach the models as they are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from reducer import Reducer
from tests.test_guides import OTHERS, blocks, execute, needed, run_blocks

BLOCKS = list(blocks(OTHERS))
FRAMEWORKS = sorted({needed(block) for block in BLOCKS} - {None})
ROWS = [{"title": f"Error {number}", "body": "A long text. " * 10} for number in range(40)]
ERROR = json.dumps(ROWS)
OWN_ERRORS = {"agents": "An error occurred while running the tool. Please try again."}
"""Texts of frameworks that do not tell the model why a tool failed."""


class Anthropic(BaseHTTPRequestHandler):
    """A model that calls `search_news`, and then answers with a text."""

    protocol_version = "HTTP/1.1"
    results: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.results[:] = list(_tool_results(request["messages"]))
        start: dict[str, Any] = {"type": "tool_use", "id": "call_1", "name": "mcp__news__search_news", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": '{"topic": "Loader"}'}
        if self.results:
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "It is back."}
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "message_1", "type": "message", "role": "assistant", "model": "script", "content": []}
        end = {"stop_reason": "end_turn" if self.results else "tool_use", "stop_sequence": None}
        events = [
            {"type": "message_start", "message": message | {"usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": usage},
            {"type": "message_stop"},
        ]
        body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Print nothing."""


def _tool_results(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in messages:
        for block in message["content"]:
            if isinstance(block, dict) and block["type"] == "tool_result":
                yield block


@pytest.fixture
def anthropic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Anthropic]]:
    """Serve the scripted model instead of Anthropic's API, to a Claude Code without settings."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Anthropic)
    Thread(target=server.serve_forever, daemon=True).start()
    for name in os.environ:
        if name.startswith(("ANTHROPIC_", "CLAUDE")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    yield Anthropic
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_model_receives_the_reduced_result(
    framework: str,
    anthropic: type[Anthropic],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    monkeypatch.chdir(tmp_path)
    run_blocks(OTHERS, [block for block in BLOCKS if needed(block) in (None, framework)], capsys)
    if framework == "claude_agent_sdk":  # the SDK shows what the hook returned, and the model what it received
        (result,) = anthropic.results
        assert result["content"][0]["text"].endswith('"…[38 more items]"]')


def failing(framework: str) -> Any:
    """Return a tool that fails in a way that the framework passes on to the model."""

    def search_news(topic: str) -> Any:
        """Search the news."""
        if framework == "google.adk":
            return {"rows": ROWS, "more": ROWS, "error": ERROR}
        if framework == "langchain":
            from langchain_core.tools import ToolException

            raise ToolException(ERROR)
        raise ValueError(ERROR)

    if framework == "langchain":
        from langchain_core.tools import StructuredTool

        return StructuredTool.from_function(search_news, handle_tool_error=True)
    return search_news


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_errors_reach_the_model_as_they_are(
    framework: str, anthropic: type[Anthropic], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    (rule,) = [block.body for block in BLOCKS if block.language == "yaml"]
    (tmp_path / "search_news.yaml").write_text(rule)
    names = {"reducer": Reducer.load(tmp_path / "search_news.yaml"), "search_news": failing(framework)}
    for block in BLOCKS:
        if needed(block) == framework:
            execute(OTHERS, block, names)
    printed = capsys.readouterr().out
    assert OWN_ERRORS.get(framework, ERROR) in printed
    assert "more items" not in printed
    assert "more items" in names["reducer"].reduce_content("search_news", ERROR)
