"""Check a rule against its samples: what it names but no sample contains, and steps that do nothing or too much.

All samples of a rule are judged together, so what one of them contains is not missing.
"""

from __future__ import annotations

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
from reducer.analysis.query import Nothing, the_keys
from reducer.analysis.samples import Sample, SampleError, samples_of
from reducer.analysis.texts import HASHES_AND_LINKS
from reducer.engine import attempt
from reducer.errors import Diagnostic, counted, did_you_mean, nearest
from reducer.paths import Chain, Expression, Shape, ValuePlace, walk
from reducer.paths.parser import Node
from reducer.paths.parser import parse as parse_expression
from reducer.rules import Rule, Ruleset, Step, When
from reducer.rules.diagnostics import Report, Span
from reducer.rules.parser import MappingNode, ScalarNode, SequenceNode, Tree, locate, part, replaced
from reducer.rules.parser import parse as parse_rule
from reducer.values import Unreducible

_BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_MIN_ITEMS = 3  # fewer items often agree by chance
_MAX_KEYS = 20  # keys that one message lists
_MIN_ENTITIES = 10
_MOST_ENTITIES = 0.95
_EMPTY: tuple[Any, ...] = ({}, [], "", None)
_LOGICAL = frozenset({"and_expression", "or_expression", "not_expression"})
_COMPARING = frozenset({"comparator", "function_expression"})
_KEYS = frozenset({"field", "subexpression"})


class _Run(NamedTuple):
    """A sample, what the rule did to it, and what each step left of it. Its test may say that nothing is removed."""

    name: str
    stays: bool
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
    samples = _read_samples(rule, ruleset, tree, report)
    found = counterexample(rule, [content for _, content in samples]) if searches else None
    if found is not None:
        report.problems.append(diagnostic(found, rule, report.lines[found.step.location.line - 1]))
    runs = [_run(rule, ruleset, sample, content) for sample, content in samples]
    if rule.when is not None and runs:
        for finding in _of_gate(rule.when, runs):
            _add(report, finding, locate(tree, ("when",)), locate(tree, ("when",), key=True))
    _add_findings_of_steps(report, tree, rule, runs)
    for run in runs:
        if run.did.over:
            size = counted(run.did.after, "character")
            report.add(locate(tree, ("max_chars",)), "W069", f"{run.name} still has {size}")
    warned = {_line(warning) for warning in ruleset.warnings}
    return [problem for problem in report.in_order() if _line(problem) not in warned]


def _line(problem: Diagnostic) -> tuple[str, int]:
    return problem.location.file, problem.location.line


def _read_samples(rule: Rule, ruleset: Ruleset, tree: Tree, report: Report) -> list[tuple[Sample, Any]]:
    """Return each sample with its content, and report those that cannot be read."""
    samples = []
    for sample in samples_of(rule, ruleset):
        try:
            samples.append((sample, sample.read()))
        except SampleError as error:
            report.add(locate(tree, sample.place), "W050", f"cannot read {sample.title}: {error}")
    return samples


def _run(rule: Rule, ruleset: Ruleset, sample: Sample, content: Any) -> _Run:
    outcome = attempt(alone(rule, ruleset), rule.name, content)
    left = [outcome.left_after(number) for number in range(len(rule.steps) + 1)]
    stays = sample.test is not None and sample.test.expect.unchanged is True
    return _Run(sample.title, stays, explained(rule.name, content, outcome), left)


def _add(report: Report, finding: _Finding, node: Tree, otherwise: Span) -> None:
    """Report a finding at its text in a node, or `otherwise`."""
    word = re.compile(rf"(?<![\w.]){re.escape(finding.text)}(?![\w.])")
    for scalar in _scalars(node) if finding.text else ():
        match = word.search(str(scalar.value))
        if match is not None:
            span = part(scalar, match.start(), len(finding.text))
            fix = replaced(scalar, finding.instead) if finding.instead else ()
            report.add(span, finding.code, finding.message, finding.help, fix)
            return
    report.add(otherwise, finding.code, finding.message, finding.help)


def _scalars(node: Tree) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    for below in node.items if isinstance(node, SequenceNode) else ():
        yield from _scalars(below)
    for _, below in node.entries if isinstance(node, MappingNode) else ():
        yield from _scalars(below)


# --- steps


def _add_findings_of_steps(report: Report, tree: Tree, rule: Rule, runs: Sequence[_Run]) -> None:
    for step in rule.steps:
        node = locate(tree, ("steps", step.number - 1))
        with suppress(Unreducible, RecursionError):  # an item is too deep for a condition
            for finding in _of_step(rule, step, runs):
                _add(report, finding, node, locate(node, (step.op.verb(),), key=True))


