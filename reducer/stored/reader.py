"""Finds the tool returns in the text of a stored history: their fields, their contents, and where each content stands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from json.decoder import JSONDecodeError, scanstring
from typing import Any, NamedTuple

from reducer.errors import HistoryError

MAX_NESTING = 10_000
"""Levels of nesting past which a history is refused. What the interpreter cannot read up to here is passed over."""

KINDS = frozenset({"tool-return", "builtin-tool-return"})
"""The part kinds that answer a tool call with a content (a retry is no answer)."""


class Content(NamedTuple):
    """The content of a part: decoded, and where its JSON stands in the text."""

    value: Any
    start: int
    end: int
    flaw: str  # why it cannot be written back without loss; empty when it can


class Found(NamedTuple):
    """One tool return: the place and `kind` of its message, its place among the parts, its fields and every content it has."""

    message: int
    kind: str
    part: int
    fields: dict[str, Any]
    contents: list[Content]


def read(text: str) -> Iterator[Found]:
    """Read a JSON list of messages, or one message. Raises `HistoryError` at the place where the text is something else."""
    reader = _Reader(text)
    try:
        at = reader.white(1 if text.startswith("\ufeff") else 0)
        if at == len(text):
            raise HistoryError("empty: expected a list of messages")
        if text[at] == "{":
            found, end = reader.message(at, 0, "")
            yield from found
        elif text[at] == "[":
            index = 0
            for start in reader.items(at):
                found, reader.at = reader.message(start, index, f"message {index + 1} is none: ")
                yield from found
                index += 1
            end = reader.at
        else:
            value, end = reader.value(at)
            reader.finish(end)
            raise HistoryError(f"not a history: found {_described(value)}, expected {_EXPECTED}")
        reader.finish(end)
    except JSONDecodeError as error:
        raise _not_json(text, error) from None


_EXPECTED = "a list of messages, each an object with `kind` and `parts`"
_B = r"[ \t\n\r]*"
_WHITE = re.compile(_B)
_SHORT = r'"([^"\\\x00-\x1f]*)"'
# How a request with a tool return starts in every dump of PydanticAI, and where a database sorted keys by length (JSONB).
_FIRST = re.compile(
    rf'\{{{_B}(?:"parts"{_B}:{_B}\[{_B}\{{{_B}"tool_name"{_B}:{_B}{_SHORT}{_B},{_B}'
    rf'|"kind"{_B}:{_B}"(request)"{_B},{_B}"parts"{_B}:{_B}\[{_B}\{{{_B})"content"{_B}:{_B}'
)
_NEXT = re.compile(rf'{_B},{_B}\{{{_B}(?:"tool_name"{_B}:{_B}{_SHORT}{_B},{_B})?"content"{_B}:{_B}')
_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]|[\]}]', re.DOTALL)
_TAIL = 1000
"""Characters within which the members after a content, or after the parts, end as a rule: they take some 250."""
_SAMPLE = 400
_DENSE = 8
"""A content with this many keys in its first `_SAMPLE` characters is checked for repeated keys by counting, else key by key."""
_DEEP = "it is nested too deep to be read"
_HUGE = "it has a number of more digits than can be read"
_REPEATED = "it has an object with the same key twice"


class _Reader:
    """Reads one text with the C scanner of `json`: one call for a message without tool returns, a few for one with some.

    A request that starts as usual is read part by part: the content, then the members after it as an object of their own, on a
    short piece of the text. What looks otherwise is walked member by member.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.keys = 0
        self.repeated = False
        self.scan = _scanner(json.JSONDecoder())
        self.counting = _scanner(json.JSONDecoder(object_hook=self._count))
        self.pairing = _scanner(json.JSONDecoder(object_pairs_hook=self._pair))
        self.lenient = _scanner(json.JSONDecoder(parse_int=_integer))

    def _count(self, value: dict[str, Any]) -> dict[str, Any]:
        self.keys += len(value)
        return value

    def _pair(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            self.repeated = True
        return value

    def message(self, start: int, index: int, where: str) -> tuple[list[Found], int]:
        """Read the message at `start`: its tool returns, and its end."""
        text = self.text
        match = _FIRST.match(text, start)
        usual = None if match is None else self.usual(match, index)
        if usual is not None:
            return usual
        try:
            whole, end = self.scan(text, start)
        except (StopIteration, ValueError, RecursionError):
            whole, end = None, 0
        if end == 0 and text[start : start + 1] != "{":
            whole, end = self.value(start)
        elif end == 0 or _holds_returns(whole):
            whole, lists, end = self.members(start, "parts", self.parts)
            if lists and type(whole.get("kind")) is str:
                # With two members called `parts` readers take the last; what the writer meant is unknown, so none is touched.
                found = lists[0] if len(lists) == 1 else []
                return [Found(index, whole["kind"], *part) for part in found], end
            whole["parts"] = lists or None
        if type(whole) is dict and type(whole.get("kind")) is str and type(whole.get("parts")) is list:
            return [], end
        if not where:
            self.finish(end)
        raise HistoryError(f"not a history: {where}found {_described(whole)}, expected {_EXPECTED}")

    def usual(self, match: re.Match[str], index: int) -> tuple[list[Found], int] | None:
        """Read a message from where `_FIRST` matched; None when it goes on in another way than usual."""
        text = self.text
        kind = match[2]
        found: list[tuple[int, dict[str, Any], list[Content]]] = []
        number = 0
        following: re.Match[str] | None = match
        while True:
            if following is not None:
                content, at = self.content(following.end())
                fields, at = self.rest(at)
                if not fields or "content" in fields:
                    return None
                if fields.get("part_kind") in KINDS:
                    if following[1] is not None:
                        fields.setdefault("tool_name", following[1])
                    found.append((number, fields, [content]))
            else:
                at = self.white(at)
                if text[at : at + 1] == "]":
                    break
                part, at = self.rest(at, whole=True)
                if type(part) is not dict or part.get("part_kind") in KINDS:
                    return None
            number += 1
            following = _NEXT.match(text, at)
        fields, at = self.rest(at + 1)
        if not fields or "parts" in fields:
            return None
        kind = fields.get("kind", kind)
        return None if type(kind) is not str else ([Found(index, kind, *part) for part in found], at)

    def rest(self, at: int, whole: bool = False) -> tuple[Any, int]:
        """Read what follows a comma: the other members of the object, or the `whole` next item; None when it cannot be read."""
        text = self.text
        if text[at : at + 1] != ",":
            at = self.white(at)
            if text[at : at + 1] != ",":
                return None, at
        try:
            if whole:
                return self.scan(text, self.white(at + 1))
            # The comma gives way to a brace.
            fields, length = self.scan("{" + text[at + 1 : at + _TAIL], 0)
        except (StopIteration, ValueError, RecursionError):
            return None, at
        return fields, at + length

    def parts(self, start: int) -> tuple[list[tuple[int, dict[str, Any], list[Content]]], int]:
        """Read the list of parts at `start`: the tool returns in it, and its end."""
        text = self.text
        if text[start : start + 1] != "[":
            value, _ = self.value(start)
            raise HistoryError(f"not a history: found {_described(value)} as `parts`, expected a list")
        found = []
        for number, at in enumerate(self.items(start)):
            if text[at : at + 1] == "{":
                fields, contents, self.at = self.members(at, "content", self.content)
                if fields.get("part_kind") in KINDS:
                    found.append((number, fields, contents))
            else:
                _, self.at = self.value(at)
        return found, self.at

    def content(self, start: int) -> tuple[Content, int]:
        """Read the content at `start`, and whether it can be written back without loss."""
        text = self.text
        flaw = ""
        try:
            if text[start : start + 1] not in ("{", "["):
                value, end = self.scan(text, start)
            elif text.count('":', start, start + _SAMPLE) >= _DENSE:
                # A hook for pairs costs 50% more than the parsing (3.11), these counts below 15%. Where much text stands between
                # few keys it is the other way round.
                self.keys = 0
                value, end = self.counting(text, start)
                if not self.distinct(start, end):
                    flaw = _REPEATED
            else:
                self.repeated = False
                value, end = self.pairing(text, start)
                if self.repeated:
                    flaw = _REPEATED
        except JSONDecodeError:
            raise
        except ValueError:
            (value, end), flaw = self.value(start), _HUGE
        except (StopIteration, RecursionError):
            (value, end), flaw = self.value(start), _DEEP
        return Content(value, start, end, flaw), end

    def distinct(self, start: int, end: int) -> bool:
        """Tell whether the content that was just counted has as many keys as are written in it."""
        text = self.text
        # A key ends in `":`; so may a piece of a text, written `\":`, and a key that ends in a backslash looks like one.
        surplus = text.count('":', start, end) - self.keys
        if surplus and (surplus != text.count('\\":', start, end) or text.find('\\\\":', start, end) >= 0):
            surplus = -1
        if surplus >= 0 and text.find('" :', start, end) < 0:
            rare = (blank for blank in "\n\t\r" if text.find(blank, start, end) >= 0)
            if all(text.find(f'"{blank}:', start, end) < 0 for blank in rare):
                return True
        self.repeated = False
        self.pairing(text, start)
        return not self.repeated

    def members(self, at: int, long: str, read: Callable[[int], tuple[Any, int]]) -> tuple[dict[str, Any], list[Any], int]:
        """Read the object at `at`: its members but those called `long`, what `read` gives for each of those, and its end."""
        text = self.text
        fields: dict[str, Any] = {}
        values = []
        opened, at = at, self.white(at + 1)
        mark = text[at : at + 1]
        if mark == "}":
            return fields, values, at + 1
        while True:
            if mark != '"':
                raise JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
            key, at = scanstring(text, at + 1, True)
            at = self.white(at)
            if text[at : at + 1] != ":":
                raise JSONDecodeError("Expecting ':' delimiter", text, at)
            at = self.white(at + 1)
            if key == long:
                value, at = read(at)
                values.append(value)
            else:
                fields[key], at = self.value(at)
            at = self.white(at)
            mark = text[at : at + 1]
            if mark == "}":
                return fields, values, at + 1
            if mark != ",":
                raise JSONDecodeError("Expecting ',' delimiter", text, at)
            at = self.white(at + 1)
            mark = text[at : at + 1]

    def items(self, start: int) -> Iterator[int]:
        """Give the start of each item of the list at `start`; who reads the item sets `at` to its end."""
        text = self.text
        at = self.white(start + 1)
        if text[at : at + 1] == "]":
            self.at = at + 1
            return
        while True:
            yield at
            at = self.at
            mark = text[at : at + 1]
            if mark != "," and mark != "]":
                at = self.white(at)
                mark = text[at : at + 1]
            if mark == "]":
                self.at = at + 1
                return
            if mark != ",":
                raise JSONDecodeError("Expecting ',' delimiter", text, at)
            at += 1
            if text[at : at + 1] != "{":
                at = self.white(at)

    def value(self, start: int) -> tuple[Any, int]:
        """Read any value; one that is nested too deep is passed over and given as None, a number of too many digits as 0."""
        text = self.text
        try:
            try:
                return self.scan(text, start)
            except JSONDecodeError:
                raise
            except ValueError:
                return self.lenient(text, start)
        except StopIteration as error:
            raise JSONDecodeError("Expecting value", text, error.value) from None
        except RecursionError:
            return None, self.skip(start)

    def skip(self, start: int) -> int:
        """Find the end of a list or object without reading it. Raises `HistoryError` past `MAX_NESTING` levels."""
        depth = 0
        for token in _TOKENS.finditer(self.text, start):
            mark = token[0]
            if mark in "[{":
                depth += 1
                if depth > MAX_NESTING:
                    raise HistoryError(f"nested deeper than {MAX_NESTING:,} levels at {_place(self.text, token.start())}")
            elif mark in "]}":
                depth -= 1
                if depth == 0:
                    return token.end()
        raise JSONDecodeError("Unterminated list or object starting at", self.text, start)

    def white(self, at: int) -> int:
        found = _WHITE.match(self.text, at)
        return found.end() if found else at

    def finish(self, at: int) -> None:
        at = self.white(at)
        if at != len(self.text):
            raise JSONDecodeError("Extra data", self.text, at)


def _scanner(decoder: json.JSONDecoder) -> Callable[[str, int], tuple[Any, int]]:
    scan: Callable[[str, int], tuple[Any, int]] = decoder.scan_once  # type: ignore[attr-defined]
    return scan


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python reads no more than 4,300 digits
        return 0


def _holds_returns(message: Any) -> bool:
    parts = message.get("parts") if type(message) is dict else None
    if type(parts) is list:
        for part in parts:
            if type(part) is dict and part.get("part_kind") in KINDS:
                return True
    return False


def _place(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def _not_json(text: str, error: JSONDecodeError) -> HistoryError:
    rest = text[error.pos : error.pos + 12].strip(" \t\n\r")
    word = any(literal.startswith(rest) for literal in ("true", "false", "null", "NaN", "Infinity", "-Infinity"))
    escape = error.msg.startswith("Invalid \\") and '"' not in text[error.pos + 1 :]
    if error.msg.startswith("Unterminated") or word or escape:  # an empty rest counts as a word
        return HistoryError(f"cut off: the text ends at {_place(text, len(text))}, in the middle of a history")
    message = error.msg.removesuffix(" at").removesuffix(" starting")
    return HistoryError(f"not JSON: {message} at {_place(text, error.pos)}")


def _described(value: object) -> str:
    if isinstance(value, dict):
        keys = ", ".join(key if len(key) <= 30 else f"{key[:29]}…" for key in list(value)[:6])
        return f"an object with the keys {keys}{', …' if len(value) > 6 else ''}" if value else "an empty object"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return "a list" if isinstance(value, list) else "a text" if isinstance(value, str) else "a number"
