"""JMESPath expressions: conditions of filters and gates, keys to sort and compare by."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest
from typing import Any, TypeAlias, cast

from jmespath.visitor import TreeInterpreter

from reducer.paths.parser import Node, parse, walk_nodes
from reducer.paths.syntax import PathError, Token, shortened
from reducer.values import PLAIN, Unreducible, plain, shown

Evaluate: TypeAlias = Callable[[Any], Any]
Chain: TypeAlias = tuple[str, ...]
"""Names of keys from the input inwards, without lists: `tags[0].name` and `tags[*].name` are ("tags", "name")."""
COMPARATORS: dict[str, Any] = TreeInterpreter.COMPARATOR_FUNC
"""The functions of jmespath by the types of their tokens."""
_Chains: TypeAlias = dict[Chain, None]  # a set in insertion order


@dataclass(frozen=True, slots=True)
class Expression:
    """A JMESPath expression.

    `reads` has the chains of keys that the answer depends on, from the value inwards and without lists:
    `risk == 'high' && tags[0].id` reads (("risk",), ("tags", "id")). `()` means the whole value, and a chain includes
    everything below it. `simple_field` is the name if the expression is one key and nothing else. `warnings` are valid
    JMESPath that is hardly intended; they are not raised.
    """

    text: str
    reads: tuple[Chain, ...]
    simple_field: str | None
    warnings: tuple[PathError, ...] = field(compare=False)
    _evaluate: Evaluate = field(repr=False, compare=False)

    def evaluate(self, value: Any) -> Any:
        """Return what `jmespath.search` returns for a JSON value, None where that raises.

        Other values are evaluated as they are stored. Raises `values.Unreducible` for those without a JSON form.
        """
        return plain(self._answer(value))

    def holds(self, value: Any) -> bool:
        """Return whether the answer is true in JMESPath: not null, false or empty. 0 is true."""
        answer = shown(self._answer(value))
        return bool(answer) or type(answer) in (int, float)

    def _answer(self, value: Any) -> Any:
        try:
            return self._evaluate(value)
        except Unreducible:
            raise
        except Exception:  # wrong types of arguments and operands: whatever the library or Python raises
            return None


def compared_keys(tokens: tuple[Token, ...]) -> tuple[PathError, ...]:
    """Return a warning for each key that is compared like a value: `"high"` in `risk == "high"` is a key."""
    found = []
    for before, token, after in zip_longest(tokens, tokens[1:], tokens[2:]):
        if token is None or before.type not in COMPARATORS:
            continue
        if after is not None and after.type in ("dot", "lbracket", "filter", "flatten"):
            continue
        if token.type == "quoted_identifier":
            name = shortened(token.value)
            message = f'"{name}" is the key of that name, not a text'
            found.append(token.problem("W010", message, f"write '{name}' for the text"))
        elif token.type == "unquoted_identifier" and token.value in ("true", "false", "null"):
            literal = f"`{token.value}`"
            found.append(token.problem("W012", f"{literal} is the key of that name here", f"write `` {literal} ``"))
    return tuple(found)


@lru_cache(maxsize=1024)
def compile_expression(text: str) -> Expression:
    """Compile a JMESPath expression. Raises `PathError`, and nothing else."""
    tree, tokens = parse(text)
    return expression_of(text, tree, compared_keys(tokens))


def expression_of(text: str, tree: Node, warnings: tuple[PathError, ...]) -> Expression:
    """Return the expression of a tree that is already parsed. Raises `PathError`."""
    try:
        plain([node["value"] for node in walk_nodes(tree) if node["type"] == "literal"])
    except Unreducible:
        raise PathError("E063", "a literal is nested too deeply") from None
    name = tree["value"] if tree["type"] == "field" else None
    reads = _reads(tree)
    return Expression(text, reads, name, warnings, _evaluate=_evaluator(tree, reads))


def _evaluator(tree: Node, reads: tuple[Chain, ...]) -> Evaluate:
    if tree["type"] == "field":
        return _field(tree["value"])
    if tree["type"] == "comparator" and [child["type"] for child in tree["children"]] == ["field", "literal"]:
        return _comparison(tree)
    interpreter = TreeInterpreter()
    names = None if () in reads else tuple({chain[0]: None for chain in reads})

    def evaluate(value: Any) -> Any:
        found = shown(value)
        # Only what is read is converted: records have many more keys than a condition reads.
        if names is not None and type(found) is dict:
            found = {name: found[name] for name in names if name in found}
        return interpreter.visit(cast(Any, tree), plain(found))

    return evaluate


def _field(name: str) -> Evaluate:
    def evaluate(value: Any) -> Any:
        fields = value if type(value) is dict and name in value else shown(value)
        if type(fields) not in PLAIN:
            fields = plain(fields)
        return fields.get(name) if type(fields) is dict else None

    return evaluate


def _comparison(tree: Node) -> Evaluate:
    name, literal = tree["children"][0]["value"], tree["children"][1]["value"]
    found, compare, orders = _field(name), COMPARATORS[tree["value"]], tree["value"] not in ("eq", "ne")
    if type(literal) is str and not orders:  # the library treats only 0 and 1 differently, and takes twice as long
        compare = getattr(operator, tree["value"])
    types = (int, float, str) if type(literal) in (int, float, str) else ()

    def evaluate(value: Any) -> Any:
        left = plain(found(value))
        return None if orders and type(left) not in types else compare(left, literal)

    return evaluate


def _reads(tree: Node) -> tuple[Chain, ...]:
    """Return the chains that the answer of an expression depends on, in the order of the text.

    Conservative: a chain includes everything below it, and where the names are not known (`@`, `*`, a function of the
    whole) the chain ends before them; `()` means the whole input. No chain extends another.
    """
    seen: _Chains = {}
    seen.update(_follow(tree, {(): None}, seen))
    if () in seen:
        return ((),)
    return tuple(chain for chain in seen if not any(chain[:n] in seen for n in range(1, len(chain))))


def _follow(node: Node, inputs: _Chains, seen: _Chains) -> _Chains:
    """Return the chains of the values that `node` returns unchanged; add to `seen` those that it reads itself."""
    kind, below = node["type"], node["children"]
    if kind == "field":
        return {(*chain, node["value"]): None for chain in inputs}
    if kind in ("current", "identity", "index", "slice"):
        return inputs
    if kind in ("subexpression", "index_expression", "pipe", "projection", "flatten"):
        first, *rest = below
        return _through(rest, _follow(first, inputs, seen), seen)
    if kind == "filter_projection":
        left, right, condition = below
        items = _follow(left, inputs, seen)
        seen.update(_follow(condition, items, seen))
        return _through([right], items, seen)
    if kind in ("or_expression", "and_expression"):
        found: _Chains = {}
        for child in below:
            found.update(_follow(child, inputs, seen))
        seen.update(found)
        return found
    # A new value (comparison, call, multi-select) depends on all of its parts, and `.*` on all keys.
    parts = below[:1] if kind == "value_projection" else below
    for child in parts:
        if child["type"] != "expref":  # it reads items of another argument, which is in `seen` completely
            seen.update(_follow(child, inputs, seen))
    return {}


def _through(nodes: list[Node], inputs: _Chains, seen: _Chains) -> _Chains:
    for node in nodes:
        found = _follow(node, inputs, seen)
        if not found:
            seen.update(inputs)  # a new value for each item depends at least on how many there are
        inputs = found
    return inputs
