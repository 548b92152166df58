"""Check stored histories for problems: PydanticAI cannot load them, a provider refuses them, or they are unusual.

PydanticAI's type adapter checks the fields; it is imported only if the file contains PydanticAI messages. This module
checks the order of messages, and the calls and their returns in all formats that declare the places of their ids.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from importlib.resources import files
from itertools import groupby, islice, repeat
from operator import getitem, itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from pydantic_core import from_json

from reducer.histories.format import Path
from reducer.histories.formats import openai_responses, pydantic_ai
from reducer.histories.positions import Positions
from reducer.histories.source import BOM, described, position, short
from reducer.histories.stored import expected
from reducer.histories.stored.calls import Link, Linked, linked_histories
from reducer.paths.written import path_text

if TYPE_CHECKING:
    pass

Severity = Literal["error", "warning"]

_MAX_ERRORS = 10_000
_MAX_SEARCHED = 100
"""Calls without a return that are searched for the one that a return answers. Calls can have forged ids."""
_ERROR_PLACE = re.compile(r"(.*) at line (\d+) column (\d+)$", re.DOTALL)
_ID = re.compile(r"[a-zA-Z0-9_-]+")

Values = Sequence[tuple[Path, Any]]
"""The messages of a history, or the parts of a message, each with its path in the file."""


class Code(NamedTuple):
    """A kind of finding. `refused_by` names the programs that refuse the history, if any."""

    severity: Severity
    meaning: str
    refused_by: str = ""


CODES = msgspec.json.decode((files("reducer.histories") / "codes.json").read_bytes(), type=dict[str, Code])
"""Every code by its name. The meaning of a code never changes."""


class Finding(NamedTuple):
    """A problem at one place. `line` and `column` (in characters) count from 1; 0 means not located yet."""

    code: str
    path: Path
    message: str
    line: int = 0
    column: int = 0

    @property
    def severity(self) -> Severity:
        """Return `error` or `warning`."""
        return CODES[self.code].severity


def check(stored: bytes, first_line: int = 1) -> list[Finding]:
    """Return the problems of a stored history with lines and columns, in the order of the file. Never raise.

    A history is a list of messages of a stored format, one message or a wrapper around these. It starts on `first_line`
    of its file.
    """
    try:
        stored.decode()
        value = from_json(stored)
    except ValueError as error:
        return [_parse_error(stored, error, first_line)]
    return locate(stored, list(_check_histories(stored, value)), first_line)


def _parse_error(stored: bytes, error: ValueError, first_line: int) -> Finding:
    if isinstance(error, UnicodeDecodeError):
        at = error.start
        code, message = "V001", f"byte 0x{stored[at]:02x} is not UTF-8 text"
    else:
        found = _ERROR_PLACE.fullmatch(str(error))
        words, row, column = (found[1], int(found[2]), int(found[3])) if found else (str(error), 1, 1)
        at = len(b"\n".join(stored.split(b"\n")[: row - 1])) + (row > 1) + max(column - 1, 0)
        words = "starts with a byte order mark" if stored.startswith(BOM) else words
        words = words.replace("EOF", "the text ends").replace("ident", "a value")
        code, message = "V002", f"PydanticAI cannot parse the JSON: {words}"
    row, column = position(stored, at)
    return Finding(code, (), message, line=first_line + row - 1, column=column)


def _check_histories(stored: bytes, value: Any) -> Iterator[Finding]:
    found = linked_histories(stored)
    if not found:
        yield Finding("V003", (), f"not a history: found {described(value)}, {expected()}")
    for form, is_list, linked in found:
        is_whole = is_list or len(linked) > 1
        if form.NAME == pydantic_ai.NAME:
            messages = [(message.path, reduce(getitem, message.path, value)) for message in linked]
            yield from _check_fields(messages)
            yield from _check_order(messages) if is_whole else ()
        else:
            for message in linked:
                if not message.is_valid:
                    yield Finding("V011", message.path, f"not a message, {expected([form])}")
        if is_whole:
            yield from dict.fromkeys(_check_calls(linked, is_continued=form.NAME == openai_responses.NAME))


def _field(value: Any, name: str) -> Any:
    return value.get(name) if type(value) is dict else None


def _items(path: Path, value: Any, name: str) -> Values:
    """Return the items of a list in an object, with their paths."""
    items = _field(value, name)
    return [((*path, name, number), item) for number, item in enumerate(items)] if type(items) is list else []


class _Error(NamedTuple):
    """An error of pydantic: its path, the number of union branches on it that match the kind of the value, and more."""

    path: Path
    kinds: int
    found: str
    message: str


def _check_fields(messages: Values) -> Iterator[Finding]:
    """Yield the values that PydanticAI's type adapter refuses, with the most likely errors of each field."""
    from pydantic import ValidationError
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    values = [*map(itemgetter(1), messages)]
    try:
        ModelMessagesTypeAdapter.validate_json(json.dumps(values))
        return
    except ValidationError as refused:
        details = refused.errors(include_url=False, include_input=False)[:_MAX_ERRORS]
    errors = map(_error, details, repeat(values))
    for _, of_field in groupby(errors, key=lambda error: error.path[:4]):
        likely: dict[tuple[Path, str], dict[str, None]] = {}
        best = (0, 0)
        for error in of_field:
            fit = error.kinds, len(error.path)
            if fit > best:
                best = fit
                likely.clear()
            if fit == best:
                likely.setdefault((error.path, error.found), {})[error.message] = None
        for ((index, *rest), found), words in likely.items():
            yield Finding("V010", (*messages[int(index)][0], *rest), f"found {found}; {' or '.join(words)}")


