"""Check stored histories for problems: PydanticAI cannot load them, a provider refuses them, or they are unusual.

PydanticAI's type adapter checks the fields; it is imported only if the file contains PydanticAI messages. This module
checks the order of messages, and the calls and their returns in all formats that declare the places of their ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby, islice, repeat
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Raw
from pydantic_core import from_json

from reducer.errors import HistoryError
from reducer.histories.format import Path, Turn, numbered
from reducer.histories.formats import openai_responses, pydantic_ai
from reducer.histories.source import BOM, Source, described, position, short
from reducer.histories.stored import expected
from reducer.histories.stored.messages import are_one_history, find_lists, is_message, is_session, with_source
from reducer.paths.written import path_text

Severity = Literal["error", "warning"]

_MAX_ERRORS = 10_000
_MAX_SEARCHED = 100
"""Calls without a return that are searched for the one that a return answers. Calls can have forged ids."""
_ID = re.compile(r"[a-zA-Z0-9_-]+")


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
    texts = stored.split(b"\n") if are_one_history(stored) else [stored]
    for number, text in enumerate(texts, first_line):
        try:
            text.decode()
            if text.strip() or len(texts) == 1:
                from_json(text)
        except ValueError as error:
            return [_parse_error(text, error, number)]
    try:
        findings = with_source(stored, lambda source: list(_check_histories(source)))
    except HistoryError as error:
        findings = [Finding("V003", (), str(error))]
    return locate(stored, findings, first_line)


def _parse_error(stored: bytes, error: ValueError, first_line: int) -> Finding:
    if isinstance(error, UnicodeDecodeError):
        line, column = position(stored, error.start)
        return Finding("V001", (), f"byte 0x{stored[error.start]:02x} is not UTF-8 text", first_line + line - 1, column)
    words, _, place = str(error).rpartition(" at line ")
    line, column = map(int, place.split(" column "))
    before = stored.split(b"\n")[line - 1][: max(column - 1, 0)].decode(errors="replace")
    words = "starts with a byte order mark" if stored.startswith(BOM) else words
    words = words.replace("EOF", "the text ends").replace("ident", "a value")
    message = f"PydanticAI cannot parse the JSON: {words}"
    return Finding("V002", (), message, first_line + line - 1, len(before) + 1)


def _check_histories(source: Source) -> Iterator[Finding]:
    histories: dict[tuple[str, Path | None], list[_Message]] = {}
    for found in find_lists(source):
        messages = []
        is_list = source.mark(found.raw) == "["
        for number, message in enumerate(found.messages):
            is_valid = is_message(message, found.form, source)
            read = [*found.form.read(message, source)] if is_valid else []
            messages.append(_Message((*found.path, number) if is_list else found.path, message, is_valid, read))
        if found.form.NAME == pydantic_ai.NAME:
            written = source.data[slice(*source.span(found.raw))]
            yield from _check_fields(written if is_list else b"[%b]" % written, messages)
        else:
            for one in messages:
                if not one.is_valid:
                    yield Finding("V011", one.path, f"not a message, {expected((found.form,))}")
        # In sessions, lines about progress come between calls and returns.
        linked = [one for one in messages if one.read] if is_session(found.form) else messages
        # Messages outside of lists, such as search hits, are one history.
        histories.setdefault((found.form.NAME, found.path if is_list else None), []).extend(linked)
    for (name, place), messages in histories.items():
        if place is not None or len(messages) > 1:
            if name == pydantic_ai.NAME:
                yield from _check_order(messages)
            yield from dict.fromkeys(_check_calls(messages, is_continued=name == openai_responses.NAME))


class _Message(NamedTuple):
    """A message and what it contains, which is nothing if it is not a valid message of its format."""

    path: Path
    message: Any
    is_valid: bool
    read: list[Any]


class _Error(NamedTuple):
    """An error of pydantic at a path, with a description of the value there.

    Of the errors of one field, those with the best `fit` are the most likely: the most branches of unions on their path
    have the name of the kind of the value, and they are the innermost ones.
    """

    path: Path
    fit: tuple[int, int]
    found: str
    message: str


def _check_fields(written: bytes, messages: Sequence[_Message]) -> Iterator[Finding]:
    """Yield the values that PydanticAI's type adapter refuses, with the most likely errors of each field."""
    from pydantic import ValidationError
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    try:
        ModelMessagesTypeAdapter.validate_json(written)
        return
    except ValidationError as refused:
        details = refused.errors(include_url=False, include_input=False)[:_MAX_ERRORS]
    errors = map(_error, details, repeat(from_json(written)))
    for _, group in groupby(errors, key=lambda error: error.path[:4]):
        of_field = list(group)
        best = max(map(attrgetter("fit"), of_field))
        likely: dict[tuple[Path, str], dict[str, None]] = {}
        for error in of_field:
            if error.fit == best:
                likely.setdefault((error.path, error.found), {})[error.message] = None
        for ((index, *rest), found), words in likely.items():
            yield Finding("V010", (*messages[int(index)].path, *rest), f"found {found}; {' or '.join(words)}")


def _error(detail: Any, messages: Any) -> _Error:
    """Convert an error. In its location, pydantic puts names of union branches between keys and indexes."""
    value = messages
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
    return _Error(path, (kinds, len(path)), found, message[0].lower() + message[1:])


def _check_order(messages: Iterable[_Message]) -> Iterator[Finding]:
    """Check that no provider refuses the order of messages, and of the parts of requests."""
    previous = None
    for number, (path, message, is_valid, read) in enumerate(messages):
        kind = message.kind if is_valid else None
        if kind == "request":
            yield from _check_request(path, message)
        elif kind == "response" and number == 0:
            yield Finding("V043", path, "the first message is a response; expected a request")
        elif kind == previous == "response" and read[0].calls:
            yield Finding("V041", path, "a response with tool calls follows a response; expected a request")
        previous = kind


