"""Search for counterexamples: contents for which a second pass of a rule changes its own result (law 5).

The search is deterministic. It tries the samples of the rule, then contents generated from its paths, conditions and
keys. It runs the steps alone, without `preserve` and `max_chars`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from random import Random
from typing import Any

from reducer.analysis.texts import json_text
from reducer.engine import apply_once
from reducer.errors import shortened
from reducer.paths import Expression, Shape, names_of
from reducer.paths.parser import parse, walk_nodes
from reducer.paths.written import path_text
from reducer.rules import Rule, Step
from reducer.rules.steps import ITEM, Conflict, Way, conflicts, named, shortened_lists
from reducer.values import Unreducible

_MAX_CONTENTS = 200
_MAX_SHRINKING = 400  # attempts to make a counterexample smaller
_MAX_ITEMS = 40  # items of a generated list; only samples reach a larger `limit`
_MAX_CHARS = 10_000  # characters of a generated text
_MAX_SHOWN = 300  # characters of an input or a result in an error
_SCALARS: tuple[Any, ...] = (
    *(True, 0, 1, 7, "a", "b", "2024-05-01", "seen by 192.0.2.1"),
    "APT28 sent Emotet (CVE-2024-3400, T1566.001) from evil.org, a@evil.org, https://evil.org/a and 2001:db8::1",
)
"""Values of generated contents. Empty values, which `compact` removes, come only from conditions and samples."""

_Tree = dict[str | int, "_Tree"]
"""The keys that a rule names, from the root of the return; `ITEM` marks a list of such objects, `*` a map of them."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A content with the results of one pass and of two passes, and the `step` that changes the first result."""

    content: Any
    once: Any
    twice: Any
    step: Step


def counterexample(rule: Rule, samples: Iterable[Any] = ()) -> Counterexample | None:
    """Return a small content on which a rule is not idempotent, or None if 200 contents do not reveal one."""
    if rule.statically_idempotent or not rule.steps:
        return None
    nothing = tuple(frozenset[str]() for _ in rule.preserved)
    bare = replace(rule, max_chars=None, preserved=nothing, bounds=())
    for content in islice(chain(samples, _contents(rule)), _MAX_CONTENTS):
        found = _run_twice(bare, content)
        if found is not None:
            return _shrink(bare, found)
    return None


def _run_twice(rule: Rule, content: Any) -> Counterexample | None:
    try:
        first = apply_once(rule, content)
        second = apply_once(rule, first.content)
    except (Unreducible, RecursionError):
        return None
    if second.content == first.content:
        return None
    culprit = second.last_changed.step
    assert culprit is not None  # only `max_chars` runs without a step, and this rule has none
    return Counterexample(content, first.content, second.content, culprit)


def described(found: Counterexample, rule: Rule) -> tuple[str, str]:
    """Return the message and the help of the error E070 at the step that changes the result again."""
    step = found.step
    conflict = next((each for each in conflicts(rule.steps) if each.reader is step), None)
    advice = "let each step depend only on what the rule keeps" if conflict is None else _advice(conflict)
    results = ""
    for title, value in (("input:", found.content), ("result:", found.once), ("again:", found.twice)):
        results += f"\n  {title:<8}{shortened(json_text(value), _MAX_SHOWN)}"
    return f"`{step.name}` changes the result again in a second pass", advice + results


def _advice(conflict: Conflict) -> str:
    """Return the smallest change of a rule after which the result of its first pass stays."""
    reader, chain, remover = conflict
    place = tuple(name for name in names_of(remover.path.shape) if name != "*")  # conditions read maps like lists
    key = path_text(chain[len(place) :] if chain[: len(place)] == place else chain)
    change, reason = remover.op.to_keep(key), f"step {reader.number} depends on it"
    if chain in reader.op.reads_return() or (key == "@" and change):
        return f"move step {remover.number} before step {reader.number}, which depends on `{path_text(chain)}`"
    if change and not [*remover.op.shortens()]:
        return f"{change} in step {remover.number}; {reason}"
    return f"remove step {remover.number} (`{remover.name}`): it changes `{path_text(chain)}`, and {reason}"


# --- generated contents