def _error(detail: Any, messages: Sequence[Any]) -> _Error:
    """Convert an error. In its location, pydantic puts names of union branches between keys and indexes."""
    value: Any = messages
    path: Path = ()
    kinds = 0
    for step in detail["loc"]:
        if type(value) is dict and step in (value.get("kind"), value.get("part_kind")):
            kinds += 1
        elif step in value if type(value) is dict else type(value) is list and type(step) is int:
            path, value = (*path, step), value[step]
    found, message = described(value), detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "missing":
        path, found = (*path, detail["loc"][-1]), "nothing"
    return _Error(path, kinds, found, message[0].lower() + message[1:])


def _check_order(messages: Values) -> Iterator[Finding]:
    """Check the order of messages, and the positions of system prompts and tool returns in requests."""
    previous: Any = None
    started = False  # whether anything but a system prompt came before
    for number, (path, message) in enumerate(messages):
        kind = _field(message, "kind")
        parts = [(here, _field(part, "part_kind")) for here, part in _items(path, message, "parts")]
        if kind == "request":
            yield from _check_request(parts, previous, started)
        elif kind == previous == "response":
            has_calls = "tool-call" in map(itemgetter(1), parts)
            calls = " with tool calls" if has_calls else ""
            words = f"a response{calls} follows a response; expected a request"
            yield Finding("V041" if has_calls else "V040", path, words)
        elif kind == "response" and number == 0:
            yield Finding("V043", path, "the first message is a response; expected a request")
        started = started or kind == "response" or any(part_kind != "system-prompt" for _, part_kind in parts)
        previous = kind


def _check_request(parts: Values, previous: Any, started: bool) -> Iterator[Finding]:
    is_expected = previous != "request"
    prompted = False
    for here, part_kind in parts:
        if not is_expected and part_kind not in ("tool-return", "retry-prompt"):
            is_expected = True
            words = "a request with more than tool returns follows a request; expected a response"
            yield Finding("V042", here, words)
        if part_kind == "system-prompt" and started:
            yield Finding("V044", here, "a system prompt is not at the start")
        elif part_kind == "tool-return" and prompted:
            yield Finding("V045", here, "a tool return follows a prompt; expected it before the prompt")
        started = started or part_kind != "system-prompt"
        prompted = prompted or part_kind == "user-prompt"


_Calls = dict[str, list[Link]]
"""Calls by their ids."""