def _check_request(path: Path, request: pydantic_ai.StoredMessage) -> Iterator[Finding]:
    prompted = False
    for number, part in numbered(request.parts, pydantic_ai.Part):
        if part.part_kind == "tool-return" and prompted:
            words = "a tool return follows a prompt; expected it before the prompt"
            yield Finding("V045", (*path, "parts", number), words)
        prompted = prompted or part.part_kind == "user-prompt"


class _Link(NamedTuple):
    """A tool call, or a tool return or retry that answers one. `path` leads to its id."""

    path: Path
    id: Any
    tool: Any
    is_call: bool


def _links(message: _Message) -> list[_Link]:
    """Return the tool calls of a message, and the tool returns and retries in it."""
    links: list[_Link] = []
    for one in message.read:
        if isinstance(one, Turn):
            # A prompt with a call is a retry, which answers it.
            for call in one.calls:
                if call.at:
                    links.append(_Link((*message.path, *call.at), call.id, call.tool, one.is_response))
        elif one.at:
            link = _Link((*message.path, *one.at), one.call_id, one.tool, is_call=False)
            if link not in links[-1:]:  # a content with several texts is one tool return
                links.append(link)
    return links


_Calls = dict[str, _Link]
"""Calls by their ids."""


def _check_calls(messages: Iterable[_Message], is_continued: bool) -> Iterator[Finding]:
    """Check that each call has one return or retry with its id and tool name before the next response.

    An id is valid within one response, because some providers reuse ids. Consecutive responses count as one. If
    `is_continued`, the provider can store an earlier response, whose calls returns answer before any other call.
    """
    waiting: _Calls = {}
    answered: dict[str, Path] = {}
    was_response = False
    for message in messages:
        is_response = any(isinstance(one, Turn) and one.is_response for one in message.read)
        if is_response and not was_response:
            yield from _unanswered(waiting, "V030", f"before the next response, {path_text(message.path)}")
            waiting, answered = {}, {}
        for link in _links(message):
            yield from _check_id(link)
            if type(link.id) is not str:
                continue
            if link.is_call and link.id in waiting:
                words = f"an earlier call of this response also has the id {short(link.id)}"
                yield Finding("V034", link.path, words)
            elif link.is_call:
                waiting[link.id] = link
            elif waiting or answered or not is_continued:
                yield from _check_answer(link, waiting, answered)
        was_response = is_response
    yield from _unanswered(waiting, "V031", "yet")


def _unanswered(waiting: _Calls, code: str, when: str) -> Iterator[Finding]:
    for call in waiting.values():
        yield Finding(code, call.path, f"the call of {_tool(call.tool)} has no return {when}")


def _check_answer(found: _Link, waiting: _Calls, answered: dict[str, Path]) -> Iterator[Finding]:
    call = waiting.pop(found.id, None)
    if call is not None:
        place = answered[found.id] = call.path[:-1]
        if call.tool != found.tool and type(call.tool) is type(found.tool) is str:
            words = f"answers {path_text(place)}, a call of {_tool(call.tool)}, with the tool name {_tool(found.tool)}"
            yield Finding("V035", (*found.path[:-1], "tool_name"), words)
    elif found.id in answered:
        yield Finding("V033", found.path, f"the call {path_text(answered[found.id])} already has a return")
    else:
        others = islice(waiting.values(), _MAX_SEARCHED)
        same = next((other for other in others if other.tool == found.tool), None)
        hint = "" if same is None else f"; the call {short(same.id)} of the same tool has no return"
        yield Finding("V032", found.path, f"no call of the previous response has the id {short(found.id)}{hint}")


def _check_id(link: _Link) -> Iterator[Finding]:
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
    starts = {finding.path: positions.start(finding.path) for finding in findings}
    located = []
    at, line, column = 0, first_line, 1
    for finding in sorted(findings, key=lambda finding: starts[finding.path]):
        between = data[at : starts[finding.path]].decode(errors="replace")
        line += between.count("\n")
        column = len(between) - between.rfind("\n") if "\n" in between else column + len(between)
        at = starts[finding.path]
        located.append(finding._replace(line=line, column=column))
    return located


def _whole(source: Source) -> Source:
    source.decode(Raw, source.root)
    return source


class Positions:
    """The byte offsets of the values of a JSON text. A text that is not JSON counts as one value at 0."""

    def __init__(self, data: bytes) -> None:
        try:
            self._source = with_source(data, _whole)
        except HistoryError:
            self._source = Source(b"null", b"null")
        self._members = cache(self._read_members)

    def start(self, path: Path) -> int:
        """Return the offset of the value at a path, or of the value around it if there is none."""
        start = self._source.span(self._source.root)[0]
        for end, step in enumerate(path):
            members = self._members(path[:end])
            if step not in members:
                break
            start = members[step][0]
        return start

    def path(self, at: int) -> Path:
        """Return the path of the last value that starts at an offset or before it."""
        path: Path = ()
        while before := [key for key, (start, _) in self._members(path).items() if start <= at]:
            path = (*path, before[-1])
        return path

    def _read_members(self, path: Path) -> dict[str | int, tuple[int, Raw]]:
        raw = self._members(path[:-1])[path[-1]][1] if path else self._source.root
        starts = {}
        for key, member in self._source.members(raw).items():
            starts[key] = self._source.span(member)[0], member
        return starts
