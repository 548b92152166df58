"""Stored histories in every spelling that JSON allows, as strategies."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st


class Members(list[tuple[str, Any]]):
    """An object whose keys may repeat."""


TEXTS = st.sampled_from([
    "", "short", "a text of some length", '","part_kind":"tool-return"}]', 'ends in a backslash \\": "x',
    '{"tool_name":"t","content":[1,2,3],"part_kind":"tool-return"}', "naïve — 日本 🦀", "line\nbreak\ttab", '" : "',
])  # fmt: skip
KEYS = st.sampled_from(["a", "content", "part_kind", "parts", "kind", "tool_name", 'q"', "b\\", "é", "metadata"])
FLOATS = st.sampled_from([1e-7, 1e22, 0.1, -0.0, 123456.75, 2.5e-5])
LEAVES = st.one_of(TEXTS, st.none(), st.booleans(), st.integers(-(10**30), 10**30), FLOATS)


def objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    once = st.dictionaries(KEYS, values, max_size=4)
    return st.one_of(once, once, once, st.lists(st.tuples(KEYS, values), max_size=4).map(Members))


VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=5) | objects(inner), max_leaves=8)
CONTENTS = VALUES | st.lists(VALUES, min_size=3, max_size=5) | st.just("a text of some length")
RETURN = {
    "tool_name": st.sampled_from(["explore"] * 12 + ["final_result", "final_result_2", None]),
    "tool_call_id": st.sampled_from(["tool_0_explore", "tool_1_explore"]),
    "tool_kind": st.sampled_from([None] * 7 + ["tool-search"]),
    "metadata": st.none() | VALUES | st.sampled_from([{"pydantic_ai_synthesized_tool_return": True}, "x" * 1500]),
    "timestamp": st.just("2026-01-01T00:00:04.123456Z"),
    "outcome": st.sampled_from(["success"] * 12 + [None, "failed", "denied", "retried"]),
    "part_kind": st.sampled_from(["tool-return"] * 12 + ["builtin-tool-return", "retry-prompt", "user-prompt", "text"]),
}


def sometimes(draw: st.DrawFn) -> bool:
    return draw(st.integers(0, 19)) == 7


@st.composite
def parts(draw: st.DrawFn) -> Members:
    fields = [(name, draw(values)) for name, values in RETURN.items() if name == "part_kind" or not sometimes(draw)]
    if not sometimes(draw):
        fields.insert(1, ("content", draw(CONTENTS)))
    if sometimes(draw):
        fields.append(("content", draw(VALUES)))
    return Members(draw(st.sampled_from([fields, sorted(fields, key=lambda pair: pair[0]), fields[::-1]])))


@st.composite
def messages(draw: st.DrawFn) -> Members:
    kind = draw(st.sampled_from(["request", "request", "request", "response", "later-kind"]))
    listed = draw(st.lists(parts(), min_size=1, max_size=3))
    fields = [("parts", listed), ("timestamp", "2026-01-01T00:00:04Z"), ("kind", kind)]
    if sometimes(draw):
        fields.append(("parts", draw(st.lists(parts(), max_size=1))))
    return Members(fields if draw(st.booleans()) else [fields[-1], *fields[:-1]])


@st.composite
def spellings(draw: st.DrawFn) -> Callable[[Any], str]:
    """Write JSON with one style of white space and one style of escapes."""
    style = draw(st.sampled_from(["compact", "compact", "spaced", "indented", "odd"]))
    ascii_only = draw(st.booleans())
    escaped = draw(st.integers(0, 11)) if draw(st.integers(0, 5)) == 0 else -1
    code = draw(st.sampled_from(["04x", "04X"]))
    comma = ", " if style == "spaced" else ","
    colon = {"compact": ":", "odd": " :\n"}.get(style, ": ")

    def text(value: str) -> str:
        if escaped >= 0 and value and value.isascii():
            at = escaped % len(value)
            return f"{json.dumps(value[:at])[:-1]}\\u{ord(value[at]):{code}}{json.dumps(value[at + 1 :])[1:]}"
        return json.dumps(value, ensure_ascii=ascii_only)

    def write(value: Any, depth: int = 1) -> str:
        line = {"indented": "\n" + "  " * depth, "odd": "\r\n\t "}.get(style, "")
        if isinstance(value, (dict, Members)):
            members = value.items() if isinstance(value, dict) else value
            written = [f"{line}{text(key)}{colon}{write(item, depth + 1)}" for key, item in members]
            return f"{{{comma.join(written)}{line}}}"
        if isinstance(value, list):
            return f"[{comma.join(line + write(item, depth + 1) for item in value)}{line}]"
        return text(value) if isinstance(value, str) else json.dumps(value)

    return write


@st.composite
def histories(draw: st.DrawFn) -> str:
    write = draw(spellings())
    if draw(st.integers(0, 9)) == 0:
        return write(draw(messages()))
    mark = draw(st.sampled_from(["", "", "\ufeff", " \n"]))
    return mark + write(draw(st.lists(messages(), min_size=1, max_size=4))) + draw(st.sampled_from(["", "\n"]))
