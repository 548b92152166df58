"""Stored histories as text, in every spelling that JSON allows, and a plain reducer of them to compare with."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st


class Pairs(list[tuple[str, Any]]):
    """An object as it is written."""


TEXTS = st.sampled_from(
    [
        "",
        "short",
        "a text of some length",
        '","part_kind":"tool-return"}]',
        '{"tool_name":"t","content":[1,2,3],"part_kind":"tool-return"}',
        'ends in a backslash \\": "x',
        "naïve — 日本 🦀",
        "line\nbreak\ttab",
        '" : "',
    ]
)
KEYS = st.sampled_from(
    ["a", "content", "part_kind", "parts", "kind", "tool_name", "tool_call_id", 'q"', "b\\", "é", "metadata"]
)
LEAVES = st.one_of(
    TEXTS,
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.sampled_from([1e-7, 1e22, 0.1, -0.0, 123456.75, 2.5e-5]),
)


def objects(values: st.SearchStrategy[Any], keys: st.SearchStrategy[str] = KEYS) -> st.SearchStrategy[Any]:
    once = st.lists(st.tuples(keys, values), max_size=4, unique_by=lambda pair: pair[0])
    return st.one_of(once, once, once, st.lists(st.tuples(keys, values), max_size=4)).map(Pairs)


VALUES = st.recursive(LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=5), objects(inner)), max_leaves=8)
RETURN = {
    "tool_name": st.sampled_from(["explore", "explore", "explore", "final_result", "final_result_2", None]),
    "tool_call_id": st.sampled_from(["tool_0_explore", "tool_1_explore"]),
    "tool_kind": st.sampled_from([None, None, None, "tool-search"]),
    "metadata": st.one_of(
        st.none(),
        st.none(),
        VALUES,
        st.just(Pairs([("pydantic_ai_synthesized_tool_return", True)])),
        st.just("x" * 1500),
    ),
    "timestamp": st.just("2026-01-01T00:00:04.123456Z"),
    "outcome": st.sampled_from(["success", "success", "success", None, "failed", "denied", "interrupted", "retried"]),
}


@st.composite
def parts(draw: st.DrawFn) -> Any:
    kind = draw(
        st.sampled_from(
            ["tool-return"] * 4 + ["builtin-tool-return", "retry-prompt", "user-prompt", "text", "tool-call"]
        )
    )
    fields = [(name, draw(values)) for name, values in RETURN.items() if draw(st.integers(0, 9))]
    content = ("content", draw(VALUES))
    order = draw(st.sampled_from(["usual", "usual", "sorted", "any"]))
    fields.insert(1, content)
    fields.append(("part_kind", kind))
    if draw(st.integers(0, 19)) == 0:
        fields.append(("content", draw(VALUES)))
    if draw(st.integers(0, 19)) == 0:
        fields.remove(content)
    if order == "sorted":
        fields.sort(key=lambda pair: (len(pair[0]), pair[0]))
    elif order == "any":
        fields = draw(st.permutations(fields))
    return Pairs(fields)


@st.composite
def messages(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(["request", "request", "request", "response", "later-kind"]))
    fields = [("parts", draw(st.lists(parts(), max_size=3))), ("timestamp", "2026-01-01T00:00:04Z"), ("kind", kind)]
    if draw(st.integers(0, 19)) == 0:
        fields.append(("parts", draw(st.lists(parts(), max_size=1))))
    if draw(st.booleans()):
        fields.insert(0, fields.pop())
    return Pairs(fields)


@st.composite
def spellings(draw: st.DrawFn) -> Any:
    """How a text is written: what stands between its tokens, and how its strings are escaped."""
    style = draw(st.sampled_from(["compact", "compact", "spaced", "indented", "odd"]))
    ascii_only = draw(st.booleans())
    escaped = draw(st.integers(0, 11)) if draw(st.integers(0, 5)) == 0 else -1
    code = draw(st.sampled_from(["04x", "04X"]))

    def text(value: str) -> str:
        if escaped >= 0 and value and value.isascii():
            at = escaped % len(value)
            return f"{json.dumps(value[:at])[:-1]}\\u{ord(value[at]):{code}}{json.dumps(value[at + 1 :])[1:]}"
        return json.dumps(value, ensure_ascii=ascii_only)

    def write(value: Any, depth: int) -> str:
        line = {"indented": "\n" + "  " * depth, "odd": "\r\n\t "}.get(style, "")
        comma = ", " if style == "spaced" else ","
        colon = {"compact": ":", "odd": " :\n"}.get(style, ": ")
        if isinstance(value, Pairs):
            return (
                "{"
                + comma.join(f"{line}{text(key)}{colon}{write(item, depth + 1)}" for key, item in value)
                + line
                + "}"
            )
        if isinstance(value, list):
            return "[" + comma.join(line + write(item, depth + 1) for item in value) + line + "]"
        return text(value) if isinstance(value, str) else json.dumps(value)

    return lambda value: write(value, 1)


@st.composite
def histories(draw: st.DrawFn) -> str:
    write = draw(spellings())
    if draw(st.integers(0, 9)) == 0:
        return write(draw(messages()))
    mark = draw(st.sampled_from(["", "", "\ufeff", " \n"]))
    return mark + write(draw(st.lists(messages(), max_size=4))) + draw(st.sampled_from(["", "\n"]))


class Seen(dict[str, Any]):
    """An object as it was read, and the keys that it has twice."""

    twice: frozenset[str] = frozenset()


def seen(pairs: list[tuple[str, Any]]) -> Seen:
    value = Seen(pairs)
    keys = [key for key, _ in pairs]
    value.twice = frozenset(key for key in keys if keys.count(key) > 1)
    return value


def repeats(value: Any) -> bool:
    if isinstance(value, Seen):
        return bool(value.twice) or any(map(repeats, value.values()))
    return isinstance(value, list) and any(map(repeats, value))


def reference(text: str, reduce: Any) -> tuple[Any, int]:
    """Do what `reduce_json` does, slowly and plainly, on the parsed history: the history reduced, and how many contents
    changed.
    """
    history = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=seen)
    changes = 0
    for message in history if isinstance(history, list) else [history]:
        for part in message["parts"] if message["kind"] == "request" else []:
            tool = part.get("tool_name")
            if (
                part.get("part_kind") == "tool-return"
                and isinstance(tool, str)
                and not tool.startswith("final_result")
                and part.get("outcome") in (None, "success")
                and part.get("tool_kind") is None
                and not (
                    isinstance(part.get("metadata"), dict) and "pydantic_ai_synthesized_tool_return" in part["metadata"]
                )
                and isinstance(part.get("content"), (str, list, dict))
                and not repeats(part["content"])
            ):
                new = reduce(tool, json.loads(json.dumps(part["content"])))
                changes += new != part["content"]
                part["content"] = new
    return history, changes


def history(content: str, more: str = "", kind: str = "request") -> bytes:
    """Write a history of one tool return."""
    fields = f'"tool_name":"t","content":{content},"tool_call_id":"c"{more},"part_kind":"tool-return"'
    return f'[{{"parts":[{{{fields}}}],"kind":"{kind}"}}]'.encode()
