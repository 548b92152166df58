"""Run expressions on a content, and explain why a path or a step finds nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

from reducer.analysis.texts import listed
from reducer.engine.run import seen_by
from reducer.errors import Location
from reducer.operations.truncate import Truncate
from reducer.paths import Chain, Expression, Path, PathError, Shape, ValuePlace, compile_expression, compile_path, walk
from reducer.paths.written import path_text
from reducer.rules import Step, When
from reducer.rules.steps import text_paths
from reducer.values import Unreducible

_BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_MAX_VALUES = 200  # values per level in which keys are searched
_MAX_KEYS = 50
_MAX_CORRECTIONS = 6
_TYPES: dict[type, str] = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number"}
_WRITTEN = {"values": ".*", "each": "[*]", "flatten": "[]"}


class Nothing(NamedTuple):
    """Why a path finds nothing, and the path that was probably meant. Both are empty if it finds something."""

    message: str
    path: str


class Found(NamedTuple):
    """The result of a query: the `places` of a path, each with its path and value, or the `value` of a condition.

    `holds` is True if there are places or if the condition holds. `nothing` explains why there are no places.
    """

    holds: bool
    places: tuple[tuple[str, Any], ...] = ()
    value: Any = None
    nothing: Nothing = Nothing("", "")


def compile_query(text: str) -> Path | Expression:
    """Compile a path, or an expression if the text does not name places. Raises `PathError`."""
    try:
        return compile_path(text)
    except PathError:
        return compile_expression(text)


def query(expression: Path | Expression, content: Any) -> Found:
    """Run an expression on the content of a tool return. Raises `Unreducible` if the content is too deep."""
    if isinstance(expression, Path):
        # `truncate` does not open texts at its place, so they are shown unchanged.
        op, nowhere = Truncate.model_validate({"truncate": 1}), Location("", 1, 1)
        step = Step(1, expression, op, preserves=frozenset(), location=nowhere)
        opening = text_paths((step,), None)
    else:
        opening = text_paths((), When.model_construct(where=expression))
    try:
        value = seen_by(opening, content)
    except RecursionError:
        raise Unreducible("deeper than the interpreter goes") from None
    if isinstance(expression, Expression):
        return Found(expression.holds(value), value=expression.evaluate(value))
    places = tuple((path_text(place.keys), place.value) for place in expression.places(value))
    return Found(True, places) if places else Found(False, nothing=explain(expression, value))


# --- places and keys that a step does not find


@dataclass(frozen=True, slots=True)
class Missing:
    """A `place` or a `key` that a step names but the data does not contain.

    `text` is quoted from the rule. `help` describes what the data contains instead. `nearest` is the path or key that
    was probably meant, or empty.
    """

    what: Literal["place", "key"]
    text: str
    help: str
    nearest: str


def missing(step: Step, before: Any, arrived: Any, places: int) -> tuple[tuple[Missing, ...], frozenset[str]]:
    """Return what `step` did not find in a return, and the keys that it names and found.

    `arrived` is the return before all steps, `before` the return before this step, and `places` the number of places
    at which the step ran.
    """
    if places:
        return _missing_keys(step, before)
    text, found = step.path.text, step.path.find(before)
    try:
        is_removed = not found and before is not arrived and bool(step.path.find(arrived))
    except Unreducible:  # a filter was evaluated on an item that is too deep, so the list exists
        is_removed = True
    if found:
        accepted = " and ".join(sorted(f"{_TYPES[kind].split()[1]}s" for kind in step.op.accepts))
        nothing = Nothing(f"`{text}` is {_type(found[0])}, and `{step.op.verb()}` works on {accepted}", "")
    elif is_removed:
        nothing = Nothing(f"an earlier step removed `{text}`", "")
    else:
        nothing = explain(step.path, before)
    return (Missing("place", text, *nothing),), frozenset()


def _missing_keys(step: Step, before: Any) -> tuple[tuple[Missing, ...], frozenset[str]]:
    """Return the keys of a step that are missing, and those that are present.

    A key that the step reads, such as in `sort_by`, must be present. A key that it keeps or drops may be optional, so
    it is missing only if a very similar key is present.
    """
    chains = [(chain, False) for chain in step.op.names()]
    chains += [((*lists, *chain), True) for lists, chain in step.op.reads() if chain]
    chains = [(chain, is_read) for chain, is_read in chains if not any("*" in name for name in chain)]
    values = step.path.find(before)[:_MAX_VALUES] if chains else []
    absent: dict[Missing, None] = {}
    seen: set[str] = set()
    for chain, is_read in chains:
        text = ".".join(chain)
        present, depth = follow(values, chain)
        if depth == len(chain):
            seen.add(text)
            continue
        siblings = {other[depth] for other, _ in chains if other[:depth] == chain[:depth] and len(other) > depth}
        nearest = (near if is_read else misspelt)(chain[depth], [key for key in present if key not in siblings])
        help = f"did you mean `{nearest}`?" if nearest else f"there are {the_keys(present)}"
        if nearest or (is_read and present):
            absent[Missing("key", text, f"there is no key `{text}`; {help}", nearest)] = None
    return tuple(absent), frozenset(seen)


def follow(values: Sequence[Any], chain: Chain, most: int | None = _MAX_VALUES) -> tuple[list[str], int]:
    """Follow keys through objects and lists, in at most `most` values per level.

    Return the keys at the level where one is absent, and the level.
    """
    for depth, name in enumerate(chain):
        objects = [value for value in (*values, *_items(values, most)) if type(value) is dict]
        values = [item[name] for item in objects if name in item][:most]
        if not values:
            return _keys(objects), depth
    return [], len(chain)


# --- why a path finds nothing


def near(name: str, keys: Iterable[str]) -> str:
    """Return the key that is most similar to `name`, ignoring case, or an empty text if none is similar enough."""
    folded = {key.casefold(): key for key in keys}
    found = get_close_matches(name.casefold(), folded, 1, 0.7)
    return folded[found[0]] if found else ""


def misspelt(name: str, keys: Iterable[str]) -> str:
    """Return the key that `name` misspells, or an empty text; `last_date` is not a misspelt `last_stats`."""
    found = near(name, keys)
    words, meant = (_BETWEEN_WORDS.split(text) for text in (name, found))
    is_alike = len(words) == len(meant) and all(
        near(*pair) for pair in zip(words, ([word] for word in meant), strict=True)
    )
    return found if is_alike or "".join(words).casefold() == "".join(meant).casefold() else ""


def explain(path: Path | str, content: Any) -> Nothing:
    """Explain why a path finds nothing in a JSON value, and suggest a similar path that finds something.

    Raises `PathError` if the text is not a path, and `Unreducible` if the path filters values that are too deep.
    """
    path = compile_path(path) if isinstance(path, str) else path
    number, values = _end(path, content)
    if number == len(path.shape):
        return Nothing("", "") if values else Nothing(f"`{path.text}` is null", "")
    step, keys, meant = path.shape[number], _keys(values), _meant(path, content)
    at = f"`{_text(path.shape[:number])}`" if number else "the return"
    if step[0] == "field" and step[1] in keys:
        why = f"`{step[1]}` is null in {at}"
    elif step[0] == "field" and keys:
        why = f"{at} has no key `{step[1]}`" if meant else f"{at} has {the_keys(keys)}"
    elif _is_for(step, values):
        why = f"`{_step_text(step)}` selects nothing in {at}"
    else:
        why = f"{at} is {_type(values[0])}, so `{_step_text(step)}` finds nothing there"
    return Nothing(f"{why}; did you mean `{meant}`?" if meant else why, meant)


def _end(path: Path, content: Any) -> tuple[int, list[Any]]:
    """Return how many steps of a path find something, and the values found by the last of these steps."""
    values = [] if content is None else [content]
    for number in range(len(path.shape) if values else 0):
        found = [place.value for place in walk(path.shape[: number + 1], ValuePlace(content))]
        if not found:
            return number, values
        values = found
    return len(path.shape), values


def _meant(path: Path, content: Any) -> str:
    """Correct a path until it finds something. Return an empty text if a few corrections are not enough."""
    with suppress(PathError, Unreducible):
        for _ in range(_MAX_CORRECTIONS):
            number, values = _end(path, content)
            if number == len(path.shape):
                return path.text
            instead = _instead(path.shape[number], values)
            if instead is None:
                break
            path = compile_path(_text((*path.shape[:number], *instead, *path.shape[number + 1 :])))
    return ""


def _instead(step: tuple[Any, ...], values: list[Any]) -> Shape | None:
    """Return steps to try instead of a step that finds nothing in `values`, or None if there is nothing to try."""
    if step[0] != "field":
        return None if _is_for(step, values) else ()
    if type(values[0]) is list:
        return ("each",), step
    keys = _keys(values)
    below = {key: [value[key] for value in values if type(value) is dict and key in value] for key in keys[:_MAX_KEYS]}
    holders = [key for key, found in below.items() if step[1] in _keys([*found, *_items(found)])]
    if len(holders) > 1:  # a map, such as of hosts by their names
        return ("values",), step
    if holders:
        return ("field", holders[0]), step
    nearest = near(step[1], keys)
    return (("field", nearest),) if nearest else None


def _is_for(step: tuple[Any, ...], values: Sequence[Any]) -> bool:
    """Return whether a step of a path applies to values of this type."""
    return step[0] == "only" or type(values[0]) is (dict if step[0] in ("field", "values") else list)


def _items(values: Iterable[Any], most: int | None = _MAX_VALUES) -> list[Any]:
    return [item for value in values if type(value) is list for item in value[:most]][:most]


def _keys(values: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(key for value in values if type(value) is dict for key in value))


def the_keys(keys: Sequence[str], limit: int = 6) -> str:
    """Name the first `limit` keys."""
    return f"the {'key' if len(keys) == 1 else 'keys'} {listed((f'`{key}`' for key in keys), limit)}"


def _type(value: Any) -> str:
    return _TYPES.get(type(value), "a boolean")


def _text(shape: Shape) -> str:
    return "".join(map(_step_text, shape)).removeprefix(".") or "@"


def _step_text(step: tuple[Any, ...]) -> str:
    """Return a step of a path as JMESPath."""
    kind, *arguments = step
    if kind == "field":
        return f".{path_text(arguments)}"
    if kind in ("filter", "only"):
        return f"[?{arguments[0].text}]"
    return _WRITTEN.get(kind) or f"[{':'.join('' if one is None else str(one) for one in arguments)}]"
