"""Check stored histories: what PydanticAI refuses to load, what providers refuse to answer, and what is unusual.

PydanticAI's own type adapter checks the fields. It is imported only when a history of PydanticAI is found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import from_json

from reducer.histories.findings import Finding, Path, described, locate, short, suggestion, values
from reducer.histories.pairing import SessionMessage, check_calls, check_order, check_session, is_session_message

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_BYTE_ORDER_MARK = "\ufeff"
_WRAPPERS = 16
"""Levels of wrapping that are searched for messages."""
_WRAPPERS_OF_MESSAGE = 2
"""Levels of wrapping around each message of a list: `_source` in the answer of a search index."""
_MAX_ERRORS = 10_000
_ERROR_PLACE = re.compile(r"(.*) at line (\d+) column (\d+)$", re.DOTALL)
_CONSTANTS = ("NaN", "Infinity", "-Infinity")
_EXPECTED = {
    "string_type": "a text",
    "list_type": "a list",
    "dict_type": "an object",
    "dataclass_type": "an object",
    "model_type": "an object",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "datetime_type": "a timestamp",
    "datetime_parsing": "a timestamp",
    "datetime_from_date_parsing": "a timestamp",
    "bytes_invalid_encoding": "base64",
}
"""What a field can hold, by the type of pydantic's error. Other errors keep pydantic's message."""


class Document(NamedTuple):
    """One JSON text of a file: its value, its first line, and what is wrong with it as JSON.

    If `is_read` is false, the text cannot be checked further; `value` is then None.
    """

    text: str
    value: Any
    line: int
    findings: tuple[Finding, ...]
    is_read: bool


class History(NamedTuple):
    """Messages that belong together, with the path of each; `is_single` for a message that is not in a list."""

    paths: Sequence[Path]
    messages: Sequence[Any]
    is_session: bool
    is_single: bool = False


def validate(stored: bytes) -> list[Finding]:
    """Return everything that is wrong with a stored history, in the order of the file.

    `stored` is a list of PydanticAI messages, one message, a session history or a wrapper around one of these, as UTF-8
    JSON, or one of these on each line. Raises nothing: bytes that are not a history are a finding too. A path starts at
    the outermost value of its line.
    """
    return [finding for document in read_documents(stored) for finding in check_document(document)]


def check_document(document: Document) -> list[Finding]:
    """Return everything that is wrong with one JSON text, with lines and columns."""
    checked = check_value(document.value) if document.is_read else ()
    return locate(document.text, [*document.findings, *checked], document.line)


def read_documents(stored: bytes) -> Iterator[Document]:
    """Yield the JSON text of a file, or the one on each line that is not blank."""
    whole = read_document(stored)
    lines = [(number, line) for number, line in enumerate(stored.split(b"\n"), 1) if line.strip()]
    if whole.is_read or len(lines) < 2 or not any(_is_container(line) for _, line in lines[:3]):
        yield whole
    else:
        yield from (read_document(line, number) for number, line in lines)


def _is_container(line: bytes) -> bool:
    line = line.strip()
    return len(line) > 2 and line[:1] in b"[{" and read_document(line).is_read


def read_document(stored: bytes, line: int = 1) -> Document:
    """Read one JSON text that starts on `line` of its file."""
    text = stored.decode(errors="surrogateescape").removeprefix(_BYTE_ORDER_MARK)
    fault = _fault(stored)
    if fault is not None:
        return Document(text, None, line, (fault._replace(line=fault.line + line - 1),), False)
    value, is_odd = _loads(text)
    return Document(text, value, line, tuple(_oddities(text)) if is_odd else (), True)


def _fault(stored: bytes) -> Finding | None:
    """Return why PydanticAI's parser refuses bytes, with the line in them; None if it accepts them."""
    try:
        text = stored.decode()
        from_json(stored)
    except UnicodeDecodeError as error:
        before = stored[: error.start].decode()
        message = f"byte 0x{stored[error.start]:02x} is not UTF-8 text"
        return Finding("V001", (), message, before.count("\n") + 1, len(before) - before.rfind("\n"))
    except ValueError as error:
        found = _ERROR_PLACE.fullmatch(str(error))
        reason, line, column = (found[1], int(found[2]), int(found[3])) if found else (str(error), 1, 1)
        before = stored.split(b"\n")[line - 1][:column].decode(errors="ignore")  # the parser counts bytes
        if not text.strip():
            reason = "empty; expected a list of messages"
        elif text.startswith(_BYTE_ORDER_MARK):
            reason = "starts with a byte order mark"
        reason = reason.replace("EOF", "the text ends").replace("ident", "a value")
        message = f"PydanticAI cannot parse the JSON: {reason}"
        return Finding("V002", (), message, line, max(len(before), 1))
    return None


