"""JMESPath twice: as *places* in a value, which rules change, and as *expressions*, which rules ask.

`compile_path` takes the part of the language that names places (fields, indexes, slices, `[*]`, `.*`, `[]`, filters, `@`, pipes);
`compile_expression` takes all of it. Both read the text with the parser of the `jmespath` library and compile its tree once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .conditions import Expression, compile_expression, expression_of
from .lenses import Inner, Lens, Note, found_by
from .mistakes import mended
from .places import HERE, Places, Shape, Test, lens_of, names_of, shape_of
from .reads import Chain
from .syntax import MAX_NESTING, Node, parse, step_count
from .tokens import PathError, Token, compared_keys, filter_texts, new_value

__all__ = ["Chain", "Expression", "Path", "PathError", "Shape", "compile_expression", "compile_path", "mended", "names_of"]


@dataclass(frozen=True, slots=True)
class Path:
    """A JMESPath expression as places in a value.

    `shape` has the steps from the root to a place, in order, as tuples:

    - `("field", name)`: the value at a key; `("values",)`: the values at all keys (`.*`)
    - `("each",)`: the items of a list (`[*]`), with `[]` also the items of lists in it
    - `("filter", chains)`: the items for which a condition holds; `chains` is what it reads of an item, as `Expression.reads`
    - `("index", i)`, `("slice", start, stop, step)`: items of a list by their place in it
    - `("pick", start, stop, step)`: some of all the places so far, by number, as `a[*].b | [0]` (start 0, stop 1) picks one

    `filters` has every filter with the shape of the items it asks. `warnings`: valid, but hardly meant.
    """

    text: str
    shape: Shape
    filters: tuple[tuple[Shape, Expression], ...]
    warnings: tuple[PathError, ...] = field(compare=False)
    _lens: Lens = field(repr=False, compare=False)

    def update(self, value: Any, inner: Inner, note: Note | None = None) -> Any:
        """Put what `inner` gives for the value at each place, in order, in its stead: the same object if nothing changed.

        Only the spine is copied; the value itself is never changed. `note(new, old)` is called for every list and object made anew.
        Values that are no plain JSON are entered as they are stored; media items are not. Raises `values.Unreducible`.
        """
        return value if value is None else self._lens(value, inner, note)

    def find(self, value: Any) -> list[Any]:
        """Give the values at the places, in order; null is no place. Raises `values.Unreducible`."""
        return [] if value is None else found_by(self._lens, value)


@lru_cache(maxsize=1024)
def compile_path(text: str) -> Path:
    """Compile a path. Raises `PathError` for what is no JMESPath or makes a new value instead of naming places; nothing else."""
    tree, tokens = parse(text)
    problem = new_value(tokens)
    if problem is not None:
        raise problem
    if step_count(tree) > MAX_NESTING:
        raise PathError("E063", f"the path has more than {MAX_NESTING} steps", width=len(text))
    texts = iter(filter_texts(text, tokens))
    filters: list[tuple[Shape, Expression]] = []
    warnings = list(compared_keys(tokens))

    def condition(node: Node, shape: Shape) -> tuple[Test, tuple[Any, ...]]:
        expression = expression_of(next(texts), node, ())
        token = ("filter", expression.reads)
        filters.append(((*shape, token), expression))
        return expression.holds, token

    def lost(node: Node) -> None:
        warnings.append(_lost(node, tokens))

    focus = Places(condition, lost).follow(tree, HERE)
    return Path(text, shape_of(focus), tuple(filters), tuple(warnings), lens_of(focus))


def _lost(node: Node, tokens: tuple[Token, ...]) -> PathError:
    # The tree has no columns: the last token with that text is the one, save for odd repetitions.
    wanted = node.get("value", "*")
    found = [token for token in tokens if token.value == wanted]
    text = found[-1].text
    return found[-1].problem("W011", f"`{text}` finds nothing: what stands before it gives a list", f"write `[*].{text}` behind the pipe")
