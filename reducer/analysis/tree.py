"""One tree of a tool return that shows what each step removed and what the result contains, read from the plan."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any

from msgspec import structs

from reducer.engine import Outcome
from reducer.entities import TYPES, scanner
from reducer.formats import Atom
from reducer.plan.cuts import Cut
from reducer.plan.nodes import Emptied, Node, Omission, Opened, build, has_structure, keys_of, open_live, open_return
from reducer.values import MAX_DEPTH, Unreducible

_GONE = object()
"""Takes the place of the plan of a value that the result does not contain."""
_UNREADABLE = {"raw": "…"}
"""A value that rules do not read: it is too deep, has too many digits or has no JSON form."""
_MAX_SAFE = 2**53
"""JavaScript reads smaller integers exactly."""
_scan = scanner(frozenset(TYPES))
_Effect = tuple[int, bool]
"""The number of the step that removed something, or 0, and whether the result contains it."""


def tree(content: Any, outcome: Outcome) -> dict[str, Any]:
    """Return a content in plain JSON types and its result as one tree of plain JSON values.

    The tree contains the rule `file`, or null, the `steps` as `{number, name, line}`, and the root `node`. `max_chars`
    is the last step and has no line. A node is one of these:

    - null, true, false or an integer
    - `{raw}`: any other number in JSON, an atom of a Python literal, or `…` for a value that rules do not read
    - a text, or `{text: [run, …]}`. A run is a text, `{text, type?, step?, kept?}`, or `{marker}`, which only the
      result contains; `type` is the type of an entity.
    - `{items: [node, …], ranges?, left?, marker?}`: a list; `marker` is the last item of the result.
    - `{keys: [text, …], items: [node, …], ranges?, left?}`: an object; keys are nodes of texts.

    `ranges` contains `[start, stop, step, kept]` for consecutive items. `step` is the step that removed them, or 0, and
    `kept` tells whether the result contains them: what a step removed and the result contains was restored. Both are
    given, also for a run, only if they differ from those of the enclosing value. `left` is the number of items in the
    result, if some differ. An item with step 0 that is not kept is the marker of an earlier pass. A list or an object
    that a text or a wrapper of MCP contains is `opened`, and `unwrapped` is the step that replaced the text with it.
    """
    is_changed = outcome.content is not content
    top = outcome.top if is_changed else None
    with suppress(Unreducible):
        top = top or open_return(content)
    plan = top.plan if top is not None and is_changed else None
    # The structure that the engine opened lacks the items that it cannot read.
    value = top.value if top is not None and (type(content) is str or top.wraps) else content
    node = _node(value, _State(plan, plan))
    if value is not content and type(node) is dict:
        node["opened"] = True
    file = outcome.rule.file if outcome.rule else None
    steps = [{"number": run.number, "name": run.name, "line": run.line} for run in outcome.steps]
    return {"file": file, "steps": steps, "node": node}


@dataclass(frozen=True, slots=True)
class _State:
    """What happens to a value: its plan, its plan in the result, and the step that removed a value around it, or 0."""

    plan: Node | None
    left: Any
    step: int = 0
    depth: int = 0

    @property
    def effect(self) -> _Effect:
        """What happens to everything in the value that has no plan."""
        return self.step, self.left is not _GONE


def _node(value: Any, at: _State) -> Any:
    if at.depth > MAX_DEPTH:
        return _UNREADABLE
    opened = next((plan for plan in (at.plan, at.left) if type(plan) is Opened), None)
    if opened is None and has_structure(value):
        try:
            opened = open_live(value)
        except Unreducible:
            return _UNREADABLE
    if opened is not None and (type(value) is not str or type(at.left) is not Emptied):
        return _structure(value, opened, at)
    if type(value) is str:
        return _text(value, at)
    if type(value) in (dict, list):
        return _children(value, at)
    if value is None or type(value) is bool or (type(value) is int and abs(value) < _MAX_SAFE):
        return value
    if type(value) is Atom:
        return {"raw": value.source}
    try:
        return {"raw": json.dumps(value)}
    except (TypeError, ValueError):
        return _UNREADABLE


def _structure(value: Any, opened: Opened, at: _State) -> Any:
    """Return the node of the structure in a value. If writing it saves nothing, a text stays as it is."""
    result = build(value, at.left) if type(value) is str and at.left is not _GONE else None
    if result is value:
        inside = replace(at, plan=None, left=None)
    else:
        inside = replace(at, plan=_plan_inside(at.plan), left=_plan_inside(at.left))
    node = _node(opened.value, inside)
    if type(value) is str:
        node["opened"] = True
        if result is not None and type(result) is not str:
            node["unwrapped"] = opened.unwrapped
    return node


def _plan_inside(plan: Any) -> Any:
    if type(plan) is Emptied:
        return structs.replace(plan, before=_plan_inside(plan.before))
    return plan.plan if type(plan) is Opened else plan


# --- lists and objects


def _children(value: dict[str, Any] | list[Any], at: _State) -> dict[str, Any]:
    removed, plans = _removals(value, at.plan)
    kept, left_plans = _remains(value, at.left)
    effects, items = list[_Effect](), list[Any]()
    for key, item in value.items() if type(value) is dict else enumerate(value):
        step = _first(removed.get(key, 0), at.step)
        left = left_plans.get(key) if key in kept else _GONE
        effects.append((step, left is not _GONE))
        items.append(_node(item, _State(plans.get(key), left, step, at.depth + 1)))
    node: dict[str, Any] = {}
    if type(value) is dict:
        node["keys"] = [_text(key, _State(None, None)) for key in value]
    node["items"] = items
    marker = at.left.marker if type(at.left) is Omission else ""
    ranges = list(_ranges(effects, at.effect))
    if ranges or marker:
        node["left"] = sum(is_kept for _, is_kept in effects) + bool(marker)
    if ranges:
        node["ranges"] = ranges
    if marker:
        node["marker"] = marker
    return node


def _removals(value: Any, plan: Any) -> tuple[dict[Any, int], dict[Any, Node | None]]:
    """Return the keys or indices that a plan removes, with the steps, and the plans of the children."""
    if type(plan) is Omission:
        return plan.removed(value), plan.separate(value)
    if type(plan) is Emptied:
        removed, plans = _removals(value, plan.before)
        return dict.fromkeys(keys_of(value), plan.step) | removed, plans
    return {}, {}


def _remains(value: Any, left: Any) -> tuple[Collection[Any], dict[Any, Any]]:
    """Return the keys or indices that the result contains, and the plans of the children in the result."""
    if left is _GONE or type(left) is Emptied:
        return (), {}
    if type(left) is not Omission:
        return keys_of(value), {}
    left.separate(value)
    kept, plans = left.remaining()
    return keys_of(value) if kept is None else kept, plans


def _ranges(effects: list[_Effect], own: _Effect) -> Iterator[list[int]]:
    """Yield start, stop, step and whether they are kept, for consecutive items that differ from their parent."""
    start = 0
    for (step, is_kept), group in groupby(effects):
        stop = start + len([*group])
        if (step, is_kept) != own:
            yield [start, stop, step, int(is_kept)]
        start = stop


# --- texts


def _text(text: str, at: _State) -> Any:
    """Return the node of a text: the text itself, or its runs if it was cut or contains entities."""
    types, bounds = list[str](), list[int]()
    for entity in _scan(text):
        if not bounds or entity.start >= bounds[-1]:
            types.append(entity.type)
            bounds += (entity.start, entity.end)
    if not types and at.plan is None and (at.left is None or at.left is _GONE):
        return text
    step = at.plan.step if isinstance(at.plan, (Cut, Emptied)) else 0
    stays, _ = _in_result(text, structs.replace(at.plan, restored=None) if type(at.plan) is Cut else at.plan)
    kept, markers = _in_result(text, at.left)
    runs = list[Any]()
    for start, stop in pairwise(sorted({0, len(text), *stays, *kept, *bounds})):
        if start in markers:
            runs.append({"marker": markers.pop(start)})
        effect = _first(0 if _is_in(stays, start) else step, at.step), _is_in(kept, start)
        kind = types[bisect_right(bounds, start) // 2] if _is_in(bounds, start) else ""
        runs.append(_run(text[start:stop], kind, effect, at.effect))
    return {"text": [*runs, *({"marker": marker} for marker in markers.values())]}


def _run(text: str, kind: str, effect: _Effect, own: _Effect) -> Any:
    run: dict[str, Any] = {"type": kind} if kind else {}
    if effect != own:
        run |= {"step": effect[0], "kept": int(effect[1])}
    return {"text": text, **run} if run else text


def _in_result(text: str, left: Any) -> tuple[list[int], dict[int, str]]:
    """Return what the result contains of a text: the starts and ends of ranges, and the markers by their places."""
    kept, markers = [0, len(text)] if left is None else list[int](), dict[int, str]()
    if type(left) is Cut:
        for piece in left.written_pieces() if left.restored is None else left.restored:
            if isinstance(piece, str):
                markers[kept[-1] if kept else 0] = piece
            elif piece[0] < piece[1]:
                kept += piece
    return kept, markers


def _is_in(bounds: Sequence[int], position: int) -> bool:
    """Return whether a position is in a range, from the starts and ends of ranges in order."""
    return bisect_right(bounds, position) % 2 == 1


def _first(step: int, outer: int) -> int:
    """Return the earlier one of two steps that removed a value: its own and that of the value around it."""
    return min(step, outer) if step and outer else step or outer
