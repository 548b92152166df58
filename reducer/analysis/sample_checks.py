"""Check a rule against its samples: what it names but no sample contains, and steps that do nothing or too much.

All samples of a rule are judged together, so what one of them contains is not missing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence, Set
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
from reducer.engine import Outcome, attempt
from reducer.errors import Diagnostic
from reducer.paths import Chain, Expression, Shape, ValuePlace, walk
from reducer.paths.expressions import expression_of
from reducer.paths.parser import Node
from reducer.paths.parser import parse as parse_expression
from reducer.rules import Rule, Ruleset, Step
from reducer.rules.diagnostics import Report
from reducer.rules.parser import MappingNode, ScalarNode, SequenceNode, Tree, locate, part, replaced
from reducer.rules.parser import parse as parse_rule

_BOUNDS = frozenset({"limit", "truncate"})
_MIN_ITEMS = 3  # fewer items often agree by chance
_MIN_ENTITIES = 10
_MOST_ENTITIES = 0.95
_KINDS = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", dict: "object"}
_EMPTY: tuple[Any, ...] = ({}, [], "", None)
_LOGICAL = frozenset({"and_expression", "or_expression", "not_expression"})
_DECIDING = _LOGICAL | {"comparator", "function_expression"}
_KEYS = frozenset({"field", "subexpression"})


class _Run(NamedTuple):
    """A sample, what the rule did to it, and the numbers of its entities and of those that each step removed."""

    name: str
    outcome: Outcome
    steps: tuple[StepReport, ...]
    entities: int
    removed: Counter[str]


class _Finding(NamedTuple):
    """A problem of a step. `text` is what to underline, or empty for the action; a safe fix replaces it by `instead`."""

    code: str
    text: str
    message: str
    help: str = ""
    instead: str = ""


def problems_when_run(rule: Rule, ruleset: Ruleset) -> list[Diagnostic]:
    """Run a rule on its samples, search for a counterexample, and return the problems that only this reveals."""
    tree, report = parse_rule(FilePath(rule.file).read_bytes(), rule.file)
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
        for one in _of_step(step, runs):
            _add(report, one, node, step.op.verb())
    for run in runs:
        if rule.max_chars is not None and (size := characters(run.outcome.content)) > rule.max_chars:
            report.add(locate(tree, ("max_chars",)), "W069", f"{run.name} still has {size:,} characters")
    warned = {warning.location for warning in ruleset.warnings}
    return [problem for problem in report.in_order() if problem.location not in warned]


def _run(rule: Rule, ruleset: Ruleset, name: str, content: Any) -> _Run:
    outcome = attempt(alone(rule, ruleset), rule.name, content)
    recalls, lost = lost_entities("", content, outcome)
    entities = sum(recall.total for recall in recalls.values())
    steps = step_reports(outcome, characters(content), False) if outcome.steps else ()
    return _Run(name, outcome, steps, entities, Counter(one.step for one in lost))


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


def _of_step(step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield the findings about a step. Its effect is judged only if it names nothing that is missing."""
    of_step = [(run, run.steps[step.number - 1]) for run in runs]
    ran = [(run, report) for run, report in of_step if report.ran]
    if not ran:
        yield _Finding("W063", "", f"`{step.name}` never runs, because its `when` holds for no sample")
        return
    missing = [*_missing(step, [run.outcome for run, _ in ran])]
    # A bound that no sample reaches is for larger returns, unless the whole rule changes nothing.
    is_bound, acts = step.op.verb() in _BOUNDS, any(one.before != one.after for run in runs for one in run.steps)
    yield from missing
    changed = [(run, report) for run, report in ran if report.before != report.after]
    if not missing and not any(report.places for _, report in ran):
        yield _nothing_found(step, ran)
    elif not missing and not changed and not (is_bound and acts):
        yield _Finding("W063", "", f"`{step.name}` changes nothing in any sample")
    elif changed:
        yield from _too_much(step, changed)


def _nothing_found(step: Step, ran: Sequence[tuple[_Run, StepReport]]) -> _Finding:
    reasons = [reason for _, report in ran for reason in report.missing]
    reason = next((reason for reason in reasons if reason.nearest), reasons[0])
    code = "W062" if reason.help.startswith("an earlier step removed") else "W060"
    is_safe = reason.nearest.replace("[*]", "") == step.path.text.replace("[*]", "")
    message = f"`{step.path.text}` finds nothing in any sample"
    return _Finding(code, step.path.text, message, reason.help, reason.nearest if is_safe else "")


