"""Session histories as chat front ends store them: which messages are such, and the tool returns in each, with all their copies.

A message is `{role, text_content, parts, activity_parts, response_text_main, timestamp, interaction_id, …}`. The answers of tools stand in
`parts[]` of `type: activity` and once more in the older `activity_parts[]`, in both as `results[] {name, content, is_error, call_id}`;
stored documents have beside these `technical_details {function_name, arguments, raw_result, status, …}`, without an id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reducer.stored.messages import Several
from reducer.stored.outline import NO_CONTENT, TWICE, UNSURE, Kept
from reducer.stored.raw import Found, Raw
from reducer.stored.stretch import Look, beginning, stretch

_SIGNS = frozenset({"text_content", "activity_parts", "response_text_main", "interaction_id"})
_ANSWERS = frozenset({"tool_result", "tool_call"})
"""The activities that carry answers; in a `tool_call` the request and its result are one."""
_LISTS = ("parts", "activity_parts")
_RESULT = beginning("name")
_RAW_RESULT: Look = ('"raw_result"', None)
_ERROR = "it is an error"
_REDUCIBLE = frozenset({str, list, dict})
_NEAR = 60
_BEGINNING = 64
_FEW = 16


def is_message(item: object, asked_for: bool) -> bool:
    """Tell whether a value may be a message of a session history; less is enough where that format was asked for."""
    if type(item) is not dict or (type(item.get("kind")) is str and "parts" in item):
        return False
    if not _SIGNS.isdisjoint(item):
        return asked_for or type(item.get("role")) is str
    return type(item.get("role")) is str and (asked_for or "parts" in item)


def is_certain(message: dict[str, Any]) -> bool:
    """Tell whether a message can be of a session history only; others have `role` and `parts` too."""
    if not _SIGNS.isdisjoint(message):
        return True
    parts = message.get("parts")
    return type(parts) is list and any(type(part) is dict and part.get("type") == "activity" for part in parts)


Keeping = Callable[[Any], Kept | None]
"""Gives the value kept aside for what stands in its place."""

_Return = tuple[int, dict[str, Any], list[Kept], str | None, list[str]]
"""One tool return while its copies are gathered: its part, its fields by PydanticAI's names, its copies, the text that it began with, and its errors.
A bare tuple, as `Found` is."""


class _Gathered:
    """The returns of a message in order, by id and by text; `before` are those of the newer list, once that is passed."""

    __slots__ = ("before", "by_id", "by_text", "kept", "returns", "times")

    def __init__(self, kept: Keeping) -> None:
        self.kept = kept
        self.before = -1
        self.returns: list[_Return] = []
        self.by_id: dict[tuple[str, str], list[_Return]] = {}
        self.by_text: dict[tuple[str, int, str], list[_Return]] | None = None
        self.times: dict[tuple[str, str], int] = {}


def in_place(value: Any) -> Kept | None:
    """Give a value kept aside that stands in its own place."""
    return value if type(value) is tuple else None


def tool_returns(message: dict[str, Any], index: int, kept: Keeping = in_place) -> list[Found]:
    """Give the tool returns of a message whose contents and raw results were kept aside; raises what `kept` raises for one that was not."""
    gathered: _Gathered | None = None
    for listed in _LISTS:
        parts = message.get(listed)
        if not parts or type(parts) is not list:
            continue
        for number, part in enumerate(parts):
            if type(part) is not dict:
                continue
            kind = part.get("type")  # as `answers` tells, which takes a third more time
            if kind == "activity":
                kind = part.get("activity_type")
            if type(kind) is str and kind in _ANSWERS:
                if gathered is None:
                    gathered = _Gathered(kept)
                _activity(gathered, part, number)
        if gathered is not None and gathered.before < 0:
            gathered.before = len(gathered.returns)
    return [] if gathered is None else [_found(index, item) for item in gathered.returns]


def several(raw: Raw, start: int, index: int, asked_for: bool, alone: bool = False) -> Several | None:
    """Read messages from the one at `start` on, or that `alone`, at once, counting from `index`; None where they have to be read one by one.

    That is so also where none is certain to be of a session history, unless that was `asked_for`.
    """
    text = raw.source.text
    # Texts as contents are found soonest, as the most usual ones of other activities are null.
    blank = " " if text.find('": ', start, start + _NEAR) >= 0 else ""
    second = _RAW_RESULT if raw.has_details else None
    looks: tuple[Look, ...] = (f'"content":{blank}"', _RESULT), ('"content"', _RESULT), ('"content"', None)
    for look in sorted(range(len(looks)), key=lambda look: look != raw.look):  # what failed once mostly fails again
        read = stretch(raw, start, looks[look], second, alone, copies=True)
        if read is None and raw.structured:
            return None
        if read is None:
            continue
        found: list[Found] = []
        certain = asked_for
        try:
            for number, message in enumerate(read.items):
                plain = number and "kind" not in message and type(message.get("role")) is str
                if not plain and not is_message(message, asked_for or number > 0):
                    return None
                certain = certain or is_certain(message)
                found += tool_returns(message, index + number, read.aside.__getitem__)
        except (AttributeError, KeyError, TypeError):
            continue
        if read.complete(len(found) + sum([len(item[7]) for item in found])) and read.plain():
            raw.look = look
            return Several(found, len(read.items), read.end, "session") if certain else None
    return None


def answers(part: dict[str, Any]) -> bool:
    """Tell whether a part of a message carries answers of tools."""
    kind = part.get("activity_type") if part.get("type") == "activity" else part.get("type")
    return type(kind) is str and kind in _ANSWERS


def _activity(gathered: _Gathered, part: dict[str, Any], number: int) -> None:
    """Gather the returns of one activity that carries answers, and what its technical details say of them."""
    here: list[_Return] = []
    results = part.get("results")
    for result in results if type(results) is list else objects(results):
        if type(result) is not dict:
            continue
        get = result.get
        value, tool, call_id, error = get("content"), get("name"), get("call_id"), get("is_error")
        copy = gathered.kept(value) if value is not None or "content" in result else None
        text = copy[2] if copy is not None and type(copy[2]) is str else None
        item = None if gathered.before < 0 else _known(gathered, tool, call_id, text)
        if item is None:
            item = number, {"tool_name": tool, "tool_call_id": call_id, "timestamp": part.get("timestamp")}, [], text, []
            gathered.returns.append(item)
            if gathered.before < 0 and type(tool) is str and type(call_id) is str:
                gathered.by_id.setdefault((tool, call_id), []).append(item)
        here.append(item)
        if copy is not None:
            item[2].append(copy)
        if error not in (None, False):
            item[4].append(_ERROR)
    details = part.get("technical_details")
    if details is not None:
        _details(gathered, part, details, number, here)


def _details(gathered: _Gathered, part: dict[str, Any], details: Any, number: int, here: list[_Return]) -> None:
    """Gather what the technical details of an activity say of its returns, which are `here`."""
    taken: set[int] = set()
    position = -1
    for one in details if type(details) is list else [details]:
        if type(one) is not dict:
            continue
        position += 1
        value = one.get("raw_result")
        copy = gathered.kept(value) if value is not None or "raw_result" in one else None
        tool = one.get("function_name")
        whose = _paired(here, taken, position, tool)
        if whose < 0:
            tools = objects(part.get("tools"))
            call_id = tools[position].get("id") if position < len(tools) else None
            here.append((number, {"tool_name": tool, "tool_call_id": call_id, "timestamp": part.get("timestamp")}, [], None, []))
            gathered.returns.append(here[-1])
            whose = len(here) - 1
        taken.add(whose)
        if copy is not None:
            here[whose][2].append(copy)
        status = one.get("status")
        if status != "success" and status is not None:
            here[whose][4].append(_ERROR)


def _known(gathered: _Gathered, tool: Any, call_id: Any, text: str | None) -> _Return | None:
    """Find the return of the newer list that one of the older list is a copy of."""
    if type(tool) is not str:
        return None
    if type(call_id) is str:
        # An id may come back within one message, which holds a whole run: the second return with it here is the second one there.
        key = tool, call_id
        nth = gathered.times.get(key, 0)
        gathered.times[key] = nth + 1
        same = gathered.by_id.get(key)
        if same is not None and nth < len(same):
            return same[nth]
    if text is not None:
        # Where one of the two was stored without its id, the name and the text say that they are the same.
        alike = _alike(gathered, tool, text)
        for other in alike[:_FEW]:
            if (call_id is None or other[1]["tool_call_id"] is None) and other[3] == text:
                alike.remove(other)
                return other
    return None


def _alike(gathered: _Gathered, tool: str, text: str) -> list[_Return]:
    """Give the returns of the newer list whose texts are as long and begin alike."""
    if gathered.by_text is None:
        gathered.by_text = {}
        for item in gathered.returns[: gathered.before]:
            _, fields, _, first, _ = item
            if first is not None and type(fields["tool_name"]) is str:
                gathered.by_text.setdefault((fields["tool_name"], len(first), first[:_BEGINNING]), []).append(item)
    return gathered.by_text.get((tool, len(text), text[:_BEGINNING]), [])


def _paired(here: list[_Return], taken: set[int], position: int, tool: Any) -> int:
    """Tell which of an activity's results its technical details at `position` are of: by position, then by name; -1 for none."""
    if position < len(here) and position not in taken and (tool is None or here[position][1]["tool_name"] == tool):
        return position
    return next((number for number, item in enumerate(here) if number not in taken and item[1]["tool_name"] == tool), -1)


def _found(index: int, item: _Return) -> Found:
    part, fields, copies, _, errors = item
    if fields["tool_call_id"] is None:
        fields["tool_call_id"] = ""
    flaw = errors[0] if errors else ""
    first = None
    odd = not copies
    for copy in copies:
        _, _, value, why = copy
        if first is None and type(value) is str:
            first = copy  # a text says it first, where there is one: other copies may be what it says
        elif type(value) not in _REDUCIBLE:
            odd = True
        if why and (not flaw or flaw is UNSURE or (flaw is TWICE and why is not UNSURE)):
            flaw = why
    if odd and (len(copies) != 1):
        copies = [copy for copy in copies if type(copy[2]) in _REDUCIBLE] or copies or [NO_CONTENT]
    if first is None:
        first = copies[0]
    start, end, value, _ = first
    return index, part, fields, value, start, end, flaw, tuple([copy for copy in copies if copy is not first])


def objects(value: Any) -> list[dict[str, Any]]:
    """Give the objects of a list; one object counts as a list of it, anything else as none."""
    return [item for item in value if type(item) is dict] if type(value) is list else [value] if type(value) is dict else []