def _of_step(rule: Rule, step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield the findings about a step. Its effect is judged only if it names nothing that is missing."""
    every = [(run, run.did.steps[step.number - 1]) for run in runs if run.did.steps]
    reports = [(run, report) for run, report in every if not report.skipped]
    if not reports:
        return
    ran = [run for run, report in reports if report.ran]
    changed = [(run, report) for run, report in reports if report.before != report.after]
    missing = list(_missing(rule, step, ran))
    left_alone = [] if missing else [*_left_alone(step, reports)]
    yield from missing
    yield from left_alone
    if changed:
        yield from _undone(step, changed)
        yield from _only_empty(step, [run for run, _ in changed])
        yield from _most_entities(rule, step, [run for run, _ in changed])
    elif not ran:
        yield _Finding("W063", f"`{step.name}` never runs, because its `when` holds for no sample")
    elif missing or left_alone or ("*" in rule.tools and step.path.text == "@"):
        return  # the samples of a rule for all tools do not have to exercise each of its steps
    elif any(report.places for _, report in reports):
        yield _Finding("W063", f"`{step.name}` changes nothing in any sample")
    else:
        yield _finds_nothing(step, ran, [report.nothing for _, report in reports])


def _left_alone(step: Step, reports: Iterable[tuple[_Run, StepReport]]) -> Iterator[_Finding]:
    """Yield a finding if a step does not recognise the objects of a sample that the rule is meant to change."""
    for run, report in reports:
        if report.left_alone and report.nothing is not None and not run.stays:
            yield _Finding("W070", f"in {run.name}, {report.nothing.message}")
            return


def _finds_nothing(step: Step, ran: Sequence[_Run], nothing: Iterable[Nothing | None]) -> _Finding:
    """Return the finding about a path that finds nothing in any sample, with the most helpful reason."""
    text = step.path.text
    was_there = any(step.path.find(run.left[0]) for run in ran)
    is_there = any(step.path.find(run.left[step.number - 1]) for run in ran)
    reasons = [reason for reason in nothing if reason is not None]
    why = next((reason for reason in reasons if reason.path), reasons[0])
    is_safe = why.path.replace("[*]", "") == text.replace("[*]", "")
    code = "W062" if was_there and not is_there else "W060"
    instead = why.path if is_safe else ""
    return _Finding(code, f"`{text}` finds nothing in any sample", why.message, text, instead=instead)


def _undone(step: Step, changed: Sequence[tuple[_Run, StepReport]]) -> Iterator[_Finding]:
    """Yield a finding if `preserve` restores at least half of what a step removes from a sample."""
    for run, report in changed:
        if report.is_undone:
            removed = counted(report.before - report.after, "character")
            restored = f"preserve restores {report.restored:,} of the {removed}"
            yield _Finding("W051", f"{restored} that `{step.name}` removes in {run.name}")
            return


def _only_empty(step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield a finding if all items are empty after a step, and not all were before it."""
    before = _items(_values(runs, step.path.shape, step.number - 1))
    after = _items(_values(runs, step.path.shape, step.number))
    if after and _are_empty(after) and not _are_empty(before):
        yield _Finding("W064", f"`{step.name}` leaves only empty items in the samples")


def _are_empty(items: Iterable[Any]) -> bool:
    return all(item in _EMPTY for item in items)


def _most_entities(rule: Rule, step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield a finding if a step removes most entities, unless it names keys that contain only hashes and links."""
    label = step_label(rule, step)
    total, lost = 0, list[str]()
    for run in runs:
        total += sum(recall.total for recall in run.did.entities.values())
        lost += [entity.type for entity in run.did.lost_entities if entity.step == label]
    names_keys = [*step.op.names()] and not [*step.op.shortens()]
    if names_keys and HASHES_AND_LINKS.issuperset(lost):
        return
    if total >= _MIN_ENTITIES and len(lost) > total * _MOST_ENTITIES:
        yield _Finding("W065", f"`{step.name}` removes {len(lost):,} of the {total:,} entities in the samples")


def _values(runs: Sequence[_Run], shape: Shape, number: int) -> list[Any]:
    """Return the values at the places of a shape in all samples after step `number`."""
    values = []
    for run in runs:
        if run.left[number] is not None:
            values += [place.value for place in walk(shape, ValuePlace(run.left[number]))]
    if not values and shape[-1:] == (("each",),):  # conditions also select the values of an object
        return _values(runs, (*shape[:-1], ("values",)), number)
    return values


def _items(values: Iterable[Any]) -> list[Any]:
    """Return the values, and instead of each list its items."""
    items: list[Any] = []
    for value in values:
        items += value if type(value) is list else [value]
    return items


# --- keys


def _of_gate(when: When, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield the findings about the `when` of a rule."""
    missing = [*_of_condition(when.where, (), (), runs)] if when.where is not None else []
    yield from missing
    if not missing and all(run.did.status == "gated" for run in runs):
        message = "the rule never runs, because its `when` holds for no sample"
        yield _Finding("W063", message, "add a test with a return for which it holds")


def _missing(rule: Rule, step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield the findings about keys that a step names and that no sample has."""
    earlier = rule.steps[: step.number - 1]
    for expression, shape in expressions_of(step):
        yield from _of_condition(expression, shape, earlier, runs)
    if step.op.when is not None and step.op.when.where is not None:
        yield from _of_condition(step.op.when.where, (), (), runs)
    yield from _missing_names(step, earlier, runs)


def _missing_names(step: Step, earlier: Sequence[Step], runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield a finding for the keys of `keep` and `drop` that have the same help."""
    at = partial(_values, runs, step.path.shape)
    present, names = at(len(earlier)), [*dict.fromkeys(step.op.names())]
    is_optional = any(_follow(present, chain)[1] == len(chain) for chain in names)
    others = frozenset(name for chain in names for name in chain) if is_optional else frozenset[str]()
    by_help: dict[str, list[_Finding]] = {}
    for chain in names:
        for finding in _absent(chain, at, earlier, others=others):
            by_help.setdefault(finding.help, []).append(finding)
    if len(_items(present)) < _MIN_ITEMS:
        by_help.pop("", None)  # few returns have the optional keys
    for first, *more in by_help.values():
        keys = the_keys([finding.text for finding in (first, *more)], _MAX_KEYS)
        yield first._replace(message=f"no sample has {keys}") if more else first


def _of_condition(
    expression: Expression, shape: Shape, earlier: Sequence[Step], runs: Sequence[_Run]
) -> Iterator[_Finding]:
    """Yield the keys that an expression reads at the places of a shape, and that no sample has after `earlier`."""
    at = partial(_values, runs, shape)
    words = _bare_words(parse_expression(expression.text)[0])
    for chain in expression.reads:
        yield from _absent(chain, at, earlier, words=words)


def _bare_words(tree: Node) -> Set[str]:
    """Return the words without quotes that a condition compares a key with, or searches in it."""
    kind, children = tree["type"], tree["children"]
    if kind in _LOGICAL:
        return frozenset[str]().union(*map(_bare_words, children))
    types = [child["type"] for child in children]
    is_word = kind in _COMPARING and len(types) == 2 and types[0] in _KEYS and types[1] == "field"
    return {children[1]["value"]} if is_word else set()


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
    removers = [step for number, step in enumerate(earlier) if _follow(at(number), chain)[1] == len(chain)]
    if removers:
        remover = removers[-1]
        if not [*remover.op.shortens()]:  # fewer items may happen to lack a key
            advice = f"move this step before step {remover.number}, or let that step keep `{text}`"
            yield _Finding("W062", f"step {remover.number} (`{remover.name}`) removes `{text}`", advice, text)
    elif text in words:
        message = f"`{text}` without quotes is a key, and no sample has it"
        yield _Finding("W066", message, f"write '{text}' for the text", text)
    else:
        yield _Finding("W061", f"no sample has the key `{text}`", _help(chain, depth, keys, others), text)


def _help(chain: Chain, depth: int, keys: Sequence[str], others: Set[str]) -> str:
    """Return what to write instead of a chain of keys that ends at `depth`, where there are other `keys`."""
    dotted = ".".join(chain[depth:])
    if dotted in keys:
        quoted = ".".join([*chain[:depth], f'"{dotted}"'])
        return f"the name of this key contains dots: write '{quoted}'"
    if not others:
        return did_you_mean(nearest(chain[depth], keys)) or f"there are {the_keys(keys)}"
    return did_you_mean(_misspelt(chain[depth], [key for key in keys if key not in others]))


def _follow(values: Iterable[Any], chain: Chain) -> tuple[list[str], int]:
    """Follow keys through objects and lists. Return the keys at the level where one is absent, and the level."""
    for depth, name in enumerate(chain):
        objects = [item for item in _items(values) if type(item) is dict]
        values = [item[name] for item in objects if name in item]
        if not values:
            return [*dict.fromkeys(key for item in objects for key in item)], depth
    return [], len(chain)


def _misspelt(name: str, keys: Iterable[str]) -> str:
    """Return the key that `name` misspells, or an empty text; `last_date` is not a misspelt `last_stats`."""
    found = nearest(name, keys)
    words, meant = _BETWEEN_WORDS.split(name), _BETWEEN_WORDS.split(found)
    if "".join(words).casefold() == "".join(meant).casefold():
        return found
    if len(words) != len(meant):
        return ""
    is_alike = all(nearest(word, [other]) for word, other in zip(words, meant, strict=True))
    return found if is_alike else ""