def _too_much(step: Step, changed: Sequence[tuple[_Run, StepReport]]) -> Iterator[_Finding]:
    """Yield the findings about a step that removes too much, or nothing because of `preserve`."""
    for run, report in changed:
        if report.is_undone:
            restored = f"preserve restores {report.restored:,} of the {report.before - report.after:,} characters"
            message = f"{restored} that `{step.name}` removes in {run.name}"
            help = "`preserve: []` on the step restores nothing; `preserve: {ioc: 200}` restores at most 200"
            yield _Finding("W051", "", message, help)
            break
    before, after = (
        [item for run, _ in changed for item in _items(step.path.shape, run.outcome.left_after(number))]
        for number in (step.number - 1, step.number)
    )
    if after and all(item in _EMPTY for item in after) and not all(item in _EMPTY for item in before):
        yield _Finding("W064", "", f"`{step.name}` leaves only empty items in the samples")
    name = step_label(changed[0][0].outcome.rule, step)
    lost, total = sum(run.removed[name] for run, _ in changed), sum(run.entities for run, _ in changed)
    if total >= _MIN_ENTITIES and lost > total * _MOST_ENTITIES:
        yield _Finding("W065", "", f"`{step.name}` removes {lost:,} of the {total:,} entities in the samples")


def _items(shape: Shape, content: Any) -> list[Any]:
    """Return the values at the places of a shape, and the items of lists there."""
    return [item for value in _find(shape, content) for item in (value if type(value) is list else [value])]


def _find(shape: Shape, content: Any) -> list[Any]:
    return [place.value for place in walk(shape, ValuePlace(content))] if content is not None else []


# --- keys and conditions


def _missing(step: Step, outcomes: Sequence[Outcome]) -> Iterator[_Finding]:
    """Yield the keys that no sample has, and the conditions that decide nothing."""
    before = step.number - 1
    conditions = [(expression, shape, before) for expression, shape in expressions_of(step)]
    if step.when is not None and step.when.where is not None:
        conditions.append((step.when.where, (), 0))
    for expression, shape, number in conditions:
        tree = parse_expression(expression.text)[0]
        at, words = _Place(outcomes, shape, number), _words(tree)
        found = [one for chain in expression.reads for one in _absent(chain, at, words=words)]
        items = at.values(number)
        found += _mismatches(tree, items) if not found else ()
        found += _constant(expression, tree, items) if not found and shape else ()
        yield from found
    at, names = _Place(outcomes, step.path.shape, before), [*dict.fromkeys(step.op.names())]
    # Rules name keys that few returns have, so a missing key counts only if it is misspelt, or if all are missing.
    others = {name for chain in names for name in chain}
    is_optional = any(at.depth(chain, before)[1] == len(chain) for chain in names)
    for chain in names:
        yield from _absent(chain, at, others=others if is_optional else ())


class _Place(NamedTuple):
    """The places of a shape in all samples after step `number`."""

    outcomes: Sequence[Outcome]
    shape: Shape
    number: int

    def values(self, number: int) -> list[Any]:
        """Return the values at the places after a step."""
        return [value for one in self.outcomes for value in _find(self.shape, one.left_after(number))]

    def depth(self, chain: Chain, number: int) -> tuple[list[str], int]:
        """Follow keys from the places after a step."""
        return follow(self.values(number), chain, most=None)


def _absent(
    chain: Chain, at: _Place, *, words: Set[str] = frozenset(), others: Collection[str] = ()
) -> Iterator[_Finding]:
    """Yield a finding if no sample has a key.

    Keys in `words` may be texts without quotes. With `others`, which the step names too, a key must be misspelt.
    """
    keys, depth = at.depth(chain, at.number)
    if depth == len(chain) or not keys or any("*" in name for name in chain):
        return
    text = ".".join(chain)
    nearest = (misspelt if others else near)(chain[depth], [key for key in keys if key not in others])
    remover = next((number for number in range(1, at.number + 1) if at.depth(chain, number)[1] < len(chain)), 0)
    if remover and at.depth(chain, 0)[1] == len(chain):
        run = at.outcomes[0].steps[remover - 1]
        help = f"move this step before step {remover}, or let that step keep `{text}`"
        yield _Finding("W062", text, f"step {remover} (`{run.step and run.step.name}`) removes `{text}`", help)
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