def _loads(text: str) -> tuple[Any, bool]:
    """Return the value of a JSON text, and whether it contains repeated keys or numbers that JSON does not allow."""
    is_odd = False

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal is_odd
        value = dict(items)
        is_odd = is_odd or len(value) != len(items)
        return value

    def constant(name: str) -> float:
        nonlocal is_odd
        is_odd = True
        return float(name)

    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant), is_odd


def _oddities(text: str) -> Iterator[Finding]:
    seen: set[Path] = set()
    repeated: set[Path] = set()
    for path, start in values(text):
        if path in seen:
            if path[:-1] not in repeated:
                yield Finding("V005", path, f"the key {short(path[-1])} occurs twice; readers use the last value")
            repeated.add(path)
        seen.add(path)
        if text.startswith(_CONSTANTS, start):
            yield Finding("V006", path, "not a finite number; expected one or null")


def check_value(value: Any) -> Iterator[Finding]:
    """Yield what is wrong with the histories in a JSON value, without lines and columns."""
    if value == [] or (type(value) is dict and value.get("messages") == []):
        return
    found = list(histories(value))
    if not found:
        words = "expected a list of messages, each an object with `kind` and `parts`"
        yield Finding("V003", (), f"no history: found {described(value)}, {words}")
    for history in found:
        yield from check_fields(history)
        if history.is_session:
            yield from check_session(history.paths, history.messages)
        elif not history.is_single:  # whether a call has a return is unknown for a single message
            yield from check_order(history.paths, history.messages)
            yield from check_calls(history.paths, history.messages)


def histories(value: Any, path: Path = (), levels: int = _WRAPPERS) -> Iterator[History]:
    """Yield the histories in a JSON value in order, looking into `levels` of wrapping."""
    if _is_message(value) or is_session_message(value):
        yield History([path], [value], not _is_message(value), is_single=True)
    elif type(value) is list:
        items = [((*path, index), item) for index, item in enumerate(value)]
        if not any(_is_message(item) or is_session_message(item) for item in value):
            wrapped = [_wrapped_message(here, item, _WRAPPERS_OF_MESSAGE) for here, item in items]
            items = [message for message in wrapped if message is not None]
        if items:
            paths, messages = zip(*items, strict=True)
            yield History(paths, messages, not any(map(_is_message, messages)))
        elif levels:
            for index, item in enumerate(value):
                yield from histories(item, (*path, index), levels - 1)
    elif type(value) is dict and levels:
        for key, item in value.items():
            yield from histories(item, (*path, key), levels - 1)


def _wrapped_message(path: Path, value: Any, levels: int) -> tuple[Path, Any] | None:
    if _is_message(value) or is_session_message(value):
        return path, value
    if type(value) is not dict or not levels:
        return None
    inner = (_wrapped_message((*path, key), item, levels - 1) for key, item in value.items())
    return next((found for found in inner if found is not None), None)


def _is_message(value: Any) -> bool:
    if type(value) is not dict:
        return False
    parts = value.get("parts")
    return value.get("kind") in ("request", "response") or (
        type(parts) is list and ("kind" in value or any(type(part) is dict and "part_kind" in part for part in parts))
    )


class _Error(NamedTuple):
    """An error of pydantic at a path of the history, with the union branches that lead there."""

    path: Path
    branches: tuple[tuple[Path, str], ...]
    type: str
    expected: Sequence[str]
    message: str

    def refuses(self, union: Path) -> bool:
        """Return whether the value at `union` is of another type or kind than this branch expects."""
        field = self.path[len(union) :]
        is_kind = field in (("kind",), ("part_kind",)) and self.type != "missing"
        return is_kind or (not field and self.type.endswith("_type"))


