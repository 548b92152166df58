"""Check a rule against its samples: what it names but no sample contains, and steps that do nothing or too much.

All samples of a rule are judged together, so what one of them contains is not missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from functools import partial
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from reducer.analysis.counterexamples import counterexample, diagnostic, expressions_of
from reducer.analysis.explanation import Explanation, StepReport, explained
from reducer.analysis.laws import alone
from reducer.analysis.measures import step_label
from reducer.analysis.query import KINDS, near, the_keys
from reducer.analysis.samples import SampleError, samples_of
from reducer.analysis.texts import HASHES_AND_LINKS, excerpt, listed
from reducer.engine import attempt
from reducer.errors import Diagnostic, counted
from reducer.paths import Chain, Expression, Shape, ValuePlace, walk
from reducer.paths.expressions import expression_of
from reducer.paths.parser import Node
from reducer.paths.parser import parse as parse_expression
from reducer.rules import Rule, Ruleset, Step, When
from reducer.rules.diagnostics import Report, Span
from reducer.rules.parser import MappingNode, ScalarNode, SequenceNode, Tree, locate, part, replaced
from reducer.rules.parser import parse as parse_rule
from reducer.values import Unreducible

_BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_MIN_ITEMS = 3  # fewer items often agree by chance
_MAX_VALUES = 500  # values among which a similar text is searched
_MAX_KEYS = 20  # keys that one message lists
_MIN_ENTITIES = 10
_MOST_ENTITIES = 0.95
_EMPTY: tuple[Any, ...] = ({}, [], "", None)
_LOGICAL = frozenset({"and_expression", "or_expression", "not_expression"})
_DECIDING = _LOGICAL | {"comparator", "function_expression"}
_KEYS = frozenset({"field", "subexpression"})


class _Run(NamedTuple):
    """A sample, what the rule did to it, and what each step left of it."""

    name: str
    did: Explanation
    left: Sequence[Any]


class _Finding(NamedTuple):
    """A problem of a step. `text` is the part to underline, or empty for the action; a safe fix writes `instead`."""

    code: str
    message: str
    help: str = ""
    text: str = ""
    instead: str = ""


def problems_when_run(
    rule: Rule, ruleset: Ruleset, text: bytes | None = None, *, searches: bool = True
) -> list[Diagnostic]:
    """Run a rule on its samples, and return the problems that only this reveals.

    `text` is the text of the rule file if it is not the one on disk. With `searches`, search for a counterexample too.
    """
    tree, report = parse_rule(FilePath(rule.file).read_bytes() if text is None else text, rule.file)
    if tree is None:  # the file changed after it was loaded
        return []
    report.problems.clear()
    contents = []
    for sample in samples_of(rule, ruleset):
        try:
            contents.append((sample.title, sample.read()))
        except SampleError as error:
            report.add(locate(tree, sample.place), "W050", f"cannot read {sample.title}: {error}")
    found = counterexample(rule, (content for _, content in contents)) if searches else None
    if found is not None:
        report.problems.append(diagnostic(found, rule, report.lines[found.step.location.line - 1]))
    every = [_run(rule, ruleset, name, content) for name, content in contents]
    if rule.when is not None and every:
        for one in _of_gate(rule.when, every):
            _add(report, one, locate(tree, ("when",)), locate(tree, ("when",), key=True))
    # If only `max_chars` was applied, no step ran.
    runs = [run for run in every if any(one.number is not None for one in run.did.steps)]
    for step in rule.steps if runs else ():
        node = locate(tree, ("steps", step.number - 1))
        with suppress(Unreducible, RecursionError):  # an item is too deep for a condition
            for one in _of_step(rule, step, runs):
                _add(report, one, node, locate(node, (step.op.verb(),), key=True))
    for run in every:
        if run.did.over:
            size = counted(run.did.after, "character")
            report.add(locate(tree, ("max_chars",)), "W069", f"{run.name} still has {size}")
    warned = {(warning.location.file, warning.location.line) for warning in ruleset.warnings}
    return [one for one in report.in_order() if (one.location.file, one.location.line) not in warned]


def _run(rule: Rule, ruleset: Ruleset, name: str, content: Any) -> _Run:
    outcome = attempt(alone(rule, ruleset), rule.name, content)
    left = [outcome.left_after(number) for number in range(len(rule.steps) + 1)]
    return _Run(name, explained(rule.name, content, outcome), left)


def _add(report: Report, one: _Finding, node: Tree, otherwise: Span) -> None:
    """Report a finding at its text in a node, or `otherwise`."""
    word = re.compile(rf"(?<![\w.]){re.escape(one.text)}(?![\w.])")
    for scalar in _scalars(node) if one.text else ():
        if match := word.search(str(scalar.value)):
            span, fix = part(scalar, match.start(), len(one.text)), replaced(scalar, one.instead) if one.instead else ()
            report.add(span, one.code, one.message, one.help, fix)
            return
    report.add(otherwise, one.code, one.message, one.help)


def _scalars(node: Tree) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    for below in node.items if isinstance(node, SequenceNode) else ():
        yield from _scalars(below)
    for _, below in node.entries if isinstance(node, MappingNode) else ():
        yield from _scalars(below)


# --- steps


def _of_step(rule: Rule, step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield the findings about a step. Its effect is judged only if it names nothing that is missing."""
    reports = [(run, run.did.steps[step.number - 1]) for run in runs]
    ran = [run for run, report in reports if report.ran]
    changed = [(run, report) for run, report in reports if report.before != report.after]
    missing = list(_missing(rule, step, ran))
    yield from missing
    if changed:
        yield from _too_much(rule, step, changed)
    elif not ran:
        yield _Finding("W063", f"`{step.name}` never runs, because its `when` holds for no sample")
    elif missing or ("*" in rule.tools and step.path.text == "@"):
        return  # the samples of a rule for all tools do not have to exercise each of its steps
    elif not any(report.places for _, report in reports):
        text = step.path.text
        was_there, is_there = (any(step.path.find(run.left[number]) for run in ran) for number in (0, step.number - 1))
        reasons = [report.nothing for _, report in reports if report.nothing is not None]
        why = next((reason for reason in reasons if reason.path), reasons[0])
        is_safe = why.path.replace("[*]", "") == text.replace("[*]", "")
        message, instead = f"`{text}` finds nothing in any sample", why.path if is_safe else ""
        code = "W062" if was_there and not is_there else "W060"
        yield _Finding(code, message, why.message, text, instead=instead)
    else:
        yield _Finding("W063", f"`{step.name}` changes nothing in any sample")


