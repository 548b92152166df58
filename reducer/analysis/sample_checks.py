"""Check a rule against its samples: what it names but no sample contains, and steps that do nothing or too much.

All samples of a rule are judged together, so what one of them contains is not missing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from reducer.analysis.counterexamples import counterexample, diagnostic, expressions_of
from reducer.analysis.laws import alone
from reducer.analysis.measures import lost_entities, step_label
from reducer.analysis.query import follow, misspelt, near, the_keys
from reducer.analysis.samples import SampleError, samples_of
from reducer.analysis.steps import StepReport, characters, step_reports
from reducer.analysis.texts import excerpt, listed
from reducer.engine import attempt
from reducer.errors import Diagnostic
from reducer.paths import Chain, Expression, Shape, ValuePlace, walk
from reducer.paths.expressions import expression_of
from reducer.paths.parser import Node
from reducer.paths.parser import parse as parse_expression
from reducer.rules import Rule, Ruleset, Step
from reducer.rules.diagnostics import Report
from reducer.rules.parser import MappingNode, ScalarNode, SequenceNode, Tree, locate, part, replaced
from reducer.rules.parser import parse as parse_rule
from reducer.values import Unreducible

_ON_DEMAND = frozenset({"limit", "truncate", "compact", "unwrap"})
_MIN_ITEMS = 3  # fewer items often agree by chance
_MIN_ENTITIES = 10
_MOST_ENTITIES = 0.95
_KINDS = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", dict: "object"}
_EMPTY: tuple[Any, ...] = ({}, [], "", None)
_LOGICAL = frozenset({"and_expression", "or_expression", "not_expression"})
_DECIDING = _LOGICAL | {"comparator", "function_expression"}
_KEYS = frozenset({"field", "subexpression"})


class _Run(NamedTuple):
    """A sample, what each step did and left, and the numbers of its entities and of those that each step removed."""

    name: str
    steps: tuple[StepReport, ...]
    left: Sequence[Any]
    after: int
    entities: int
    removed: Counter[str]


class _Finding(NamedTuple):
    """A problem of a step. `text` is the part to underline, or empty for the action; a safe fix writes `instead`."""

    code: str
    text: str
    message: str
    help: str = ""
    instead: str = ""


def problems_when_run(rule: Rule, ruleset: Ruleset, text: bytes | None = None) -> list[Diagnostic]:
    """Run a rule on its samples, search for a counterexample, and return the problems that only this reveals.

    `text` is the text of the rule file if it is not the one on disk.
    """
    tree, report = parse_rule(FilePath(rule.file).read_bytes() if text is None else text, rule.file)
    if tree is None:  # the file changed after it was loaded
        return []
    report.problems.clear()
    contents = []
    for name, place, read in samples_of(rule, ruleset):
        try:
            contents.append((name, read()))
        except SampleError as error:
            report.add(locate(tree, place), "W050", f"cannot read {name}: {error}")
    if (found := counterexample(rule, (content for _, content in contents))) is not None:
        report.problems.append(diagnostic(found, rule, report.lines[found.step.location.line - 1]))
    runs = [run for name, content in contents if (run := _run(rule, ruleset, name, content)).steps]
    for step in rule.steps if runs else ():
        node = locate(tree, ("steps", step.number - 1))
        with suppress(Unreducible, RecursionError):  # an item is too deep for a condition
            for one in _of_step(rule, step, runs):
                _add(report, one, node, step.op.verb())
    for run in runs:
        if rule.max_chars is not None and run.after > rule.max_chars:
            report.add(locate(tree, ("max_chars",)), "W069", f"{run.name} still has {run.after:,} characters")
    warned = {warning.location for warning in ruleset.warnings}
    return [problem for problem in report.in_order() if problem.location not in warned]


def _run(rule: Rule, ruleset: Ruleset, name: str, content: Any) -> _Run:
    outcome = attempt(alone(rule, ruleset), rule.name, content)
    recalls, lost = lost_entities("", content, outcome)
    return _Run(
        name,
        steps=step_reports(outcome, characters(content), False) if outcome.steps else (),
        left=[outcome.left_after(number) for number in range(len(rule.steps) + 1)],
        after=characters(outcome.content),
        entities=sum(recall.total for recall in recalls.values()),
        removed=Counter(one.step for one in lost),
    )


def _add(report: Report, one: _Finding, node: Tree, verb: str) -> None:
    word = re.compile(rf"(?<![\w.]){re.escape(one.text)}(?![\w.])")
    for scalar in _scalars(node) if one.text else ():
        if match := word.search(str(scalar.value)):
            span, fix = part(scalar, match.start(), len(one.text)), replaced(scalar, one.instead) if one.instead else ()
            report.add(span, one.code, one.message, one.help, fix)
            return
    report.add(locate(node, (verb,), key=True), one.code, one.message, one.help)


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
    of_step = [(run, run.steps[step.number - 1]) for run in runs]
    ran = [(run, report) for run, report in of_step if report.ran]
    if not ran:
        yield _Finding("W063", "", f"`{step.name}` never runs, because its `when` holds for no sample")
        return
    missing = [*_missing(step, [run for run, _ in ran])]
    # What only large or unusual returns need has no effect on most, unless the whole rule has none.
    is_on_demand, acts = step.op.verb() in _ON_DEMAND, any(one.before != one.after for run in runs for one in run.steps)
    yield from missing
    changed = [(run, report) for run, report in ran if report.before != report.after]
    if not missing and not any(report.places for _, report in ran):
        yield _nothing_found(step, ran)
    elif not missing and not changed and not (is_on_demand and acts):
        yield _Finding("W063", "", f"`{step.name}` changes nothing in any sample")
    elif changed:
        yield from _too_much(rule, step, changed)


def _nothing_found(step: Step, ran: Sequence[tuple[_Run, StepReport]]) -> _Finding:
    reasons = [reason for _, report in ran for reason in report.missing]
    reason = next((reason for reason in reasons if reason.nearest), reasons[0])
    code = "W062" if reason.help.startswith("an earlier step removed") else "W060"
    is_safe = reason.nearest.replace("[*]", "") == step.path.text.replace("[*]", "")
    message = f"`{step.path.text}` finds nothing in any sample"
    return _Finding(code, step.path.text, message, reason.help, reason.nearest if is_safe else "")


def _too_much(rule: Rule, step: Step, changed: Sequence[tuple[_Run, StepReport]]) -> Iterator[_Finding]:
    """Yield the findings about a step that removes too much, or nothing because of `preserve`."""
    runs = [run for run, _ in changed]
    for run, report in changed:
        if report.is_undone:
            restored = f"preserve restores {report.restored:,} of the {report.before - report.after:,} characters"
            message = f"{restored} that `{step.name}` removes in {run.name}"
            help = "`preserve: []` on the step restores nothing; `preserve: {ioc: 200}` restores at most 200"
            yield _Finding("W051", "", message, help)
            break
    before, after = (
        [
            item
            for value in _values(runs, step.path.shape, number)
            for item in (value if type(value) is list else [value])
        ]
        for number in (step.number - 1, step.number)
    )
    if after and all(item in _EMPTY for item in after) and not all(item in _EMPTY for item in before):
        yield _Finding("W064", "", f"`{step.name}` leaves only empty items in the samples")
    name = step_label(rule, step)
    lost, total = sum(run.removed[name] for run in runs), sum(run.entities for run in runs)
    if total >= _MIN_ENTITIES and lost > total * _MOST_ENTITIES:
        yield _Finding("W065", "", f"`{step.name}` removes {lost:,} of the {total:,} entities in the samples")


def _values(runs: Iterable[_Run], shape: Shape, number: int) -> list[Any]:
    """Return the values at the places of a shape in all samples after step `number`."""
    contents = [run.left[number] for run in runs]
    return [place.value for one in contents if one is not None for place in walk(shape, ValuePlace(one))]


def _items(values: Iterable[Any]) -> list[Any]:
    return [item for value in values for item in (value if type(value) is list else [value])]


# --- keys and conditions


def _missing(step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield the keys that no sample has, and the conditions that decide nothing."""
    before = step.number - 1
    conditions = [(expression, shape, before) for expression, shape in expressions_of(step)]
    if step.when is not None and step.when.where is not None:
        conditions.append((step.when.where, (), 0))
    for expression, shape, number in conditions:
        tree, values = parse_expression(expression.text)[0], _values(runs, shape, number)
        words = _words(tree)
        found = [one for key in expression.reads for one in _absent(key, runs, shape, number=number, words=words)]
        found = found or [*_mismatches(tree, values)]
        yield from found or (_constant(expression, tree, values) if shape else ())
    names = [*dict.fromkeys(step.op.names())]
    # Rules name keys that few returns have, so a missing key counts only if it is misspelt, or if all are missing.
    values, others = _values(runs, step.path.shape, before), {name for chain in names for name in chain}
    is_optional = any(follow(values, chain, None)[1] == len(chain) for chain in names)
    for chain in names:
        yield from _absent(chain, runs, step.path.shape, number=before, others=others if is_optional else ())


