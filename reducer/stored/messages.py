"""PydanticAI's own messages as they are stored: which they are, and the tool returns in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any

from reducer.errors import HistoryError
from reducer.stored.outline import NO_CONTENT, Kept, careful, kept
from reducer.stored.text import JsonText, follow, scan

Found = tuple[int, int, dict[str, Any], Any, int, int, str, tuple[Kept, ...]]
"""One tool return: its place among the messages and parts, its other fields by PydanticAI's names, its content, where the JSON of that
starts and ends, why it cannot be written back without loss (empty when it can), and the other places where the same return stands.
A bare tuple: a named one takes 0.3 µs more to make."""

Refuse = Callable[[object, int], HistoryError]

_B = r"[ \t\n\r]*+"
_SHORT = r'"([^"\\\x00-\x1f]*+)"'
_ANY = r'"(?:[^"\\\x00-\x1f]++|\\.)*+"'
_FLAT = rf"(?:{_ANY} ?: ?(?:{_ANY}|null),{_B})"
# How a request with a tool return starts in every dump of PydanticAI, and where keys were sorted (by length in JSONB).
_FIRST = re.compile(
    rf'\{{{_B}(?:"parts" ?: ?\[{_B}\{{{_B}"tool_name" ?: ?{_SHORT},{_B}'
    rf'|({_FLAT}{{1,6}}?)"parts" ?: ?\[{_B}\{{{_B}({_FLAT}{{0,6}}?))"content" ?: ?(?! )'
)
_NEXT = re.compile(rf'{_B},{_B}\{{{_B}(?:"tool_name" ?: ?{_SHORT},{_B}|({_FLAT}{{0,6}}?))"content" ?: ?(?! )')
_TEXT = ('{"parts":[{"content":', '{"parts": [{"content":')
_TAIL = 1000
"""Characters within which the members after a content, or after the parts, end as a rule: they take some 250."""


def is_message(item: object) -> bool:
    """Tell whether a value is a message of PydanticAI, of any kind and era."""
    return type(item) is dict and "parts" in item and type(item.get("kind")) is str


def tool_returns(message: dict[str, Any], index: int) -> list[Found]:
    """Give the tool returns of a message that was read piece by piece, so that its contents are kept aside."""
    parts = message["parts"]
    if type(parts) is not list:
        raise HistoryError(f"not a history: found {described(parts)} as `parts`, expected a list")
    found: list[Found] = []
    for number, part in enumerate(parts if message["kind"] == "request" else ()):
        if type(part) is dict and part.get("part_kind") == "tool-return":
            start, end, value, flaw = part.get("content", NO_CONTENT)
            found.append((index, number, part, value, start, end, flaw, ()))
    return found


def read_list(source: JsonText, start: int, index: int, refuse: Refuse) -> Generator[Found, None, int]:
    """Read the list of messages at `start`, counting them from `index`; gives the index after the last one. `source.at` is then the list's end.

    Raises what `refuse(value, number)` gives for an item that is no message; `number` counts from 0.
    """
    # The hot loop: a message without tool returns costs one regex, one scan and a look at its parts; 15% on top of `json.loads`.
    text = source.text
    first = _FIRST.match
    at = source.white(start + 1)
    first_index = index
    while True:
        # Two looks that spare most messages the regex, 0.5 µs each: one starts with a text, the other with a tool call.
        plain = text.startswith(_TEXT, at) or text.find('"args"', at, at + 120) >= 0
        match = None if plain else first(text, at)
        if match is None or (match[2] is not None and '"request"' not in match[2]):
            try:
                whole, end = scan(text, at)
                kind = whole["kind"]
                parts = whole["parts"]
                usual = type(parts) is list and (kind == "response" or (type(kind) is str and not _holds_returns(parts)))
            except (StopIteration, ValueError, RecursionError, KeyError, TypeError):
                usual = False
            if not usual:
                found, end = _message(source, at, index, index - first_index, refuse)
                yield from found
        else:
            found, end = _usual(source, match, index) or _message(source, at, index, index - first_index, refuse)
            yield from found
        index += 1
        if text.startswith(",{", end):
            at = end + 1
            continue
        at, more = follow(text, end)
        if not more:
            source.at = at
            return index


def _message(source: JsonText, start: int, index: int, number: int, refuse: Refuse) -> tuple[list[Found], int]:
    message, end = careful(source, start)
    if not is_message(message):
        raise refuse(message, number)
    return tool_returns(message, index), end


def _usual(source: JsonText, match: re.Match[str], index: int) -> tuple[list[Found], int] | None:
    """Read a message from where `_FIRST` matched; None when it does not go on as usual.

    One flat function: with a method call for each step, histories of short texts took 60% longer.
    """
    text = source.text
    at = match.end()
    tool, outer, inner = match.groups()
    found: list[Found] = []
    number = 0
    try:
        while True:
            if text[at] == '"':
                content, end = scan(text, at)
                flaw = ""
            else:
                content, end, flaw = kept(source, at)
            if text[end] != ",":
                return None
            # The comma gives way to a brace.
            fields, length = scan("{" + text[end + 1 : end + _TAIL], 0)
            if not fields or "content" in fields:
                return None
            if tool is not None:
                fields.setdefault("tool_name", tool)
            elif inner:
                fields = {**_flat(inner), **fields}
                if "content" in fields:  # its name was written with escapes
                    return None
            if fields.get("part_kind") == "tool-return":
                found.append((index, number, fields, content, at, end, flaw, ()))
            end += length
            while text[end] != "]":
                number += 1
                following = _NEXT.match(text, end)
                if following is not None:
                    at = following.end()
                    tool, inner = following.groups()
                    break
                end = source.white(end)
                if text[end] == ",":
                    part, end = scan(text, source.white(end + 1))
                    if type(part) is dict and part.get("part_kind") == "tool-return":
                        return None
                elif text[end] != "]":
                    return None
            else:
                break
        end += 1
        if text[end] != ",":
            return None
        fields, length = scan("{" + text[end + 1 : end + _TAIL], 0)
        if outer is not None:
            fields = {**_flat(outer), **fields}
    except (StopIteration, ValueError, RecursionError, IndexError):
        return None
    kind = fields.get("kind")
    if "parts" in fields or type(kind) is not str:
        return None
    return found if kind == "request" else [], end + length


def _flat(members: str) -> dict[str, Any]:
    """Read some members of an object, each with a comma after it."""
    fields: dict[str, Any] = scan("{" + members + '"":0}', 0)[0]
    del fields[""]
    return fields


def _holds_returns(parts: list[Any]) -> bool:
    for part in parts:  # noqa: SIM110  # `any` over a generator takes three times as long for the usual one or two parts
        if type(part) is dict and part.get("part_kind") == "tool-return":
            return True
    return False


def described(value: object) -> str:
    """Name what was found in place of a message or its parts."""
    if isinstance(value, dict):
        keys = ", ".join(key if len(key) <= 30 else f"{key[:29]}…" for key in list(value)[:6])
        return f"an object with the keys {keys}{', …' if len(value) > 6 else ''}" if value else "an empty object"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return "a list" if isinstance(value, list) else "a text" if isinstance(value, str) else "a number"