def _too_much(rule: Rule, step: Step, changed: Sequence[tuple[_Run, StepReport]]) -> Iterator[_Finding]:
    """Yield the findings about a step that removes too much, or nothing because of `preserve`."""
    for run, report in [pair for pair in changed if pair[1].is_undone][:1]:
        removed = counted(report.before - report.after, "character")
        restored = f"preserve restores {report.restored:,} of the {removed}"
        yield _Finding("W051", f"{restored} that `{step.name}` removes in {run.name}")
    runs = [run for run, _ in changed]
    found = (_values(runs, step.path.shape, number) for number in (step.number - 1, step.number))
    before, after = map(_items, found)
    if after and all(item in _EMPTY for item in after) and not all(item in _EMPTY for item in before):
        yield _Finding("W064", f"`{step.name}` leaves only empty items in the samples")
    lost = [one for run in runs for one in run.did.lost_entities if one.step == step_label(rule, step)]
    total = sum(recall.total for run in runs for recall in run.did.entities.values())
    names_keys = step.op.verb() in ("keep", "drop") and not [*step.op.shortens()]
    is_meant = names_keys and {one.type for one in lost} <= HASHES_AND_LINKS
    if total >= _MIN_ENTITIES and len(lost) > total * _MOST_ENTITIES and not is_meant:
        yield _Finding("W065", f"`{step.name}` removes {len(lost):,} of the {total:,} entities in the samples")


def _values(runs: Iterable[_Run], shape: Shape, number: int) -> list[Any]:
    """Return the values at the places of a shape in all samples after step `number`."""
    contents = [run.left[number] for run in runs if run.left[number] is not None]
    values = [place.value for content in contents for place in walk(shape, ValuePlace(content))]
    is_map = not values and shape[-1:] == (("each",),)  # conditions also select the values of an object
    return _values(runs, (*shape[:-1], ("values",)), number) if is_map else values


