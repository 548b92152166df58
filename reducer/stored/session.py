"""Session histories as chat front ends store them: which messages are such, and the tool returns in each, with all their copies.

A message is `{role, text_content, parts, activity_parts, response_text_main, timestamp, interaction_id, …}`. The answers of tools stand in
`parts[]` of `type: activity` and once more in the older `activity_parts[]`, in both as `results[] {name, content, is_error, call_id}`;
stored documents have beside these `technical_details {function_name, arguments, raw_result, status, …}`, without an id.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reducer.stored.messages import Found
from reducer.stored.outline import NO_CONTENT, Kept

_SIGNS = frozenset({"text_content", "activity_parts", "response_text_main", "interaction_id"})
_ANSWERS = frozenset({"tool_result", "tool_call"})
"""The activities that carry answers; in a `tool_call` the request and its result are one."""
_LISTS = ("parts", "activity_parts")
_ERROR = "it is an error"
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
    error: str = ""


@dataclass(slots=True)
class _Gathered:
    """The returns of a message in order, by id and by text, and how many of the values kept aside were seen."""

    returns: list[_Return] = field(default_factory=list)
    by_id: dict[tuple[Any, ...], _Return] = field(default_factory=dict)
    by_text: dict[tuple[Any, ...], list[_Return]] = field(default_factory=dict)
    reached: int = 0
    odd: bool = False


def tool_returns(message: dict[str, Any], index: int, made: int) -> list[Found] | None:
    """Give the tool returns of a message whose contents and raw results were kept aside, `made` of them; None when not all are found.

    `made` is negative for a message that was read piece by piece: then what is not found does no harm.
    """
    gathered = _Gathered()
    _keep(gathered, message, "content")
    for listed in _LISTS:
        times: dict[tuple[str, str], int] = {}
        parts = message.get(listed)
        for number, part in enumerate(parts if type(parts) is list else ()):
            if type(part) is dict:
                _activity(gathered, part, number, listed, times)
    if made >= 0 and gathered.returns and (gathered.odd or gathered.reached != made):
        return None
    return [_found(index, item) for item in gathered.returns]


def answers(part: dict[str, Any]) -> bool:
    """Tell whether a part of a message carries answers of tools."""
    kind = part.get("activity_type") if part.get("type") == "activity" else part.get("type")
    return type(kind) is str and kind in _ANSWERS


def _activity(gathered: _Gathered, part: dict[str, Any], number: int, listed: str, times: dict[tuple[str, str], int]) -> None:
    """Gather the returns of one activity, and what its technical details say of them."""
    _keep(gathered, part, "content")
    carries = answers(part)
    tools = objects(part.get("tools"))
    for tool in tools:
        if type(tool.get("arguments")) is dict:
            _keep(gathered, tool["arguments"], "content")
    here: list[_Return] = []
    for result in objects(part.get("results")):
        kept = _keep(gathered, result, "content")
        if carries:
            item = _return_of(gathered, result, kept, number, listed, times, part.get("timestamp"))
            here.append(item)
            if kept is not None:
                item.copies.append(kept)
            if result.get("is_error") not in (None, False):
                item.error = _ERROR
    taken: set[int] = set()
    for position, details in enumerate(objects(part.get("technical_details"))):
        if type(details.get("arguments")) is dict:
            _keep(gathered, details["arguments"], "content")
        kept = _keep(gathered, details, "raw_result")
        if carries:
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
    gathered: _Gathered, result: dict[str, Any], kept: Kept | None, number: int, listed: str, times: dict[tuple[str, str], int], timestamp: Any
) -> _Return:
    """Find the return that one of `results` is a copy of, or begin one."""
    tool, call_id = result.get("name"), result.get("call_id")
    key: tuple[Any, ...] = ()
    if type(tool) is str and type(call_id) is str:
        # An id may come back within one message, which holds a whole run: the second return with it here is the second one there.
        times[tool, call_id] = nth = times.get((tool, call_id), 0) + 1
        key = (tool, call_id, nth)
        if key in gathered.by_id:
            return gathered.by_id[key]
    text = kept[2] if kept is not None else None
    alike = (tool, len(text), text[:_BEGINNING]) if type(text) is str and type(tool) is str else ()
    if listed != _LISTS[0]:
        for item in gathered.by_text.get(alike, ())[:_FEW]:
            # Where one of the two was stored without its id, the name and the text say that they are the same.
            if (call_id is None or item.call_id is None) and item.copies[0][2] == text:
                gathered.by_text[alike].remove(item)
                return item
    item = _Return(number, tool, call_id, listed, [], timestamp)
    gathered.returns.append(item)
    if listed == _LISTS[0]:
        if key:
            gathered.by_id[key] = item
        if alike:
            gathered.by_text.setdefault(alike, []).append(item)
    return item


def _paired(here: list[_Return], taken: set[int], position: int, tool: Any) -> int:
    """Tell which of an activity's results its technical details at `position` are of: by position, then by name; -1 for none."""
    if position < len(here) and position not in taken and (tool is None or here[position].tool == tool):
        return position
    return next((number for number, item in enumerate(here) if number not in taken and item.tool == tool), -1)


def _found(index: int, item: _Return) -> Found:
    copies = [kept for kept in item.copies if type(kept[2]) in (str, list, dict)] or item.copies or [NO_CONTENT]
    # A text says it first, where there is one: other copies may be what it says.
    first = next((kept for kept in copies if type(kept[2]) is str), copies[0])
    flaw = item.error or next((kept[3] for kept in item.copies if kept[3]), "")
    fields = {"tool_name": item.tool, "tool_call_id": "" if item.call_id is None else item.call_id, "timestamp": item.timestamp}
    return index, item.part, fields, first[2], first[0], first[1], flaw, tuple(kept for kept in copies if kept is not first)


def _keep(gathered: _Gathered, holder: dict[str, Any], key: str) -> Kept | None:
    """Look up a value that was kept aside, and count it."""
    value = holder.get(key)
    if type(value) is tuple:
        gathered.reached += 1
        return value
    if key in holder:  # its key was written with escapes
        gathered.odd = True
    return None


def objects(value: Any) -> list[dict[str, Any]]:
    """Give the objects of a list; one object counts as a list of it, anything else as none."""
    return [item for item in value if type(item) is dict] if type(value) is list else [value] if type(value) is dict else []