def _absent(
    chain: Chain,
    runs: Sequence[_Run],
    shape: Shape,
    *,
    number: int,
    words: Set[str] = frozenset(),
    others: Collection[str] = (),
) -> Iterator[_Finding]:
    """Yield a finding if no sample has a key after step `number`.

    Keys in `words` may be texts without quotes. With `others`, which the step names too, a key must be misspelt.
    """
    keys, depth = follow(_values(runs, shape, number), chain, None)
    if depth == len(chain) or not keys or any("*" in name for name in chain):
        return
    depths = [follow(_values(runs, shape, earlier), chain, None)[1] for earlier in range(number + 1)]
    text = ".".join(chain)
    nearest = (misspelt if others else near)(chain[depth], [key for key in keys if key not in others])
    if depths[0] == len(chain):
        remover = runs[0].steps[next(index for index, found in enumerate(depths) if found < len(chain)) - 1].step
        if remover is not None and not [*remover.op.shortens()]:  # fewer items may happen to lack a key
            help = f"move this step before step {remover.number}, or let that step keep `{text}`"
            yield _Finding("W062", text, f"step {remover.number} (`{remover.name}`) removes `{text}`", help)
    elif text in words:
        message = f"`{text}` without quotes is a key, and no sample has it"
        yield _Finding("W066", text, message, f"write '{text}' for the text")
    elif nearest or not others:
        help = f"did you mean `{nearest}`?" if nearest else f"there are {the_keys(keys)}"
        yield _Finding("W061", text, f"no sample has the key `{text}`", help)


