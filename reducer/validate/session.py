"""The lighter checklist for session histories, as chat front ends store them: shapes, requests and results, copies.

A message is `{role, text_content, parts, activity_parts, response_text_main, timestamp, interaction_id, …}`. Activities stand in `parts[]` (`type:
activity` with an `activity_type`) and once more in the older `activity_parts[]` (the kind is the `type`): a tool_request carries `tools[] {name,
arguments, id}`, a tool_result `results[] {name, content, is_error, call_id}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from reducer.validate.finding import Finding, Path, described, short

_SIGNS = frozenset({"text_content", "activity_parts", "response_text_main", "interaction_id"})
_LISTS = ("parts", "activity_parts")


def is_session_message(value: Any) -> bool:
    """Tell whether a value is a message of a session history: it has a role, and what only those have."""
    if type(value) is not dict or type(value.get("role")) is not str:
        return False
    parts = value.get("parts")
    return not _SIGNS.isdisjoint(value) or (type(parts) is list and any(type(part) is dict and part.get("type") == "activity" for part in parts))


def check_session(root: Path, messages: Sequence[Any]) -> Iterator[Finding]:
    """Check the messages of a session that stand at `root`."""
    asked: dict[str, Path] = {}
    answered: set[str] = set()
    for index, message in enumerate(messages):
        path = (*root, index)
        if type(message) is not dict or type(message.get("role")) is not str:
            yield Finding("V060", path, f"found {described(message)}, expected an object with a text as `role`")
        if type(message) is dict:
            yield from check_session_message(path, message, asked, answered)
    for id, place in asked.items():
        if id not in answered:
            yield Finding("V062", place, f"the request {short(id)} has no result")


def check_session_message(path: Path, message: dict[str, Any], asked: dict[str, Path], answered: set[str]) -> Iterator[Finding]:
    """Check one message; `asked` and `answered` gather the ids of requests, with their places, and of results."""
    contents: dict[tuple[str, str, int], Any] = {}
    for listed in _LISTS:
        times: dict[tuple[str, str], int] = {}
        for where, part in _objects((*path, listed), message.get(listed)):
            if isinstance(part, Finding):
                yield part
                continue
            for place, tool in _objects((*where, "tools"), part.get("tools")):
                if isinstance(tool, Finding):
                    yield tool
                elif type(tool.get("id")) is str:
                    asked.setdefault(tool["id"], (*place, "id"))
            for place, result in _objects((*where, "results"), part.get("results")):
                if isinstance(result, Finding):
                    yield result
                    continue
                yield from _check_result(place, result)
                name, id = result.get("name"), result.get("call_id")
                if type(name) is not str or type(id) is not str:
                    continue
                if id not in asked and id not in answered:
                    yield Finding("V061", (*place, "call_id"), f"no request before it has the id {short(id)}")
                answered.add(id)
                times[name, id] = nth = times.get((name, id), 0) + 1
                content = result.get("content")
                if contents.setdefault((name, id, nth), content) != content:
                    yield Finding("V063", (*place, "content"), f"differs from the copy of {short(id)} in `{_LISTS[0]}`")


def _check_result(path: Path, result: dict[str, Any]) -> Iterator[Finding]:
    for name in ("name", "content", "call_id"):
        value = result.get(name)
        if type(value) is not str and not (value is None and name == "call_id"):
            lack = f"found {described(value)}" if name in result else f"`{name}` is missing"
            yield Finding("V065", (*path, name), f"{lack}, expected a text")


def _objects(path: Path, value: Any) -> Iterator[tuple[Path, dict[str, Any] | Finding]]:
    """Give the objects of a list with their places, and a finding for what is none; null and a missing list are empty ones."""
    if type(value) is not list:
        if value is not None:
            yield path, Finding("V064", path, f"found {described(value)}, expected a list of objects or null")
        return
    for index, item in enumerate(value):
        here = (*path, index)
        yield here, item if type(item) is dict else Finding("V064", here, f"found {described(item)}, expected an object")
