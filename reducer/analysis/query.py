"""What a JMESPath expression finds in one answer, as a step of a rule would find it."""

from __future__ import annotations

from typing import Any, NamedTuple

from reducer.analysis.missing import Nothing, explain
from reducer.engine.run import seen_by
from reducer.errors import Location
from reducer.operations.truncate import Truncate
from reducer.paths import Expression, Path, PathError, compile_expression, compile_path
from reducer.paths.written import path_text
from reducer.rules import Step, When
from reducer.rules.steps import text_paths
from reducer.values import Unreducible


class Found(NamedTuple):
    """What was found: the `places` of a path, each with its own path and value, or the `value` of a condition.

    `holds` is True if there is a place, or if the condition holds; `nothing` says why there are no places.
    """

    holds: bool
    places: tuple[tuple[str, Any], ...] = ()
    value: Any = None
    nothing: Nothing = Nothing("", "")


def compile_query(text: str) -> Path | Expression:
    """Compile an expression that names places, or any other, which is evaluated. Raises `PathError`."""
    try:
        return compile_path(text)
    except PathError as error:
        try:
            return compile_expression(text)
        except PathError:
            raise error from None


def query(expression: Path | Expression, content: Any) -> Found:
    """Return what an expression finds in the content of a return. Raises `Unreducible` if it is too deep."""
    if isinstance(expression, Path):
        # `truncate` does not look into texts at its place, which are shown as they are.
        op, nowhere = Truncate.model_validate({"truncate": 1}), Location("", 1, 1)
        step = Step(1, expression, op, when=None, preserves=frozenset(), location=nowhere)
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