def _check_calls(messages: Iterable[Linked], is_continued: bool) -> Iterator[Finding]:
    """Check that each call has one return or retry with its id and tool name before the next response.

    An id is valid within one response, because some providers reuse ids. Consecutive responses count as one. If
    `is_continued`, the provider can store an earlier response, whose calls the first returns answer.
    """
    waiting: _Calls = {}
    answered: dict[str, Path] = {}
    was_response = False
    knows_all = not is_continued  # whether the history contains all calls of the response, with their ids
    for message in messages:
        if message.is_response and not was_response:
            yield from _unanswered(waiting, "V030", f"before the next response, {path_text(message.path)}")
            waiting, answered = {}, {}
            knows_all = True
        knows_all = knows_all and not message.is_elsewhere
        for link in message.links:
            yield from _check_id(link)
            if type(link.id) is not str:
                continue
            if link.is_call:
                yield from _check_call(link, waiting)
            elif knows_all or link.id in waiting or link.id in answered:
                yield from _check_answer(link, waiting, answered)
        was_response = message.is_response
    yield from _unanswered(waiting, "V031", "yet")


def _unanswered(waiting: _Calls, code: str, when: str) -> Iterator[Finding]:
    for calls in waiting.values():
        for call in calls:
            yield Finding(code, call.path, f"the call of {_tool(call.tool)} has no return {when}")


def _check_call(call: Link, waiting: _Calls) -> Iterator[Finding]:
    if call.id in waiting:
        yield Finding("V034", call.path, f"an earlier call of this response also has the id {short(call.id)}")
    waiting.setdefault(call.id, []).append(call)


def _check_answer(found: Link, waiting: _Calls, answered: dict[str, Path]) -> Iterator[Finding]:
    path, call_id, tool = found.path, found.id, found.tool
    if calls := waiting.get(call_id):
        # Calls with the same id are matched by tool name, otherwise by order.
        call = next((call for call in islice(calls, _MAX_SEARCHED) if call.tool == tool), calls[0])
        calls.remove(call)
        if not calls:
            del waiting[call_id]
        answered[call_id] = call.path[:-1]
        if call.tool != tool and type(call.tool) is type(tool) is str:
            words = (
                f"answers {path_text(call.path[:-1])}, a call of {_tool(call.tool)}, with the tool name {_tool(tool)}"
            )
            yield Finding("V035", (*path[:-1], "tool_name"), words)
    elif call_id in answered:
        yield Finding("V033", path, f"the call {path_text(answered[call_id])} already has a return")
    else:
        others = islice(waiting.items(), _MAX_SEARCHED)
        same = next((other for other, calls in others if calls[0].tool == tool), None)
        hint = "" if same is None else f"; the call {short(same)} of the same tool has no return"
        yield Finding("V032", path, f"no call of the previous response has the id {short(call_id)}{hint}")


def _check_id(link: Link) -> Iterator[Finding]:
    if type(link.id) is not str:
        yield Finding("V037", link.path, f"`{link.path[-1]}` is missing; a call and its return need the same id")
    elif not _ID.fullmatch(link.id):
        words = f"found {short(link.id)}; Anthropic accepts letters, digits, `_` and `-`"
        yield Finding("V036", link.path, words)


def _tool(name: Any) -> str:
    return f"`{name[:60]}`" if type(name) is str else "no tool"


def locate(data: bytes, findings: Sequence[Finding], first_line: int = 1) -> list[Finding]:
    """Return the findings in the order of a JSON text, each with its line and column.

    A finding at a missing path, such as that of a missing key, gets the position of the enclosing value.
    """
    positions = Positions(data)
    located = []
    at, line, column = 0, first_line, 1
    for start, finding in sorted(((positions.start(one.path), one) for one in findings), key=itemgetter(0)):
        between = data[at:start].decode(errors="replace")
        line += between.count("\n")
        column = len(between) - between.rfind("\n") if "\n" in between else column + len(between)
        at = start
        located.append(finding._replace(line=line, column=column))
    return located
