"""Whether the fields of messages and parts hold what they can hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from pydantic_core import SchemaValidator, ValidationError, from_json
from pydantic_core.core_schema import datetime_schema

from reducer.validate.finding import Finding, Path, described, nearest
from reducer.validate.kinds import COUNTS, ITEM_FIELDS, ITEM_KINDS, MESSAGE_FIELDS, PART_FIELDS, TOOL_KINDS, Field

_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII)
_FINE = re.compile(r"\.\d{7}")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]*+|[A-Za-z0-9_-]*+)={0,2}")
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_read_time: Callable[[Any], Any] = SchemaValidator(datetime_schema()).validate_python
_EXPECTED_TIME = "ISO 8601 with zone, as 2025-06-01T12:00:00.123456Z"
_MISSING = object()


Shapes = set[tuple[Any, ...]]
"""Names and types of fields that were found right before: most messages look alike, and a look into this set takes a fifth of the checks."""


def check_fields(path: Path, found: Mapping[str, Any], kind: str, fields: Mapping[str, Field], right: Shapes) -> Iterator[Finding]:
    """Check the fields of one message or part: those that are missing, their types, their values."""
    shape = (kind, *found, *map(type, found.values()))
    if shape in right:
        for name, field in _VALUED.get(kind, {}).items():
            value = found.get(name)
            if value is not None and value not in field.values:
                yield Finding("V018", (*path, name), f"found {described(value)}, expected {field.expected}{nearest(value, field.values)}")
        return
    findings = list(_fields(path, found, fields))
    if not findings:
        right.add(shape)
    yield from findings


def is_valued(found: Mapping[str, Any], kind: str) -> bool:
    """Tell whether the fields that can have but some values have one of those."""
    fields = _VALUED.get(kind)
    return not fields or all(found.get(name) is None or found[name] in field.values for name, field in fields.items())


def is_timely(found: Mapping[str, Any]) -> bool:
    """Tell whether `timestamp` is missing, null, or as PydanticAI writes it."""
    value = found.get("timestamp")
    if value is None:
        return True
    if type(value) is not str or not _TIMESTAMP.fullmatch(value) or (len(value) > 27 and value[19] == "."):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


_VALUED = {
    kind: valued for kind, fields in {**MESSAGE_FIELDS, **PART_FIELDS}.items() if (valued := {name: field for name, field in fields.items() if field.values})
}


def _fields(path: Path, found: Mapping[str, Any], fields: Mapping[str, Field]) -> Iterator[Finding]:
    for name, field in fields.items():
        value = found.get(name, _MISSING)
        if value is _MISSING:
            if field.required:
                other = nearest(name, found)
                yield Finding("V016", (*path, name), f"`{name}` is missing: expected {field.expected}{other}")
        elif not field.holds(value):
            less = "; leave it out instead" if value is None and not field.required else ""
            yield Finding("V017", (*path, name), f"found {described(value)}, expected {field.expected}{less}")
        elif field.values and value is not None and value not in field.values:
            yield Finding("V018", (*path, name), f"found {described(value)}, expected {field.expected}{nearest(value, field.values)}")


def check_message(path: Path, message: dict[str, Any], right: Shapes) -> Iterator[Finding]:
    """Check the fields of a message whose kind is known, its parts aside."""
    kind = message["kind"]
    yield from check_fields(path, message, kind, MESSAGE_FIELDS[kind], right)
    yield from check_time(path, message)
    usage = message.get("usage")
    if kind == "response" and type(usage) is dict:
        findings = list(_check_usage((*path, "usage"), usage))
        if not findings and not usage.get("details") and str not in map(type, usage.values()) and float not in map(type, usage.values()):
            right.add(("usage", *usage, *map(type, usage.values())))
        yield from findings


def _check_usage(path: Path, usage: dict[str, Any]) -> Iterator[Finding]:
    for name in COUNTS:
        if name in usage and not _is_whole(usage[name]):
            yield Finding("V017", (*path, name), f"found {described(usage[name])}, expected a whole number")
    details = usage.get("details")
    if details is None or details == []:
        return
    if type(details) is not dict:
        yield Finding("V017", (*path, "details"), f"found {described(details)}, expected an object or null")
        return
    for name, value in details.items():
        if not _is_whole(value):
            yield Finding("V017", (*path, "details", name), f"found {described(value)}, expected a whole number")


def _is_whole(value: Any) -> bool:
    """Tell whether PydanticAI reads it as a whole number: 3, 3.0, "3" and true."""
    if type(value) is float:
        return value.is_integer()
    return isinstance(value, int) or (type(value) is str and _WHOLE.fullmatch(value) is not None)


def check_time(path: Path, found: Mapping[str, Any]) -> Iterator[Finding]:
    """Check `timestamp`, if there is one."""
    value = found.get("timestamp")
    if type(value) not in (str, int, float) or is_timely(found):
        return
    here = (*path, "timestamp")
    try:
        read = _read_time(value)
    except (ValidationError, OverflowError) as error:
        reason = error.errors()[0]["msg"].partition(", ")[2] if isinstance(error, ValidationError) else "out of range"
        yield Finding("V020", here, f"found {described(value)}{f': {reason}' if reason else ''}; expected {_EXPECTED_TIME}")
        return
    if type(value) is str and _FINE.search(value):
        yield Finding("V022", here, f"found {described(value)}: PydanticAI keeps six digits of a second")
    elif type(value) is not str or read.tzinfo is None or not _TIMESTAMP.fullmatch(value):
        lack = "has no zone" if read.tzinfo is None else "is not ISO 8601"
        yield Finding("V021", here, f"found {described(value)}, which {lack}; expected {_EXPECTED_TIME}")


def check_part(path: Path, part: dict[str, Any], kind: str, right: Shapes) -> Iterator[Finding]:
    """Check a part of a known kind: its fields, and what stands in its content."""
    yield from check_fields(path, part, kind, PART_FIELDS.get(kind, {}), right)
    yield from check_time(path, part)
    tool = TOOL_KINDS.get(str(part.get("tool_kind"))) if kind in ("tool-call", "tool-return") else None
    if tool is not None and part.get("tool_name") != tool:
        yield Finding("V018", (*path, "tool_name"), f"found {described(part.get('tool_name'))}, expected `{tool}`: the tool kind is {part['tool_kind']}")
    content = part.get("content")
    here = (*path, "content")
    if kind == "user-prompt" and type(content) is list:
        for index, item in enumerate(content):
            yield from _check_item((*here, index), item)
    elif kind == "file" and type(content) is dict:
        yield from _check_texts(here, content, "binary")
    elif kind == "retry-prompt" and type(content) is list:
        yield from _check_errors(here, content)
    if content == "" and kind in ("user-prompt", "text", "system-prompt"):
        yield Finding("V050", here, "an empty text")


def _check_item(path: Path, item: Any) -> Iterator[Finding]:
    if type(item) is str:
        if not item:
            yield Finding("V050", path, "an empty text")
    elif type(item) is not dict:
        yield Finding("V017", path, f"found {described(item)}, expected a text or a media item")
    elif "kind" in item:
        kind = item["kind"]
        if kind in ITEM_KINDS:
            yield from _check_texts(path, item, kind)
        else:
            yield Finding("V015", (*path, "kind"), f"found {described(kind)}, expected one of {', '.join(ITEM_KINDS)}{nearest(kind, ITEM_KINDS)}")


def _check_texts(path: Path, item: dict[str, Any], kind: str) -> Iterator[Finding]:
    for name in ITEM_FIELDS.get(kind, ()):
        value = item.get(name, _MISSING)
        if value is _MISSING:
            yield Finding("V016", (*path, name), f"`{name}` is missing: a {kind} has it{nearest(name, item)}")
        elif type(value) is not str:
            yield Finding("V017", (*path, name), f"found {described(value)}, expected a text")
        elif name == "data" and (not _BASE64.fullmatch(value) or len(value.rstrip("=")) % 4 == 1):
            yield Finding("V019", (*path, name), "not base64: expected letters, digits, `+` and `/`, padded with `=`")


def _check_errors(path: Path, errors: list[Any]) -> Iterator[Finding]:
    """Check the errors of validation that a retry lists: pydantic's `ErrorDetails`."""
    for index, error in enumerate(errors):
        if type(error) is not dict:
            yield Finding("V017", (*path, index), f"found {described(error)}, expected an error with type, loc, msg and input")
            continue
        for name in ("type", "loc", "msg", "input"):
            if name not in error:
                yield Finding("V016", (*path, index, name), f"`{name}` is missing: an error has type, loc, msg and input")


def is_object_text(text: str) -> bool:
    """Tell whether `args` says a JSON object; PydanticAI takes an empty text for one."""
    try:
        return not text or type(from_json(text)) is dict
    except ValueError:
        return False
