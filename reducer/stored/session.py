"""Session histories as chat front ends store them: which messages are such, and the tool returns in each, with all their copies.

A message is `{role, text_content, parts, activity_parts, response_text_main, timestamp, interaction_id, …}`. The answers of tools stand in
`parts[]` of `type: activity` and once more in the older `activity_parts[]`, in both as `results[] {name, content, is_error, call_id}`;
stored documents have beside these `technical_details {function_name, arguments, raw_result, status, …}`, without an id.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reducer.stored.messages import Several
from reducer.stored.outline import NO_CONTENT, Kept
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
_FAR = 1 << 14
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


@dataclass(slots=True)
class _Return:
    """One tool return while its copies are gathered: `listed` names the list that it was first found in."""

    part: int
    tool: Any
    call_id: Any
    listed: str
    copies: list[Kept]
    timestamp: Any
    text: str | None = None
    error: str = ""


@dataclass(slots=True)
class _Gathered:
    """The returns of a message in order, by id and by text; `aside` are the values kept aside, where these do not stand in their places."""

    aside: dict[int, Kept] | None
    returns: list[_Return] = field(default_factory=list)
    by_id: dict[tuple[str, str], list[_Return]] = field(default_factory=dict)
    by_text: dict[tuple[str, int, str], list[_Return]] | None = None


def tool_returns(message: dict[str, Any], index: int, aside: dict[int, Kept] | None = None) -> list[Found]:
    """Give the tool returns of a message whose contents and raw results were kept aside.

    With `aside` raises `KeyError` or `TypeError` where one was not.
    """
    gathered: _Gathered | None = None
    for listed in _LISTS:
        parts = message.get(listed)
        if type(parts) is not list:
            continue
        times: dict[tuple[str, str], int] = {}
        for number, part in enumerate(parts):
            if type(part) is not dict:
                continue
            kind = part.get("type")  # as `answers` tells, which takes a third more time
            if kind == "activity":
                kind = part.get("activity_type")
            if type(kind) is str and kind in _ANSWERS:
                if gathered is None:
                    gathered = _Gathered(aside)
                _activity(gathered, part, number, listed, times)
    return [] if gathered is None else [_found(index, item) for item in gathered.returns]


def several(raw: Raw, start: int, index: int, asked_for: bool, alone: bool = False) -> Several | None:
    """Read messages from the one at `start` on, or that `alone`, at once, counting from `index`; None where they have to be read one by one.

    That is so also where none is certain to be of a session history, unless that was `asked_for`.
    """
    text = raw.source.text
    # Texts as contents are found soonest, as the most usual ones of other activities are null.
    blank = " " if text.find('": ', start, start + _NEAR) >= 0 else ""
    details = text.find('"technical_details"', start, start + _FAR) >= 0
    looks = ((f'"content":{blank}"', _RESULT), _RAW_RESULT if details else None), (('"content"', _RESULT), _RAW_RESULT)
    for first, second in looks:
        read = stretch(raw, start, first, second, alone, copies=True)
        if read is None:
            return None
        found: list[Found] = []
        certain = asked_for
        try:
            for number, message in enumerate(read.items):
                plain = number and "kind" not in message and type(message.get("role")) is str
                if not plain and not is_message(message, asked_for or number > 0):
                    return None
                certain = certain or is_certain(message)
                found += tool_returns(message, index + number, read.aside)
        except (AttributeError, KeyError, TypeError):
            continue
        if read.complete(sum(1 + len(item[7]) for item in found)) and (second is None or read.plain()):
            return Several(found, len(read.items), read.end, "session") if certain else None
    return None


def answers(part: dict[str, Any]) -> bool:
    """Tell whether a part of a message carries answers of tools."""
    kind = part.get("activity_type") if part.get("type") == "activity" else part.get("type")
    return type(kind) is str and kind in _ANSWERS


def _activity(gathered: _Gathered, part: dict[str, Any], number: int, listed: str, times: dict[tuple[str, str], int]) -> None:
    """Gather the returns of one activity that carries answers, and what its technical details say of them."""
    here: list[_Return] = []
    results = part.get("results")
    for result in results if type(results) is list else objects(results):
        if type(result) is not dict:
            continue
        kept = _kept(gathered, result, "content")
        item = _return_of(gathered, result, kept, number, listed, times, part)
        here.append(item)
        if kept is not None:
            item.copies.append(kept)
        error = result.get("is_error")
        if error is not False and error not in (None, False):
            item.error = _ERROR
    if part.get("technical_details") is None:
        return
    tools = objects(part.get("tools"))
    taken: set[int] = set()
    for position, details in enumerate(objects(part["technical_details"])):
        kept = _kept(gathered, details, "raw_result")
        whose = _paired(here, taken, position, details.get("function_name"))
        if whose < 0:
            call_id = tools[position].get("id") if position < len(tools) else None
            here.append(_Return(number, details.get("function_name"), call_id, listed, [], part.get("timestamp")))
            gathered.returns.append(here[-1])
        taken.add(whose)
        if kept is not None:
            here[whose].copies.append(kept)
        if details.get("status") not in (None, "success"):
            here[whose].error = _ERROR


def _return_of(
    gathered: _Gathered, result: dict[str, Any], kept: Kept | None, number: int, listed: str, times: dict[tuple[str, str], int], part: dict[str, Any]
) -> _Return:
    """Find the return that one of `results` is a copy of, or begin one."""
    tool, call_id = result.get("name"), result.get("call_id")
    same: list[_Return] = []
    if type(tool) is str and type(call_id) is str:
        # An id may come back within one message, which holds a whole run: the second return with it here is the second one there.
        key = tool, call_id
        nth = times.get(key, 0)
        times[key] = nth + 1
        same = gathered.by_id.get(key, same)
        if nth < len(same):
            return same[nth]
        if listed == _LISTS[0] and not same:
            gathered.by_id[key] = same
    text = kept[2] if kept is not None and type(kept[2]) is str else None
    if listed != _LISTS[0] and text is not None and type(tool) is str:
        # Where one of the two was stored without its id, the name and the text say that they are the same.
        alike = _alike(gathered, tool, text)
        for other in alike[:_FEW]:
            if (call_id is None or other.call_id is None) and other.text == text:
                alike.remove(other)
                return other
    item = _Return(number, tool, call_id, listed, [], part.get("timestamp"), text)
    gathered.returns.append(item)
    same.append(item)
    return item


def _alike(gathered: _Gathered, tool: str, text: str) -> list[_Return]:
    """Give the returns of the newer list whose texts are as long and begin alike."""
    if gathered.by_text is None:
        gathered.by_text = {}
        for item in gathered.returns:
            if item.text is not None and type(item.tool) is str and item.listed == _LISTS[0]:
                gathered.by_text.setdefault((item.tool, len(item.text), item.text[:_BEGINNING]), []).append(item)
    return gathered.by_text.get((tool, len(text), text[:_BEGINNING]), [])


def _paired(here: list[_Return], taken: set[int], position: int, tool: Any) -> int:
    """Tell which of an activity's results its technical details at `position` are of: by position, then by name; -1 for none."""
    if position < len(here) and position not in taken and (tool is None or here[position].tool == tool):
        return position
    return next((number for number, item in enumerate(here) if number not in taken and item.tool == tool), -1)


