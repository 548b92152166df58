"""Record the stored histories of `scenario.json` with the real libraries.

pip install openai==3.54.0 anthropic==2.12.0 langchain-core==1.7.2
python tests/histories/data/formats/make.py

The clients send real requests to a transport that plays the model, and the last request body is what is stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import httpx2
from anthropic import Anthropic
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, messages_to_dict
from openai import OpenAI

HERE = Path(__file__).parent
SCENARIO = json.loads((HERE / "scenario.json").read_text())
STEPS = SCENARIO["steps"]


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def result(call: dict[str, Any], kind: str) -> Any:
    """Return what a tool returns: a text, or a list of parts of this kind if the tool returns several texts."""
    content = call.get("error") or call["content"]
    if isinstance(content, list) and isinstance(content[0], str):
        return [{"type": kind, "text": text} for text in content]
    return text_of(content)


def client(kind: Any, http: Any, responses: Iterable[dict[str, Any]], sent: list[bytes]) -> Any:
    """Return a client whose requests are collected in `sent`, and answered with these responses over and over."""
    again = cycle(responses)

    def answer(request: Any) -> Any:
        sent.append(request.content)
        return http.Response(200, json=next(again))

    return kind(api_key="none", http_client=http.Client(transport=http.MockTransport(answer)))


def completions() -> Iterator[dict[str, Any]]:
    common = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1760000000, "model": "gpt-5"}
    for step in STEPS:
        calls = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["tool"], "arguments": json.dumps(call["arguments"])},
            }
            for call in step["calls"]
        ]
        message = {"role": "assistant", "content": step["text"] or None, "tool_calls": calls, "refusal": None}
        yield common | {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    message = {"role": "assistant", "content": SCENARIO["answer"]}
    yield common | {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}


def openai_chat() -> bytes:
    sent: list[bytes] = []
    create = client(OpenAI, httpx, completions(), sent).chat.completions.create
    messages: list[Any] = [
        {"role": "system", "content": "You are an analyst."},
        {"role": "user", "content": SCENARIO["prompt"]},
    ]
    for step in STEPS:
        messages.append(create(model="gpt-5", messages=messages).choices[0].message)
        for call in step["calls"]:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result(call, "text")})
    messages.append(create(model="gpt-5", messages=messages).choices[0].message)
    create(model="gpt-5", messages=messages)
    return sent[-1]


def outputs() -> Iterator[dict[str, Any]]:
    common = {"object": "response", "created_at": 1760000000, "model": "gpt-5", "parallel_tool_calls": True}
    common |= {"tool_choice": "auto", "tools": [], "status": "completed"}
    for number, step in enumerate([*STEPS, {"text": SCENARIO["answer"], "calls": []}]):
        items: list[dict[str, Any]] = [{"type": "reasoning", "id": f"rs_{number}", "summary": []}]
        if step["text"]:
            content = [{"type": "output_text", "text": step["text"], "annotations": []}]
            message = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
            items.append(message | {"content": content})
        for call in step["calls"]:
            called = {"call_id": call["id"], "name": call["tool"], "arguments": json.dumps(call["arguments"])}
            items.append({"type": "function_call", "id": f"fc_{call['id']}", "status": "completed"} | called)
        yield common | {"id": f"resp_{number}", "output": items}


def openai_responses() -> bytes:
    sent: list[bytes] = []
    create = client(OpenAI, httpx, outputs(), sent).responses.create
    items: list[Any] = [{"role": "user", "content": SCENARIO["prompt"]}]
    for step in STEPS:
        items += create(model="gpt-5", input=items).output
        for call in step["calls"]:
            output = result(call, "input_text")
            items.append({"type": "function_call_output", "call_id": call["id"], "output": output})
    items += create(model="gpt-5", input=items).output
    create(model="gpt-5", input=items)
    return sent[-1]


def replies() -> Iterator[dict[str, Any]]:
    common = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
    common |= {"stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}}
    for step in [*STEPS, {"text": SCENARIO["answer"], "calls": []}]:
        blocks = [{"type": "text", "text": step["text"]}] if step["text"] else []
        for call in step["calls"]:
            blocks.append({"type": "tool_use", "id": call["id"], "name": call["tool"], "input": call["arguments"]})
        yield common | {"content": blocks}


def anthropic() -> bytes:
    sent: list[bytes] = []
    create = client(Anthropic, httpx2, replies(), sent).messages.create
    create = partial(create, model="claude", max_tokens=9, system="You are an analyst.")
    messages: list[Any] = [{"role": "user", "content": SCENARIO["prompt"]}]
    for step in STEPS:
        messages.append({"role": "assistant", "content": create(messages=messages).content})
        results = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": result(call, "text")}
            | ({"is_error": True} if "error" in call else {})
            for call in step["calls"]
        ]
        messages.append({"role": "user", "content": results})
    messages.append({"role": "assistant", "content": create(messages=messages).content})
    create(messages=messages)
    return sent[-1]


def langchain() -> list[Any]:
    messages: list[Any] = [SystemMessage("You are an analyst."), HumanMessage(SCENARIO["prompt"])]
    for step in STEPS:
        calls = [{"name": call["tool"], "args": call["arguments"], "id": call["id"]} for call in step["calls"]]
        messages.append(AIMessage(step["text"], tool_calls=calls))
        for call in step["calls"]:
            status = "error" if "error" in call else "success"
            content = result(call, "text")
            messages.append(ToolMessage(content, tool_call_id=call["id"], name=call["tool"], status=status))
    return [*messages, AIMessage(SCENARIO["answer"])]


def main() -> None:
    makers: dict[str, Callable[[], bytes]] = {
        "openai_chat": openai_chat,
        "openai_responses": openai_responses,
        "anthropic": anthropic,
        "langchain_dict": lambda: json.dumps(messages_to_dict(langchain())).encode(),
        "langchain_dumps": lambda: dumps(langchain(), ensure_ascii=False).encode(),
    }
    for name, make in makers.items():
        (HERE / f"{name}.json").write_bytes(make() + b"\n")


if __name__ == "__main__":
    main()
