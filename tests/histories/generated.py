"""Stored histories in many spellings, each before and after `shorter` reduces its contents, as strategies."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from reducer.histories.source import encode
from tests.histories.messages import (
    TIME,
    TURNS,
    answer,
    codex,
    gemini,
    openai_chat,
    openai_responses,
    opentelemetry,
    shorter,
    vercel_ai,
)

TEXTS = st.sampled_from([
    "", "short", "a text of some length", '","part_kind":"tool-return"}]', 'ends in a backslash \\": "x',
    '{"tool_name":"t","content":[1,2,3],"part_kind":"tool-return"}', "naïve — 日本 🦀", "line\nbreak\ttab", '" : "',
])  # fmt: skip
KEYS = st.sampled_from(["a", "content", "part_kind", "parts", "kind", "tool_name", 'q"', "b\\", "é", "metadata"])
NUMBERS = st.integers(-(10**30), 10**30) | st.sampled_from([1e-7, 1e22, 0.1, -0.0, 123456.75, 2.5e-5])
VALUES = st.recursive(
    TEXTS | NUMBERS | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)
CONTENTS = VALUES | st.lists(VALUES, min_size=3, max_size=5) | st.just("a text of some length")
ENCODED = TEXTS | VALUES.map(json.dumps)
STYLES = [{}, {"ensure_ascii": False, "separators": (",", ":")}, {"indent": 1, "separators": (", ", " :\r\n\t")}]
SPELLINGS = [
    *[("", "")] * 4,
    ('"content"', '"con\\u0074ent"'),
    ('"content"', '"content":[7,8,9],"con\\u0074ent"'),  # the last of several keys counts
    ('"parts"', '"parts":[],"p\\u0061rts"'),
    ('"kind"', '"kind":"later-kind","kind"'),
]
HARMLESS = st.fixed_dictionaries(
    {}, optional={"metadata": VALUES, "outcome": st.sampled_from([None, "success"]), "tool_kind": st.none()}
)
UNTOUCHED = [
    *({"outcome": "failed"}, {"tool_kind": "tool-search"}, {"metadata": {"pydantic_ai_synthesized_tool_return": True}}),
    *({"part_kind": kind} for kind in ("builtin-tool-return", "retry-prompt", "user-prompt", "text")),
    *({"tool_name": name} for name in ("final_result", "final_result_2", None)),
]
Content = Callable[..., Any]
"""Draws a content, by default of any kind; takes whether rules may change it."""


@st.composite
def histories(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Draw a history of any format, before and after its contents are reduced."""
    contents: list[Any] = []

    def content(is_reducible: bool, values: st.SearchStrategy[Any] = CONTENTS) -> Any:
        value = draw(values)
        if not is_reducible or not isinstance(value, (str, list, dict)):
            return value
        contents.append(value)
        return f"content {len(contents) - 1}"  # `written` puts the JSON of the content there

    def written(texts: list[str]) -> bytes:
        return re.sub('"content ([0-9]+)"', lambda name: texts[int(name[1])], template).encode()

    turn = draw(st.sampled_from([request_or_response, session_message, *TURNS.values()]))
    turns = [turn_of(turn, draw, content) for _ in range(draw(st.integers(1, 3)))]
    messages = [message for turn in turns for message in turn]
    history = draw(st.sampled_from([messages, messages, messages[0], {"id": "s", "messages": messages}]))
    styles = [draw(st.sampled_from(STYLES)) for _ in range(2)]
    template = draw(st.sampled_from(["", "", "\ufeff", " \n"])) + json.dumps(history, **styles[0])
    template = template.replace(*draw(st.sampled_from(SPELLINGS)))
    before = [json.dumps(one, **styles[1]) for one in contents]
    reduced = [shorter("t", one) for one in contents]
    after = [
        text if new is old else encode(new).decode() for text, old, new in zip(before, contents, reduced, strict=True)
    ]
    return written(before), written(after)


def turn_of(turn: Any, draw: st.DrawFn, content: Content) -> list[dict[str, Any]]:
    """Return the messages of a turn; a text format stores a content as a text or as a list of parts."""
    if turn not in TURNS.values():
        return [turn(draw, content)]
    call_id, fails = draw(st.sampled_from(["call_1", "call_2"])), draw(st.sampled_from([False] * 5 + [True]))
    tool = draw(st.sampled_from(["t"] * 8 + ["final_result"]))
    is_reducible = tool == "t" and not (fails and turn not in (openai_chat, openai_responses, codex, opentelemetry))
    if turn in (gemini, opentelemetry, vercel_ai):
        return turn(call_id, content(is_reducible), tool, fails)  # type: ignore[no-any-return]
    kind = "input_text" if turn in (openai_responses, codex) else "text"
    shape = draw(st.sampled_from(["text", "text", "parts", "odd"]))
    if shape == "text":
        return turn(call_id, content(is_reducible, ENCODED), tool, fails)
    image = {"type": "image", "source": {"text": "not a part"}}
    parts = [{"type": kind, "text": content(is_reducible, ENCODED)} for _ in range(draw(st.integers(1, 2)))]
    odd = draw(st.sampled_from([None, 7, [], [image], [None, 5, ["x"]], [{"type": kind, "text": 7}]]))
    return turn(call_id, [*parts, image] if shape == "parts" else odd, tool, fails)


def request_or_response(draw: st.DrawFn, content: Content) -> dict[str, Any]:
    kind = draw(st.sampled_from(["request"] * 4 + ["response", "later-kind"]))
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        untouched = draw(st.sampled_from([{}] * 10 + UNTOUCHED))
        part = answer("tool_0_t", content=content(kind == "request" and not untouched)) | draw(HARMLESS) | untouched
        parts.append(dict(draw(st.permutations(list(part.items())))))
    return {"parts": parts, "timestamp": TIME, "kind": kind}


def session_message(draw: st.DrawFn, content: Content) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    lists = draw(st.sampled_from([("parts",), ("activity_parts",), ("parts", "activity_parts")]))
    for number in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["tool_result", "tool_result", "tool_call", "thought"]))
        part: dict[str, Any] = {"type": "activity", "activity_type": kind, "results": []}
        details = []
        has_details = "parts" in lists and draw(st.booleans())
        for nth in range(draw(st.integers(0, 2))):
            tool = draw(st.sampled_from(["t"] * 8 + ["final_result", None]))
            is_error = draw(st.sampled_from([None, *[False] * 5, True]))
            status = draw(st.sampled_from([None, *["success"] * 5, "error"])) if has_details else None
            is_reducible = kind != "thought" and tool == "t" and not is_error and status != "error"
            result = {"name": tool, "content": content(is_reducible), "call_id": f"call_{number}_{nth}"}
            part["results"].append(result | ({} if is_error is None else {"is_error": is_error}))
            details.append({"function_name": tool, "raw_result": content(is_reducible), "status": status})
        parts.append(part | ({"technical_details": details} if has_details else {}))
    older = [{"type": part["activity_type"], "results": part["results"]} for part in parts]
    both = {"parts": parts, "activity_parts": older}
    return {"role": "assistant", "text_content": draw(TEXTS)} | {name: both[name] for name in lists}