def check_fields(history: History) -> Iterator[Finding]:
    """Yield what PydanticAI's type adapter, or that of session histories, refuses."""
    from pydantic import ValidationError

    try:
        _adapter(history.is_session).validate_json(json.dumps(history.messages))
    except ValidationError as refused:
        details = refused.errors(include_url=False, include_input=False)[:_MAX_ERRORS]
        errors: dict[Path, list[_Error]] = {}
        for error in _likeliest([_error(detail, history.messages) for detail in details]):
            errors.setdefault(error.path, []).append(error)
        for (index, *rest), same in errors.items():
            path = (*history.paths[int(index)], *rest)
            yield Finding("V060" if history.is_session else "V010", path, _explain(same, history.messages))


@cache
def _adapter(is_session: bool) -> TypeAdapter[Any]:
    if is_session:
        from pydantic import TypeAdapter

        return TypeAdapter(list[SessionMessage])
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    return ModelMessagesTypeAdapter


def _error(detail: Any, messages: Sequence[Any]) -> _Error:
    """Turn the location of an error into a path: without the names of union branches, which pydantic writes between."""
    value: Any = messages
    path: Path = ()
    branches: list[tuple[Path, str]] = []
    location, kind, context = detail["loc"], detail["type"], detail.get("ctx", {})
    for number, step in enumerate(location):
        if kind == "missing" and number == len(location) - 1:
            path = (*path, step)
        elif _has(value, step):
            path, value = (*path, step), value[step]
        else:
            branches.append((path, str(step)))
    expected = [_EXPECTED[kind]] if kind in _EXPECTED else []
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        key = context["discriminator"].strip("'")
        key = key if key.isidentifier() else "part_kind"  # PydanticAI tells parts apart with a function
        path, expected = ((*path, key), []) if type(value) is dict else (path, ["an object"])
    # Tags with the prefix `legacy-` are PydanticAI's own: no part has such a kind.
    choices = context.get("expected_tags", "") + context.get("expected", "") if kind != "union_tag_not_found" else ""
    expected += [f"`{choice}`" for choice in re.findall(r"'([^']+)'", choices) if not choice.startswith("legacy-")]
    return _Error(path, tuple(branches), kind, expected, detail["msg"])


def _has(value: Any, step: str | int) -> bool:
    if type(value) is dict:
        return step in value and step not in (value.get("kind"), value.get("part_kind"))
    return type(step) is int and type(value) in (list, tuple)


def _likeliest(errors: list[_Error]) -> list[_Error]:
    """Keep the errors of the union branches that accept the type and kind of the value.

    If no branch accepts it, keep what each branch expects instead. Of an error at a place and one inside it, the one
    inside is kept.
    """
    refusing = {branch for error in errors for branch in error.branches if error.refuses(branch[0])}
    accepting = {union for error in errors for union, name in error.branches if (union, name) not in refusing}
    kept = [
        error
        for error in errors
        if all(branch not in refusing or (branch[0] not in accepting and error.refuses(branch[0]))
               for branch in error.branches)
    ] or errors  # fmt: skip
    outer = {error.path[:end] for error in kept for end in range(len(error.path))}
    return [error for error in kept if error.path not in outer]


def _explain(errors: Sequence[_Error], messages: Sequence[Any]) -> str:
    """Say what was found at the path of some errors, and what any of them expects."""
    first = errors[0]
    value: Any = messages
    for step in first.path[:-1]:
        value = value[step]
    step = first.path[-1]
    expected = list(dict.fromkeys(word for error in errors for word in error.expected))
    choice = " or ".join([", ".join(expected[:-1]), expected[-1]] if len(expected) > 1 else expected)
    if type(value) is dict and step not in value:
        return f"`{step}` is missing{f', expected {choice}' if choice else ''}{suggestion(step, value)}"
    names = [word.strip("`") for word in expected if word.startswith("`")]
    hope = f", expected {choice}{suggestion(value[step], names)}" if choice else f": {first.message}"
    return f"found {described(value[step])}{hope}"
