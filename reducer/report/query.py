"""What a JMESPath expression finds in one answer, as a step of a rule would find it there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from reducer.codecs import read
from reducer.engine.nested import opened
from reducer.engine.notation import Notation
from reducer.errors import Location
from reducer.ops.truncate import Truncate
from reducer.path import Expression, Path, PathError, compile_expression, compile_path
from reducer.path.written import Token, path_text
from reducer.report.missing import Nothing, explain
from reducer.rule import Step, When
from reducer.rule.opening import Opening, opening_of
from reducer.values import Unreducible, plain, shown


class Found(NamedTuple):
    """What was found in an answer: of a path the `places`, each with its own path and value, of a condition its `value`.

    `holds` tells whether there is a place, or whether the condition holds; `nothing` says why there are no places, and which path was
    probably meant.
    """

    holds: bool

    places: tuple[tuple[str, Any], ...]
    value: Any
    nothing: Nothing


class _Placed:
    """Stands at a place that was found."""


class Query:
    """A JMESPath expression to ask answers: one that names places, or any other, which is evaluated."""

    def __init__(self, text: str) -> None:
        """Compile the expression. Raises `PathError`."""
        self.expression: Path | Expression
        opening: Opening | None
        try:
            self.expression = compile_path(text)
        except PathError as error:
            try:
                self.expression = compile_expression(text)
            except PathError:
                raise error from None
            opening = opening_of((), When.model_construct(where=self.expression))
        else:
            # An operation that leaves texts at its place alone: what stands there is shown as it stands.
            step = Step(1, self.expression, Truncate.model_validate({"truncate": 1}), None, frozenset(), Location("", 1, 1))
            opening = opening_of((step,), None)
        self._opening = opening

    @property
    def names_places(self) -> bool:
        """Tell whether the expression is one that `path` takes, rather than a condition."""
        return isinstance(self.expression, Path)

    def ask(self, content: Any) -> Found:
        """Give what the expression finds in the content of a return. Raises `Unreducible` for one that is deeper than rules look."""
        value = self._opened(content)
        if isinstance(self.expression, Expression):
            return Found(self.expression.holds(value), (), self.expression.evaluate(value), Nothing("", ""))
        path = self.expression
        found = tuple((path_text(tokens), item) for tokens, item in _places(value, path.update(value, lambda _: _Placed()), ()))
        return Found(bool(found), found, None, Nothing("", "") if found else explain(path, value))

    def _opened(self, content: Any) -> Any:
        notation = Notation()
        value = content
        if type(content) is str:
            said = read(content, notation.brackets)
            value = content if said is None else said[0]
        try:
            value = plain(shown(value))
            return value if self._opening is None else opened(value, self._opening, notation)
        except RecursionError:
            raise Unreducible("deeper than the interpreter goes") from None


def _places(old: Any, new: Any, at: tuple[Token, ...]) -> Iterator[tuple[tuple[Token, ...], Any]]:
    """Give what was replaced in `new`, made of `old`, with the keys and indexes that lead there."""
    if isinstance(new, _Placed):
        yield at, old
    elif new is not old:
        for key in old if type(old) is dict else range(len(old)):
            yield from _places(old[key], new[key], (*at, key))
