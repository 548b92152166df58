"""The checklist for PydanticAI's messages: kinds, sides, order, fields, calls and answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from reducer.validate.fields import Shapes, check_message, check_part, is_timely, is_valued
from reducer.validate.finding import Finding, Path, described, nearest
from reducer.validate.kinds import REQUEST_KINDS, RESPONSE_KINDS
from reducer.validate.pairing import check_calls

_KINDS = {"request": REQUEST_KINDS, "response": RESPONSE_KINDS}
_ALL_KINDS = (*REQUEST_KINDS, *RESPONSE_KINDS)
_ANSWERS = frozenset({"tool-return", "retry-prompt"})


def check_messages(root: Path, messages: Sequence[Any]) -> Iterator[Finding]:
    """Check a list of messages that stands at `root`."""
    right: Shapes = set()
    for index, message in enumerate(messages):
        if not _is_right(message, right):
            yield from check_one((*root, index), message, right)
    yield from _check_order(root, messages)
    yield from check_calls(root, messages)


def check_one(path: Path, message: Any, right: Shapes) -> Iterator[Finding]:
    """Check one message for itself: its kind, its fields, its parts. `right` gathers the shapes that are right."""
    if type(message) is not dict:
        yield Finding("V010", path, f"found {described(message)}, expected a message: an object with `kind` and `parts`")
        return
    kind = message.get("kind")
    if type(kind) is not str or kind not in _KINDS:
        lack = f"found {described(kind)}" if "kind" in message else "`kind` is missing"
        yield Finding("V010", (*path, "kind"), f"{lack}, expected `request` or `response`{nearest(kind, _KINDS)}")
    else:
        yield from check_message(path, message, right)
    parts = message.get("parts")
    here = (*path, "parts")
    if type(parts) is not list:
        lack = f"found {described(parts)}" if "parts" in message else "`parts` is missing"
        yield Finding("V011", here, f"{lack}, expected a list{'' if parts else nearest('parts', message)}")
        return
    if not parts:
        yield Finding("V012", here, "no parts")
    for number, part in enumerate(parts):
        yield from _check_side((*here, number), part, kind if type(kind) is str else "", right)


def _is_right(message: Any, right: Shapes) -> bool:
    """Tell at a glance that there is nothing to say about a message: what is in it has shapes that were right before. False may mean anything."""
    # Of the usual message this takes 4 µs, a fifth of what the checks take.
    kind = message.get("kind") if type(message) is dict else None
    if type(kind) is not str or (kind, *message, *map(type, message.values())) not in right:
        return False
    parts = message.get("parts")
    if type(parts) is not list or not parts or not is_timely(message) or not is_valued(message, kind):
        return False
    kinds = _KINDS[kind]
    usage = message.get("usage")
    if usage and ("usage", *usage, *map(type, usage.values())) not in right:
        return False
    for part in parts:
        if type(part) is not dict:
            return False
        kind = part.get("part_kind")
        if type(kind) is not str or (kind, *part, *map(type, part.values())) not in right or kind not in kinds or not is_timely(part):
            return False
        if kind in _LOOKED_INTO and (type(part["content"]) is not str or not part["content"]):
            return False
        if part.get("tool_kind") is not None or not is_valued(part, kind):
            return False
    return True


_LOOKED_INTO = frozenset({"user-prompt", "text", "system-prompt", "file", "retry-prompt"})


def _check_side(path: Path, part: Any, side: str, right: Shapes) -> Iterator[Finding]:
    if type(part) is not dict:
        yield Finding("V013", path, f"found {described(part)}, expected a part: an object with `part_kind`")
        return
    kind = part.get("part_kind")
    if type(kind) is not str:
        lack = f"found {described(kind)}" if "part_kind" in part else "`part_kind` is missing"
        yield Finding("V013", (*path, "part_kind"), f"{lack}, expected one of {', '.join(_KINDS.get(side, _ALL_KINDS))}")
        return
    if kind not in _ALL_KINDS:
        yield Finding("V015", (*path, "part_kind"), f"{described(kind)} is no part kind of PydanticAI up to 2.68{nearest(kind, _KINDS.get(side, _ALL_KINDS))}")
        return
    if side in _KINDS and kind not in _KINDS[side]:
        other = "response" if side == "request" else "request"
        yield Finding("V014", (*path, "part_kind"), f"`{kind}` stands in a {side}; it belongs in a {other}")
    yield from check_part(path, part, kind, right)


def _check_order(root: Path, messages: Sequence[Any]) -> Iterator[Finding]:
    """Check who follows whom, and that system prompts stand at the start."""
    before: Any = None
    started = False  # something other than a system prompt was seen
    for index, message in enumerate(messages):
        kind = message.get("kind") if type(message) is dict else None
        parts = message.get("parts") if type(message) is dict else None
        kinds = [_kind(part) for part in parts] if type(parts) is list else []
        path = (*root, index)
        if kind == "response":
            if before == "response":
                calls = " with tool calls" if "tool-call" in kinds else ""
                yield Finding("V041" if calls else "V040", path, f"a response{calls} follows a response; expected a request between")
            elif before is None and index == 0:
                yield Finding("V043", path, "the first message is a response; expected a request")
        elif kind == "request":
            if before == "request" and not _ANSWERS.issuperset(kinds):
                other = next(number for number, kind in enumerate(kinds) if kind not in _ANSWERS)
                yield Finding("V042", (*path, "parts", other), "a request follows a request, and is more than tool returns; expected a response between")
            prompted = False
            for number, part_kind in enumerate(kinds):
                if part_kind == "system-prompt" and started:
                    yield Finding("V044", (*path, "parts", number), "a system prompt after the start")
                elif part_kind == "tool-return" and prompted:
                    yield Finding("V045", (*path, "parts", number), "a tool return behind a prompt; expected it in front")
                started = started or part_kind != "system-prompt"
                prompted = prompted or part_kind == "user-prompt"
        started = started or kind != "request"
        before = kind


def _kind(part: Any) -> str | None:
    kind = part.get("part_kind") if type(part) is dict else None
    return kind if type(kind) is str else None
