"""What an expression looks at, found without a value: the names of keys on the way to everything its answer can depend on."""

from __future__ import annotations

from typing import TypeAlias

from .syntax import Node, operands

Chain: TypeAlias = tuple[str, ...]
"""Names of keys from the input inwards. Lists leave no trace: `tags[0].name` and `tags[*].name` are both ("tags", "name")."""


def reads(tree: Node) -> tuple[Chain, ...]:
    """Give the chains that the answer of an expression depends on, in the order of the text; `()` stands for all of the input.

    Conservative: a chain covers everything below it, and where the names cannot be known (`@`, `*`, a function of the whole)
    the chain ends before them. No chain is an extension of another.
    """
    seen: dict[Chain, None] = {}
    seen.update(_follow(tree, {(): None}, seen))
    if () in seen:
        return ((),)
    return tuple(chain for chain in seen if not any(chain[:n] in seen for n in range(1, len(chain))))


_Chains: TypeAlias = dict[Chain, None]  # a set that keeps its order


def _follow(node: Node, inputs: _Chains, seen: _Chains) -> _Chains:
    """Give what `node` hands on of `inputs`, and add to `seen` what it looks at itself."""
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
        for child in operands(node):
            found.update(_follow(child, inputs, seen))
        seen.update(found)
        return found
    # What is made anew (comparisons, calls, multi-selects) depends on all of its parts, and so does `.*` on all keys.
    parts = below[:1] if kind == "value_projection" else below
    for child in parts:
        if child["type"] == "expref":
            continue  # it looks at items of another argument, all of which is in `seen`
        seen.update(_follow(child, inputs, seen))
    return {}


def _through(nodes: list[Node], inputs: _Chains, seen: _Chains) -> _Chains:
    for node in nodes:
        found = _follow(node, inputs, seen)
        if not found:
            seen.update(inputs)  # what is made anew of each item tells at least how many there are
        inputs = found
    return inputs
