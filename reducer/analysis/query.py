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
from reducer.rules.texts import TextPaths, text_paths
from reducer.values import Unreducible


class Found(NamedTuple):
    """What was found: the `places` of a path, each with its own path and value, or the `value` of a condition.

    `holds` is True if there is a place, or if the condition holds; `nothing` says why there are no places.
    """

    holds: bool
    places: tuple[tuple[str, Any], ...]
    value: Any
    nothing: Nothing


class Query:
    """A JMESPath expression: one that names places, or any other, which is evaluated."""

    def __init__(self, text: str) -> None:
        """Compile the expression. Raises `PathError`."""
        self.expression: Path | Expression
        self._opening: TextPaths | None
        try:
            self.expression = compile_path(text)
        except PathError as error:
            try:
                self.expression = compile_expression(text)
            except PathError:
                raise error from None
            self._opening = text_paths((), When.model_construct(where=self.expression))
        else:
            # `truncate` does not look into texts at its place, which are shown as they are.
            truncate, nowhere = Truncate.model_validate({"truncate": 1}), Location("", 1, 1)
            self._opening = text_paths((Step(1, self.expression, truncate, None, frozenset(), nowhere),), None)

    @property
    def names_places(self) -> bool:
        """Whether the expression is a path rather than a condition."""
        return isinstance(self.expression, Path)

    def ask(self, content: Any) -> Found:
        """Return what the expression finds in the content of a return. Raises `Unreducible` if it is too deep."""
        try:
            value = seen_by(self._opening, content)
        except RecursionError:
            raise Unreducible("deeper than the interpreter goes") from None
        if isinstance(self.expression, Expression):
            return Found(self.expression.holds(value), (), self.expression.evaluate(value), Nothing("", ""))
        path = self.expression
        found = tuple((path_text(place.keys), place.value) for place in path.places(value))
        return Found(bool(found), found, None, Nothing("", "") if found else explain(path, value))
