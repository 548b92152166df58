"""Finds the tool returns in the text of a stored history: their fields, their contents, and where each content stands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from json.decoder import JSONDecodeError
from typing import Any

from reducer.errors import HistoryError

MAX_NESTING = 10_000
"""Levels of nesting past which a history is refused. What the interpreter cannot read up to here is passed over."""

Found = tuple[int, int, dict[str, Any], Any, int, int, str]
"""One tool return: its place among the messages and parts, its other fields, its content, where the JSON of that starts and ends,
and why it cannot be written back without loss (empty when it can). A bare tuple: a named one takes 0.3 µs more to make."""


def read(text: str) -> Iterator[Found]:
    """Read a JSON list of messages, or one message. Raises `HistoryError` at the place where the text is something else."""
    reader = _Reader(text)
    try:
        at = reader.white(1 if text.startswith("\ufeff") else 0)
        if at == len(text):
            raise HistoryError("empty: expected a list of messages")
        if text[at] == "[":
            yield from _messages(reader, at)
        elif text[at] == "{":
            found, reader.at = reader.message(at, -1)
            yield from found
        else:
            value, reader.at = reader.value(at)
            reader.finish()
            raise HistoryError(f"not a history: found {_described(value)}, expected {_EXPECTED}")
        reader.finish()
    except JSONDecodeError as error:
        raise _not_json(text, error) from None


def _messages(reader: _Reader, start: int) -> Iterator[Found]:
    text = reader.text
    for index, at in enumerate(reader.items(start)):
        match = _FIRST.match(text, at)
        if match is None:
            try:
                whole, end = _scan(text, at)
                parts = whole["parts"]
                kind = whole["kind"]
                if type(parts) is list and (kind == "response" or (type(kind) is str and not _holds_returns(parts))):
                    reader.at = end
                    continue
            except (StopIteration, ValueError, RecursionError, KeyError, TypeError):
                pass  # it is read again in another way, which says what is wrong and where
        found, reader.at = reader.message(at, index, match)
        if found:
            yield from found


_EXPECTED = "a list of messages, each an object with `kind` and `parts`"
_B = r"[ \t\n\r]*+"
_WHITE = re.compile(_B)
_SHORT = r'"([^"\\\x00-\x1f]*+)"'
# How a request with a tool return starts in every dump of PydanticAI, and where a database sorted keys by length (JSONB).
_FIRST = re.compile(
    rf'\{{{_B}(?:"parts" ?: ?\[{_B}\{{{_B}"tool_name" ?: ?{_SHORT},{_B}'
    rf'|"kind" ?: ?"(request)",{_B}"parts" ?: ?\[{_B}\{{{_B})"content" ?: ?(?! )'
)
_NEXT = re.compile(rf'{_B},{_B}\{{{_B}(?:"tool_name" ?: ?{_SHORT},{_B})?"content" ?: ?(?! )')
_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]|[\]}]', re.DOTALL)
_TAIL = 1000
"""Characters within which the members after a content, or after the parts, end as a rule: they take some 250."""
_SAMPLE = 400
_DENSE = 8
"""A content with this many keys in its first `_SAMPLE` characters is checked for repeated keys by counting, else key by key."""


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
        self.counting: _Scan | None = None
        self.pairing: _Scan | None = None

    def message(self, start: int, index: int, match: re.Match[str] | None = None) -> tuple[list[Found], int]:
        """Read the message at `start`: its tool returns, and its end. Raises `HistoryError` for anything else.

        `index` is -1 for a message that stands alone; `match` is that of `_FIRST`.
        """
        if match is not None:
            usual = self.usual(match, index)
            if usual is not None:
                return usual
        if self.text[start : start + 1] == "{":
            whole, lists, end = self.members(start, "parts", self.parts)
            kind = whole.get("kind")
            if lists and type(kind) is str:
                # With two members called `parts` readers take the last; what the writer meant is unknown, so none is touched.
                found = lists[0] if len(lists) == 1 and kind == "request" else []
                return [(index, *rest) for _, *rest in found], end
            described = _described({**whole, "parts": None} if lists else whole)
        else:
            value, end = self.value(start)
            described = _described(value)
        if index < 0:
            self.at = end
            self.finish()
        where = "" if index < 0 else f"message {index + 1} is none: "
        raise HistoryError(f"not a history: {where}found {described}, expected {_EXPECTED}")

    def usual(self, match: re.Match[str], index: int) -> tuple[list[Found], int] | None:
        """Read a message from where `_FIRST` matched; None when it does not go on as usual.

        One flat function: with a method call for each step, histories of short texts took 60% longer.
        """
        text = self.text
        at = match.end()
        tool, kind = match.groups()
        found: list[Found] = []
        number = 0
        try:
            while True:
                if text[at] == '"':
                    content, end = _scan(text, at)
                    flaw = ""
                else:
                    content, end, flaw = self.content(at)
                if text[end] != ",":
                    return None
                # The comma gives way to a brace.
                fields, length = _scan("{" + text[end + 1 : end + _TAIL], 0)
                if not fields or "content" in fields:
                    return None
                if fields.get("part_kind") == "tool-return":
                    if tool is not None:
                        fields.setdefault("tool_name", tool)
                    found.append((index, number, fields, content, at, end, flaw))
                end += length
                while text[end] != "]":
                    number += 1
                    following = _NEXT.match(text, end)
                    if following is not None:
                        at = following.end()
                        tool = following[1]
                        break
                    end = self.white(end)
                    if text[end] == ",":
                        part, end = _scan(text, self.white(end + 1))
                        if type(part) is dict and part.get("part_kind") == "tool-return":
                            return None
                    elif text[end] != "]":
                        return None
                else:
                    break
            end += 1
            if text[end] != ",":
                return None
            fields, length = _scan("{" + text[end + 1 : end + _TAIL], 0)
        except (StopIteration, ValueError, RecursionError, IndexError):
            return None
        kind = fields.get("kind", kind)
        if not fields or "parts" in fields or type(kind) is not str:
            return None
        return found if kind == "request" else [], end + length

    def parts(self, start: int) -> tuple[list[Found], int]:
        """Read the list of parts at `start`: the tool returns in it, and its end."""
        text = self.text
        if text[start : start + 1] != "[":
            value, _ = self.value(start)
            raise HistoryError(f"not a history: found {_described(value)} as `parts`, expected a list")
        found: list[Found] = []
        for number, at in enumerate(self.items(start)):
            if text[at : at + 1] == "{":
                fields, contents, self.at = self.members(at, "content", self.placed_content)
                if fields.get("part_kind") == "tool-return":
                    content, begin, end, flaw = contents[-1] if contents else (None, at, at, "")
                    flaw = "it has two contents" if len(contents) > 1 else flaw
                    found.append((0, number, fields, content, begin, end, flaw))
            else:
                _, self.at = self.value(at)
        return found, self.at

    def placed_content(self, start: int) -> tuple[tuple[Any, int, int, str], int]:
        content, end, flaw = self.content(start)
        return (content, start, end, flaw), end

    def content(self, start: int) -> tuple[Any, int, str]:
        """Read the content at `start`: its value, its end, and why it cannot be written back without loss, if so."""
        text = self.text
        try:
            if text[start : start + 1] not in ("{", "["):
                return *_scan(text, start), ""
            # A hook for pairs costs 50% more than the parsing (3.11), counting below 15%. Where much text stands between few keys
            # it is the other way round.
            dense = text.count('":', start, start + _SAMPLE) >= _DENSE
            value, end, distinct = self.counted(start) if dense else self.paired(start)
            return value, end, "" if distinct else "an object in it has the same key twice"
        except JSONDecodeError:
            raise
        except RecursionError:
            return *self.value(start), "it is nested too deep to be read"
        except (ValueError, StopIteration):
            return *self.value(start), "a number in it has more digits than can be read"

    def paired(self, start: int) -> tuple[Any, int, bool]:
        """Read a value: itself, its end, and whether all objects in it have different keys."""
        if self.pairing is None:

            def pair(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
                value = dict(pairs)
                if len(value) != len(pairs):
                    self.repeated = True
                return value

            self.pairing = _scanner(json.JSONDecoder(object_pairs_hook=pair))
        self.repeated = False
        value, end = self.pairing(self.text, start)
        return value, end, not self.repeated

    def counted(self, start: int) -> tuple[Any, int, bool]:
        """Do what `paired` does, by counting the keys of the objects and those written in the text."""
        text = self.text
        if self.counting is None:

            def count(value: dict[str, Any]) -> dict[str, Any]:
                self.keys += len(value)
                return value

            self.counting = _scanner(json.JSONDecoder(object_hook=count))
        self.keys = 0
        value, end = self.counting(text, start)
        # A key ends in `":`; so may a piece of a text, written `\":`, and a key that ends in a backslash looks like one.
        surplus = text.count('":', start, end) - self.keys
        if surplus and (surplus != text.count('\\":', start, end) or text.find('\\\\":', start, end) >= 0):
            surplus = -1
        if surplus >= 0 and text.find('" :', start, end) < 0:
            blanks = (blank for blank in "\n\t\r" if text.find(blank, start, end) >= 0)
            if all(text.find(f'"{blank}:', start, end) < 0 for blank in blanks):
                return value, end, True
        return self.paired(start)

    def members(self, at: int, long: str, read: Callable[[int], tuple[Any, int]]) -> tuple[dict[str, Any], list[Any], int]:
        """Read the object at `at`: its members but those called `long`, what `read` gives for each of those, and its end."""
        text = self.text
        fields: dict[str, Any] = {}
        values: list[Any] = []
        at = self.white(at + 1)
        mark = text[at : at + 1]
        if mark == "}":
            return fields, values, at + 1
        while True:
            if mark != '"':
                raise JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
            key, at = self.value(at)
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
                return _scan(text, start)
            except JSONDecodeError:
                raise
            except ValueError:
                return _lenient_scan(text, start)
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

    def finish(self) -> None:
        at = self.white(self.at)
        if at != len(self.text):
            raise JSONDecodeError("Extra data", self.text, at)


_Scan = Callable[[str, int], tuple[Any, int]]


def _scanner(decoder: json.JSONDecoder) -> _Scan:
    scan: _Scan = decoder.scan_once  # type: ignore[attr-defined]
    return scan


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python reads no more than 4,300 digits
        return 0


_scan = _scanner(json.JSONDecoder())
_lenient_scan = _scanner(json.JSONDecoder(parse_int=_integer))


def _holds_returns(parts: list[Any]) -> bool:
    for part in parts:  # noqa: SIM110  # `any` over a generator takes three times as long for the usual one or two parts
        if type(part) is dict and part.get("part_kind") == "tool-return":
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
