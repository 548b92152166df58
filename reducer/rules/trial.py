"""Tries the lines that advice suggests: only a line that is valid in place of the wrong one is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import filterfalse
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from reducer.operations import operations
from reducer.rules.diagnostics import written
from reducer.rules.habits import Line, general_advice, meant_lines
from reducer.rules.model import RuleFile
from reducer.rules.parser import Place
from reducer.rules.steps import works_on_each_item

_ATTEMPTS = 3
"""The number of changes after which a line must be valid."""


def _around(data: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    """Yield a place with its value, and the places around it, from the inside."""
    for length in range(len(place), 0, -1):
        yield place[:length], _at(data, place[:length])


@dataclass(frozen=True, slots=True)
class Advice:
    """A part of a rule file with its model, in which lines can be replaced."""

    model: type[BaseModel]
    data: Any
    context: Any

    def line(self, place: Place) -> str:
        """Return a line to write instead of the one at a place, or of one around it; empty if not known.

        The line is valid at this place of the model.
        """
        data, trial = self.data, self
        if place[:1] in (("steps",), ("tests",)) and isinstance(_at(data, place[:1]), list) and len(place) > 1:
            # The other steps or tests do not matter.
            trial = replace(self, data={"version": 1, "tool": "t", place[0]: [_at(data, place[:2])]})
            place = (place[0], 0, *place[2:])
        for (*owner, key), value in _around(trial.data, place):
            line = trial.valid(tuple(owner), key, Line({key: value}), _ATTEMPTS)
            if line is not None:
                step = _at(trial.data, place[:2])
                others = operations().keys() & step.keys() - {key} if isinstance(step, dict) else ()
                return _shown(line, is_only_action=bool(owner) and not others)
        return ""

    def at(self, place: Place) -> str:
        """Return a line, other advice, or an empty text."""
        return self.line(place) or self.general(place)

    def general(self, place: Place) -> str:
        """Return advice without a line about a place, or about a line around it; empty if not known."""
        for (*_, key), value in _around(self.data, place):
            advice = general_advice(key, value) if type(key) is str else ""
            if advice:
                return advice
        return ""

    def valid(self, owner: Place, key: str | int, line: Line, attempts: int) -> Line | None:
        """Return a valid line, made from `line` in some attempts, for a key of the list or mapping at `owner`."""
        if isinstance(line.content, list):
            return _valid_step(line, self.context)
        errors = self._errors(owner, key, line.content)
        if errors == []:
            return line
        for other in self._others(owner, key, line, errors) if attempts else ():
            found = self.valid(owner, key, other, attempts - 1)
            if found is not None:
                return found
        return None

    def _others(self, owner: Place, key: str | int, line: Line, errors: list[ErrorDetails] | None) -> Iterator[Line]:
        """Yield what a line may mean that has errors or is refused."""
        for error in errors or ():
            if meant := error.get("ctx", {}).get("meant"):
                yield Line(_with(line.content, place_of(error)[len(owner) :], meant), line.reason)
        step = _at(self.data, owner[:2]) if owner[:1] == ("steps",) else {}
        path = step.get("path", "@") if isinstance(step, dict) else "@"
        for name, value in dict(line.content).items():
            for other in meant_lines(str(name), value, str(path)):
                if owner or isinstance(other.content, dict):
                    yield other._replace(reason=other.reason or line.reason)
            if name in operations() and (owner == ("steps", 0) or (not owner and name == key)):
                yield Line([{"path": path, name: value}], line.reason)

    def _errors(self, owner: Place, key: str | int, line: Mapping[str | int, Any]) -> list[ErrorDetails] | None:
        """Return the errors at the keys of a line after it replaces a key, or None if the line is refused."""
        data = deepcopy(self.data)
        target = _at(data, owner)
        if isinstance(target, dict):
            target.pop(key, None)
            if target.keys() & line.keys() - {"path"}:
                return None
            target.update(line)
        elif isinstance(target, list) and isinstance(key, int):
            target[key] = line[key]
        else:
            return None
        try:
            instance = self.model.model_validate(data, context=self.context)
        except ValidationError as error:
            return [details for details in error.errors(include_url=False) if _is_in(details, owner, line)]
        is_useless = isinstance(instance, RuleFile) and any(map(works_on_each_item, instance.steps))
        return None if is_useless else []


def _is_in(details: ErrorDetails, owner: Place, line: Mapping[str | int, Any]) -> bool:
    """Return whether an error is at a key of a line, or at the list or mapping itself: a step without an action."""
    place = place_of(details)
    return place[: len(owner)] == owner and place[len(owner) : len(owner) + 1] in [(), *((key,) for key in line)]


def _valid_step(line: Line, context: Any) -> Line | None:
    """Return a step of its own with corrected expressions, or None if it is not valid."""
    step: Any = line.content[0]
    if not isinstance(step, dict):
        return None
    if step.get("path") == "@":
        del step["path"]
    trial = Advice(RuleFile, {"version": 1, "tool": "t", "steps": [step]}, context)
    found = trial.valid(("steps",), 0, Line({0: step}), 1)
    return None if found is None else Line([*dict(found.content).values()], line.reason)


def _at(data: Any, place: Place) -> Any:
    """Return the value at a place, or None."""
    for step in place:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def _with(data: Any, place: Place, value: Any) -> Any:
    """Return data with another value at a place; a text may stand for a list with one item."""
    if not place or not isinstance(data, dict | list):
        return value
    step, *rest = place
    copy: Any = data.copy()
    copy[step] = _with(copy[step], tuple(rest), value)
    return copy


def _shown(line: Line, *, is_only_action: bool) -> str:
    reason = f"{line.reason}: " if line.reason else ""
    if isinstance(line.content, list):
        return f"{reason}write {'' if is_only_action else 'a step of its own: '}- {written(line.content[0])}"
    [(key, value)] = line.content.items()
    return f"{reason}write {written(value) if type(key) is int else f'{key}: {written(value)}'}"


def place_of(details: ErrorDetails) -> Place:
    """Return the place of an error of pydantic."""
    return tuple(filterfalse(is_tag, details["loc"]))


def is_tag(step: str | int) -> bool:
    """Return whether a part of a location is the branch of a union, such as `[keep]` or `literal[True]`."""
    return type(step) is str and "[" in step and step.endswith("]")