def _contents(rule: Rule) -> Iterator[Any]:
    tree: _Tree = {}
    literals: list[Any] = []
    amounts = {1}
    for step in rule.steps:
        for way in named(step):
            _add(tree, way)
        for items in shortened_lists(step):
            _add(tree, (*items, ITEM))
        if [*step.op.names()]:  # of an object, or of each object in a list
            _add(tree, (*names_of(step.path.shape), ITEM))
        for expression, _ in expressions_of(step):
            literals += _literals(expression)
        amounts.add(step.op.amount())
    if rule.when is not None and rule.when.where is not None:
        literals += _literals(rule.when.where)
    amounts.update(each for each in literals if type(each) is int and each > 0)
    aimed = [*literals, *_texts(amounts, literals)]
    sizes = [*(0, 1, 2, 3) * 5]
    for amount in amounts:
        if amount <= _MAX_ITEMS:
            sizes += [amount, amount + 1, amount + 3]
    chosen = Random(0)
    while True:
        # With few distinct values, some items are equal and some keys have a counterpart.
        yield _value(tree, chosen, sizes, [*chosen.choices(_SCALARS, k=2), *chosen.choices(aimed, k=2)])


def _texts(amounts: Iterable[int], literals: Iterable[Any]) -> Iterator[str]:
    """Yield texts that `truncate` shortens to an amount: two that differ only at the end, and some with a literal."""
    ends = ["a", "b", *(each for each in literals if type(each) is str)]
    for amount in amounts:
        if amount <= _MAX_CHARS:
            for end in ends:
                yield "word " * (amount // 5 + 10) + end


def _add(tree: _Tree, way: Way) -> None:
    for key in way:
        if key in (ITEM, "*"):
            tree[key] = {}
        else:
            tree = tree.setdefault(key, {})


def expressions_of(step: Step) -> Iterator[tuple[Expression, Shape]]:
    """Yield the expressions of a step, each with the shape that leads to the values on which it is evaluated."""
    if step.op.when is not None and step.op.when.where is not None:
        yield step.op.when.where, ()
    for shape, condition in step.path.filters:
        yield condition, (*shape[:-1], ("each",)) if shape[-1][0] == "filter" else shape[:-1]
    for _, value in step.op:
        for item in value if isinstance(value, tuple) else (value,):
            lists = getattr(item, "lists", None)
            shape = (*step.path.shape, *(lists.shape if lists else ()), ("each",))
            for part in (item, getattr(item, "condition", None), getattr(item, "by", None)):
                if isinstance(part, Expression):
                    yield part, shape


def _literals(expression: Expression) -> Iterator[Any]:
    """Yield the literals of an expression, and the neighbours of its numbers."""
    for node in walk_nodes(parse(expression.text)[0]):
        if node["type"] == "literal":
            yield node["value"]
            if type(node["value"]) in (int, float):
                yield from (node["value"] - 1, node["value"] + 1)


def _value(tree: _Tree, chosen: Random, sizes: Sequence[int], scalars: Sequence[Any]) -> Any:
    names = [name for name in tree if name not in (ITEM, "*")]
    if len(names) == len(tree) or (names and chosen.random() < 0.1):
        return _item(tree, names, chosen, sizes, scalars)
    items = [_item(tree, names, chosen, sizes, scalars) for _ in range(chosen.choice(sizes))]
    if "*" not in tree:
        return items
    values = {}
    for number, item in enumerate(items):
        # Only objects that share a key are a map.
        values[f"k{number}"] = {"other": 0, **item} if type(item) is dict else item
    return values


def _item(tree: _Tree, names: Sequence[str | int], chosen: Random, sizes: Sequence[int], scalars: Sequence[Any]) -> Any:
    """Return an object with most of the names, or a scalar if there are none."""
    if not names:
        return chosen.choice(scalars)
    value: dict[Any, Any] = {"other": chosen.choice(scalars)} if chosen.random() < 0.3 else {}
    for name in names:
        if chosen.random() < 0.9:
            value[name] = _value(tree[name], chosen, sizes, scalars)
    return value


# --- smaller counterexamples


def _shrink(rule: Rule, found: Counterexample) -> Counterexample:
    """Make a counterexample smaller for as long as it remains one."""
    smaller = _smaller(found.content)
    for _ in range(_MAX_SHRINKING):
        candidate = next(smaller, None)
        if candidate is None:
            break
        if new := _run_twice(rule, candidate):
            found, smaller = new, _smaller(candidate)
    return found


def _smaller(value: Any) -> Iterator[Any]:
    """Yield a value without one of its items or keys, or with a shorter text."""
    if isinstance(value, str) and len(value) > 1:
        yield "a"
    elif isinstance(value, list):
        numbered = dict(enumerate(value))
        for less in _smaller(numbered):
            yield [*less.values()]
    elif isinstance(value, dict):
        for key, item in value.items():
            yield {other: value[other] for other in value if other != key}
            for less in _smaller(item):
                yield value | {key: less}