def _comparisons(tree: Node) -> Iterator[Node]:
    """Yield the comparisons and function calls that a condition combines."""
    if tree["type"] in _LOGICAL:
        for child in tree["children"]:
            yield from _comparisons(child)
    elif tree["type"] in _DECIDING and len(tree["children"]) == 2:
        yield tree


def _words(tree: Node) -> set[str]:
    """Return the keys to which a condition compares other keys, such as `high` in `risk == high`."""
    pairs = (node["children"] for node in _comparisons(tree))
    return {second["value"] for first, second in pairs if first["type"] in _KEYS and second["type"] == "field"}


def _mismatches(tree: Node, items: Sequence[Any]) -> Iterator[_Finding]:
    """Yield the comparisons of a key with a literal whose type no value of the key has."""
    for name, values, literal in _compared(tree, items):
        kinds, own = {_KINDS[type(value)] for value in values}, _KINDS[type(literal)]
        if len(kinds) == 1 and own not in kinds:
            (kind,) = kinds
            message = f"`{name}` is a {kind} in all samples, and {_literal(literal)} is a {own}"
            yield _Finding("W067", name, message, _converted(name, literal, kind))


def _compared(tree: Node, items: Sequence[Any]) -> Iterator[tuple[str, list[Any], Any]]:
    """Yield each key that a condition compares with a literal, its values, and the literal."""
    for node in _comparisons(tree):
        key, literal = sorted(node["children"], key=lambda child: child["type"] not in _KEYS)
        if key["type"] in _KEYS and literal["type"] == "literal" and literal["value"] is not None:
            expression = expression_of("", key, ())
            if node["type"] == "comparator":
                values = [value for item in items if (value := expression.evaluate(item)) is not None]
                yield ".".join(expression.reads[0]), values, literal["value"]


def _literal(value: Any) -> str:
    return f"'{excerpt(value)}'" if type(value) is str else f"`` `{excerpt(value)}` ``"


def _converted(name: str, literal: Any, kind: str) -> str:
    """Return how to compare a key whose values are of another kind than the literal."""
    if kind == "list" and type(literal) is str:
        return f"write contains({name}, '{literal}')"
    if kind == "text":
        return f"write {_literal(str(literal))} for the text"
    with suppress(ValueError):
        if type(literal) is str and _KINDS[type(value := json.loads(literal))] == kind:
            return f"write {_literal(value)} for the {kind}"
    return ""


def _constant(expression: Expression, tree: Node, items: Sequence[Any]) -> Iterator[_Finding]:
    """Yield a finding if a condition is the same for all items."""
    if tree["type"] not in _DECIDING or len(items) < _MIN_ITEMS or len({*map(expression.holds, items)}) > 1:
        return
    truth = "true" if expression.holds(items[0]) else "false"
    name, values, literal = next(_compared(tree, items), ("", [], None))
    nearest = near(literal, {value for value in values if type(value) is str}) if type(literal) is str else ""
    shown = listed(map(_literal, values))
    help = f"did you mean '{nearest}'?" if nearest not in ("", literal) else f"`{name}` is {shown}" if values else ""
    message = f"`{expression.text}` is {truth} for all {len(items):,} items of the samples"
    yield _Finding("W068", expression.text, message, help)
