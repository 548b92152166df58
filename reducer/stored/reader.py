"""Finds the tool returns in the text of a stored history: their fields, their contents, and where each content stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from json.decoder import JSONDecodeError
from typing import Any

from reducer.errors import HistoryError
from reducer.stored.text import JsonText, place, scan

Found = tuple[int, int, dict[str, Any], Any, int, int, str]
"""One tool return: its place among the messages and parts, its other fields, its content, where the JSON of that starts and ends,
and why it cannot be written back without loss (empty when it can). A bare tuple: a named one takes 0.3 µs more to make."""


def read(text: str) -> Iterator[Found]:
    """Read a JSON list of messages, or one message. Raises `HistoryError` at the place where the text is something else."""
    source = JsonText(text)
    try:
        at = source.white(1 if text.startswith("\ufeff") else 0)
        if at == len(text):
            raise HistoryError("empty: expected a list of messages")
        if text[at] == "[":
            yield from _messages(source, at)
        elif text[at] == "{":
            found, source.at = _message(source, at, -1)
            yield from found
        else:
            value, source.at = source.value(at)
            source.finish()
            raise HistoryError(f"not a history: found {_described(value)}, expected {_EXPECTED}")
        source.finish()
    except JSONDecodeError as error:
        raise _not_json(text, error) from None


def _messages(source: JsonText, start: int) -> Iterator[Found]:
    # The hot loop: a message without tool returns costs one regex, one scan and a look at its parts; 15% on top of `json.loads`.
    text = source.text
    first = _FIRST.match
    at = source.white(start + 1)
    if text[at : at + 1] == "]":
        source.at = at + 1
        return
    index = 0
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
                found, end = _message(source, at, index)  # it finds the returns, or says what is wrong and where
                yield from found
        else:
            found, end = _usual(source, match, index) or _message(source, at, index)
            yield from found
        index += 1
        if text.startswith(",{", end):
            at = end + 1
            continue
        at = source.white(end)
        mark = text[at : at + 1]
        if mark == "]":
            source.at = at + 1
            return
        if mark != ",":
            raise JSONDecodeError("Expecting ',' delimiter", text, at)
        at = source.white(at + 1)


_EXPECTED = "a list of messages, each an object with `kind` and `parts`"
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
_SAMPLE = 400
_DENSE = 8
"""A content with this many keys in its first `_SAMPLE` characters is checked for repeated keys by counting, else key by key."""


def _message(source: JsonText, start: int, index: int) -> tuple[list[Found], int]:
    """Read the message at `start`: its tool returns, and its end. `index` is -1 for a message that stands alone.

    Raises `HistoryError` for anything else.
    """
    if source.text[start : start + 1] == "{":
        whole, lists, end = source.members(start, "parts", partial(_parts, source))
        kind = whole.get("kind")
        if lists and type(kind) is str:
            # With two members called `parts` readers take the last; what the writer meant is unknown, so none is touched.
            found = lists[0] if len(lists) == 1 and kind == "request" else []
            return [(index, *rest) for _, *rest in found], end
        described = _described({**whole, "parts": None} if lists else whole)
    else:
        value, end = source.value(start)
        described = _described(value)
    if index < 0:
        source.at = end
        source.finish()
    where = "" if index < 0 else f"message {index + 1} is none: "
    raise HistoryError(f"not a history: {where}found {described}, expected {_EXPECTED}")


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
                content, end, flaw = _content(source, at)
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
                found.append((index, number, fields, content, at, end, flaw))
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


def _parts(source: JsonText, start: int) -> tuple[list[Found], int]:
    """Read the list of parts at `start`: the tool returns in it, and its end."""
    text = source.text
    if text[start : start + 1] != "[":
        value, _ = source.value(start)
        raise HistoryError(f"not a history: found {_described(value)} as `parts`, expected a list")
    found: list[Found] = []
    for number, at in enumerate(source.items(start)):
        if text[at : at + 1] == "{":
            fields, contents, source.at = source.members(at, "content", partial(_placed_content, source))
            if fields.get("part_kind") == "tool-return":
                content, begin, end, flaw = contents[-1] if contents else (None, at, at, "")
                flaw = "it has two contents" if len(contents) > 1 else flaw
                found.append((0, number, fields, content, begin, end, flaw))
        else:
            _, source.at = source.value(at)
    return found, source.at


def _placed_content(source: JsonText, start: int) -> tuple[tuple[Any, int, int, str], int]:
    content, end, flaw = _content(source, start)
    return (content, start, end, flaw), end


def _content(source: JsonText, start: int) -> tuple[Any, int, str]:
    """Read the content at `start`: its value, its end, and why it cannot be written back without loss, if so."""
    text = source.text
    try:
        if text[start : start + 1] not in ("{", "["):
            return *scan(text, start), ""
        # A hook for pairs costs 50% more than the parsing (3.11), counting below 15%. Where much text stands between few keys
        # it is the other way round.
        dense = text.count('":', start, start + _SAMPLE) >= _DENSE
        value, end, distinct = source.counted(start) if dense else source.paired(start)
        return value, end, "" if distinct else "an object in it has the same key twice"
    except JSONDecodeError:
        raise
    except RecursionError:
        return *source.value(start), "it is nested too deep to be read"
    except (ValueError, StopIteration):
        return *source.value(start), "a number in it has more digits than can be read"


def _holds_returns(parts: list[Any]) -> bool:
    for part in parts:  # noqa: SIM110  # `any` over a generator takes three times as long for the usual one or two parts
        if type(part) is dict and part.get("part_kind") == "tool-return":
            return True
    return False


def _not_json(text: str, error: JSONDecodeError) -> HistoryError:
    rest = text[error.pos : error.pos + 12].strip(" \t\n\r")
    word = any(literal.startswith(rest) for literal in ("true", "false", "null", "NaN", "Infinity", "-Infinity"))
    escape = error.msg.startswith("Invalid \\") and '"' not in text[error.pos + 1 :]
    if error.msg.startswith("Unterminated") or word or escape:  # an empty rest counts as a word
        return HistoryError(f"cut off: the text ends at {place(text, len(text))}, in the middle of a history")
    message = error.msg.removesuffix(" at").removesuffix(" starting")
    return HistoryError(f"not JSON: {message} at {place(text, error.pos)}")


def _described(value: object) -> str:
    if isinstance(value, dict):
        keys = ", ".join(key if len(key) <= 30 else f"{key[:29]}…" for key in list(value)[:6])
        return f"an object with the keys {keys}{', …' if len(value) > 6 else ''}" if value else "an empty object"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return "a list" if isinstance(value, list) else "a text" if isinstance(value, str) else "a number"