def _items(values: Iterable[Any]) -> list[Any]:
    """Return the values, and the items of those that are lists."""
    return [item for value in values for item in (value if type(value) is list else [value])]


# --- keys and conditions


def _of_gate(when: When, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield the findings about the `when` of a rule."""
    missing = [*_of_condition(when.where, (), (), runs)] if when.where is not None else []
    yield from missing
    if not missing and all(run.did.status == "gated" for run in runs):
        message = "the rule never runs, because its `when` holds for no sample"
        yield _Finding("W063", message, "add a test with a return for which it holds")


def _missing(rule: Rule, step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield the keys that no sample has, and the conditions that decide nothing."""
    earlier = rule.steps[: step.number - 1]
    for expression, shape in expressions_of(step):
        yield from _of_condition(expression, shape, earlier, runs)
    if step.op.when is not None and step.op.when.where is not None:
        yield from _of_condition(step.op.when.where, (), (), runs)
    at, names = partial(_values, runs, step.path.shape), [*dict.fromkeys(step.op.names())]
    is_optional = any(_follow(at(len(earlier)), chain)[1] == len(chain) for chain in names)
    others = frozenset(name for chain in names for name in chain) if is_optional else frozenset[str]()
    found: dict[str, list[_Finding]] = {}
    for one in (one for chain in names for one in _absent(chain, at, earlier, others=others)):
        found.setdefault(one.help, []).append(one)
    if len(_items(at(len(earlier)))) < _MIN_ITEMS:
        found.pop("", None)  # few returns have the optional keys
    for first, *more in found.values():
        keys = the_keys([one.text for one in (first, *more)], _MAX_KEYS)
        yield first._replace(message=f"no sample has {keys}") if more else first


def _of_condition(
    expression: Expression, shape: Shape, earlier: Sequence[Step], runs: Sequence[_Run]
) -> Iterator[_Finding]:
    """Yield the findings about an expression that is evaluated at the places of a shape after the `earlier` steps."""
    at = partial(_values, runs, shape)
    tree, values = parse_expression(expression.text)[0], at(len(earlier))
    words = {other["value"] for _, _, other in _pairs(tree) if other["type"] == "field"}
    found = [one for chain in expression.reads for one in _absent(chain, at, earlier, words=words)]
    found = found or [*_mismatches(tree, values)]
    yield from found or (_constant(expression, tree, values) if shape else ())


def _absent(
    chain: Chain,
    at: Callable[[int], list[Any]],
    earlier: Sequence[Step],
    *,
    words: Set[str] = frozenset(),
    others: Set[str] = frozenset(),
) -> Iterator[_Finding]:
    """Yield a finding if no sample has a key after the `earlier` steps. `at(n)` returns the values after n steps.

    Keys in `words` may be texts without quotes. With `others`, which the step names too, a key that is not misspelt may
    be optional: its finding has no help.
    """
    keys, depth = _follow(at(len(earlier)), chain)
    if depth == len(chain) or not keys or any("*" in name for name in chain):
        return
    text = ".".join(chain)
    nearest = (_misspelt if others else near)(chain[depth], [key for key in keys if key not in others])
    there = [number for number, _ in enumerate(earlier) if _follow(at(number), chain)[1] == len(chain)]
    if there:
        remover = earlier[there[-1]]
        if not [*remover.op.shortens()]:  # fewer items may happen to lack a key
            help = f"move this step before step {remover.number}, or let that step keep `{text}`"
            yield _Finding("W062", f"step {remover.number} (`{remover.name}`) removes `{text}`", help, text)
    elif text in words:
        message = f"`{text}` without quotes is a key, and no sample has it"
        yield _Finding("W066", message, f"write '{text}' for the text", text)
    else:
        help = f"did you mean `{nearest}`?" if nearest else "" if others else f"there are {the_keys(keys)}"
        if (dotted := ".".join(chain[depth:])) in keys:
            quoted = ".".join([*chain[:depth], f'"{dotted}"'])
            help = f"the name of this key contains dots: write '{quoted}'"
        yield _Finding("W061", f"no sample has the key `{text}`", help, text)


def _follow(values: Sequence[Any], chain: Chain) -> tuple[list[str], int]:
    """Follow keys through objects and lists. Return the keys at the level where one is absent, and the level."""
    for depth, name in enumerate(chain):
        objects = [item for value in values for item in (value, *_items([value])) if type(item) is dict]
        values = [item[name] for item in objects if name in item]
        if not values:
            return [*dict.fromkeys(key for item in objects for key in item)], depth
    return [], len(chain)


def _misspelt(name: str, keys: Iterable[str]) -> str:
    """Return the key that `name` misspells, or an empty text; `last_date` is not a misspelt `last_stats`."""
    found = near(name, keys)
    words, meant = (_BETWEEN_WORDS.split(text) for text in (name, found))
    is_alike = len(words) == len(meant) and all(near(word, [other]) for word, other in zip(words, meant, strict=True))
    return found if is_alike or "".join(words).casefold() == "".join(meant).casefold() else ""


def _pairs(tree: Node) -> Iterator[tuple[str, Node, Node]]:
    """Yield each key that a condition compares or searches, with the type of the node and the other side."""
    kind, children = tree["type"], tree["children"]
    if kind in _LOGICAL:
        for child in children:
            yield from _pairs(child)
    elif kind in _DECIDING and len(children) == 2:
        one, other = children
        if one["type"] in _KEYS:
            yield kind, one, other
        elif kind == "comparator" and other["type"] in _KEYS:
            yield kind, other, one


def _compared(tree: Node, items: Sequence[Any]) -> Iterator[tuple[str, list[Any], Any]]:
    """Yield each key that a condition compares with a literal, its values, and the literal."""
    for kind, key, other in _pairs(tree):
        if kind == "comparator" and other["type"] == "literal" and other["value"] is not None:
            expression = expression_of("", key, ())
            values = [value for item in items if (value := expression.evaluate(item)) is not None]
            yield ".".join(expression.reads[0]), values, other["value"]


def _mismatches(tree: Node, items: Sequence[Any]) -> Iterator[_Finding]:
    """Yield the comparisons of a key with a literal whose type no value of the key has."""
    for name, values, literal in _compared(tree, items):
        kind, *others = dict.fromkeys(KINDS[type(value)] for value in values) or [""]
        if kind and not others and kind != KINDS[type(literal)]:
            message = f"`{name}` is a {kind} in all samples, and {_literal(literal)} is a {KINDS[type(literal)]}"
            yield _Finding("W067", message, _converted(name, literal, kind), name)


def _literal(value: Any) -> str:
    """Write a literal as in a condition. Whole numbers and texts need no backticks, but `1e+20` does."""
    if type(value) is int:
        return str(value)
    return f"'{excerpt(value)}'" if type(value) is str else f"`` `{excerpt(value)}` ``"


def _converted(name: str, literal: Any, kind: str) -> str:
    """Return how to compare a key whose values are of another kind than the literal."""
    if kind == "list" and type(literal) is str:
        return f"write contains({name}, '{literal}')"
    if kind == "text":
        return f"write {_literal(str(literal))} for the text"
    with suppress(ValueError):
        if type(literal) is str and KINDS[type(value := json.loads(literal))] == kind:
            return f"write {_literal(value)} for the {kind}"
    return ""


def _constant(expression: Expression, tree: Node, items: Sequence[Any]) -> Iterator[_Finding]:
    """Yield a finding if a condition is the same for all items."""
    if tree["type"] not in _DECIDING or len(items) < _MIN_ITEMS or len({*map(expression.holds, items)}) > 1:
        return
    name, values, literal = next(_compared(tree, items), ("", [], None))
    texts = dict.fromkeys(value for value in values[:_MAX_VALUES] if type(value) is str)
    nearest = near(literal, texts) if type(literal) is str else ""
    help = f"`{name}` is {listed(map(_literal, values))}" if values else ""
    truth = "true" if expression.holds(items[0]) else "false"
    message = f"`{expression.text}` is {truth} for all {len(items):,} items of the samples"
    yield _Finding("W068", message, help if nearest in ("", literal) else f"did you mean '{nearest}'?", expression.text)