def _found(index: int, item: _Return) -> Found:
    copies = item.copies
    flaw = item.error
    if len(copies) != 1 or type(copies[0][2]) is not str:
        copies = [kept for kept in copies if type(kept[2]) in _REDUCIBLE] or copies or [NO_CONTENT]
    first = copies[0]
    for kept in copies:
        if type(kept[2]) is str:  # a text says it first, where there is one: other copies may be what it says
            first = kept
            break
    for kept in item.copies:
        flaw = flaw or kept[3]
    fields = {"tool_name": item.tool, "tool_call_id": "" if item.call_id is None else item.call_id, "timestamp": item.timestamp}
    return index, item.part, fields, first[2], first[0], first[1], flaw, tuple(kept for kept in copies if kept is not first)


def _kept(gathered: _Gathered, holder: dict[str, Any], key: str) -> Kept | None:
    """Look up a value that was kept aside."""
    value: Any = holder.get(key)
    if gathered.aside is None:
        return value if type(value) is tuple else None
    return gathered.aside[value] if value is not None or key in holder else None


def objects(value: Any) -> list[dict[str, Any]]:
    """Give the objects of a list; one object counts as a list of it, anything else as none."""
    return [item for item in value if type(item) is dict] if type(value) is list else [value] if type(value) is dict else []
