"""Run expressions on a content, and explain why a path or a step finds nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from reducer.analysis.texts import listed
from reducer.engine.run import seen_by
from reducer.errors import counted, did_you_mean, nearest
from reducer.operations.keep import Keep
from reducer.operations.op import enumerated
from reducer.paths import Expression, Path, PathError, Shape, ValuePlace, compile_expression, compile_path, walk
from reducer.paths.written import path_text
from reducer.plan.place import is_map
from reducer.rules import Step, When
from reducer.rules.steps import text_paths
from reducer.values import Unreducible

_MAX_VALUES = 200  # values per level in which keys are searched
_MAX_KEYS = 50
_MAX_CORRECTIONS = 6
KINDS: dict[type, str] = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", dict: "object"}
"""The names of the types of JSON values."""
_WRITTEN = {"values": ".*", "each": "[*]", "flatten": "[]"}


class Nothing(NamedTuple):
    """Why a path finds nothing, and the path that was probably meant. Both are empty if it finds something.

    `is_removed` tells whether an earlier step removed what it finds.
    """

    message: str
    path: str = ""
    is_removed: bool = False


class Found(NamedTuple):
    """The result of a query: the `places` of a path, each with its path and value, or the `value` of a condition.

    `holds` is True if there are places or if the condition holds. `nothing` explains why there are no places.
    """

    holds: bool
    places: tuple[tuple[str, Any], ...] = ()
    value: Any = None
    nothing: Nothing = Nothing("")


def compile_query(text: str) -> Path | Expression:
    """Compile a path, or an expression if the text does not name places. Raises `PathError`."""
    try:
        return compile_path(text)
    except PathError:
        return compile_expression(text)


def query(expression: Path | Expression, content: Any, notations: tuple[str, ...] = ()) -> Found:
    """Run an expression on the content of a tool return, a plain text in the first of some notations that can read it.

    Raises `Unreducible` if the content is too deep.
    """
    # Texts are opened as for a condition, which sees the texts at the end of its paths unchanged.
    condition = compile_expression(expression.text) if isinstance(expression, Path) else expression
    try:
        value = seen_by(text_paths((), When.model_construct(where=condition), notations), content)
    except RecursionError:
        raise Unreducible("deeper than the interpreter goes") from None
    if isinstance(expression, Expression):
        return Found(expression.holds(value), value=expression.evaluate(value))
    places = tuple((path_text(place.keys), place.value) for place in expression.places(value))
    return Found(True, places) if places else Found(False, nothing=explain(expression, value))


# --- why a path or a step finds nothing


def why_nothing(step: Step, content: Any, arrived: Any) -> Nothing:
    """Explain why a step runs at no place of a content, or leaves the objects there alone.

    `arrived` is the return before all steps.
    """
    path, verb = step.path, step.op.verb()
    with suppress(Unreducible):  # a filter reads items that are too deep, so an earlier step removed them
        if found := path.find(content):
            where = "the return" if path.text == "@" else f"`{path.text}`"
            if isinstance(step.op, Keep) and (keys := keys_of([*found, *items_of(found)])):
                present, names = step.op.present({*keys})
                of = f"{present:,} of the {counted(names, 'key')} that the step keeps"
                return Nothing(f"{where} has {the_keys(keys)}: {of}, so it stays as it is")
            if step.op.notations and type(found[0]) is str:
                return Nothing(f"{where} is a text that cannot be read as {enumerated(step.op.notations, 'or')}")
            accepted = " and ".join(sorted(f"{KINDS[kind]}s" for kind in step.op.accepts))
            return Nothing(f"{where} is {type_name(found[0])}, and `{verb}` works on {accepted}")
        if not path.find(arrived):
            return explain(path, content)
    return Nothing(f"an earlier step removed `{path.text}`", is_removed=True)


def explain(path: Path | str, content: Any) -> Nothing:
    """Explain why a path finds nothing in a JSON value, and suggest a similar path that finds something.

    Raises `PathError` if the text is not a path, and `Unreducible` if the path filters values that are too deep.
    """
    path = compile_path(path) if isinstance(path, str) else path
    number, values = _end(path, content)
    if number == len(path.shape):
        return Nothing("" if values else f"`{path.text}` is null")
    step, keys, meant = path.shape[number], keys_of(values), _meant(path, content)
    at = f"`{path_of(path.shape[:number])}`" if number else "the return"
    if step[0] == "field" and step[1] in keys:
        why = f"`{step[1]}` is null in {at}"
    elif step[0] == "field" and keys:
        why = f"{at} has no key `{step[1]}`" if meant else f"{at} has {the_keys(keys)}"
    elif _is_for(step, values):
        why = f"`{_step_text(step)}` selects nothing in {at}"
    else:
        why = f"{at} is {type_name(values[0])}, so `{_step_text(step)}` finds nothing there"
    return Nothing(f"{why}; {did_you_mean(meant)}" if meant else why, meant)


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
            path = compile_path(path_of((*path.shape[:number], *instead, *path.shape[number + 1 :])))
    return ""


def _instead(step: tuple[Any, ...], values: list[Any]) -> Shape | None:
    """Return steps to try instead of a step that finds nothing in `values`, or None if there is nothing to try."""
    if step[0] != "field":
        if _is_for(step, values):
            return None
        is_of_map = type(values[0]) is dict and step[0] in ("each", "flatten") and is_map(values[0])
        return (("values",),) if is_of_map else ()
    if type(values[0]) is list:
        return ("each",), step
    keys = keys_of(values)
    holders = holders_of(step[1], values)
    if len(holders) > 1:  # a map, such as of hosts by their names
        return ("values",), step
    if holders:
        return ("field", holders[0]), step
    similar = nearest(step[1], keys)
    return (("field", similar),) if similar else None


def holders_of(name: str, values: Sequence[Any]) -> list[str]:
    """Return the keys of the values at which there are objects, or lists of objects, with the key `name`."""
    holders = []
    for key in keys_of(values)[:_MAX_KEYS]:
        if name in keys_of(items_of(values_of(key, values))[:_MAX_VALUES]):
            holders.append(key)
    return holders


def _is_for(step: tuple[Any, ...], values: Sequence[Any]) -> bool:
    """Return whether a step of a path applies to values of this type."""
    return step[0] == "only" or type(values[0]) is (dict if step[0] in ("field", "values") else list)


def values_of(key: str, values: Iterable[Any]) -> list[Any]:
    """Return the values of a key in the objects among values."""
    return [value[key] for value in values if type(value) is dict and key in value]


def items_of(values: Iterable[Any]) -> list[Any]:
    """Return the values, and instead of each list its items."""
    items: list[Any] = []
    for value in values:
        items += value if type(value) is list else [value]
    return items


def keys_of(values: Iterable[Any]) -> list[str]:
    """Return the keys of the objects among values."""
    keys: dict[str, None] = {}
    for value in values:
        if type(value) is dict:
            keys |= dict.fromkeys(value)
    return list(keys)


def the_keys(keys: Sequence[str], limit: int = 6) -> str:
    """Name the first `limit` keys."""
    return f"the {'key' if len(keys) == 1 else 'keys'} {listed((f'`{key}`' for key in keys), limit)}"


def type_name(value: Any) -> str:
    """Return the name of the type of a JSON value with its article."""
    kind = KINDS.get(type(value), "value")
    return f"an {kind}" if kind == "object" else f"a {kind}"


def path_of(shape: Shape) -> str:
    """Write the steps of a path as JMESPath."""
    return "".join(map(_step_text, shape)).removeprefix(".") or "@"


def _step_text(step: tuple[Any, ...]) -> str:
    """Return a step of a path as JMESPath."""
    kind, *arguments = step
    if kind == "field":
        return f".{path_text(arguments)}"
    if kind in ("filter", "only"):
        return f"[?{arguments[0].text}]"
    return _WRITTEN.get(kind) or f"[{':'.join('' if one is None else str(one) for one in arguments)}]"
