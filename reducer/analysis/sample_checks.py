"""Check a rule against its samples: what it names but no sample contains, and steps that do nothing or too much.

All samples of a rule are judged together, so what one of them contains is not missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from reducer.analysis.counterexamples import counterexample, described, expressions_of
from reducer.analysis.explanation import Explanation, StepReport, explained
from reducer.analysis.laws import alone
from reducer.analysis.measures import step_label
from reducer.analysis.query import Nothing, items_of, keys_of, the_keys, values_of
from reducer.analysis.samples import Sample, samples_of
from reducer.analysis.texts import HASHES_AND_LINKS
from reducer.engine import StepRun, attempt
from reducer.engine.choose import breaks_where
from reducer.errors import Diagnostic, Edit, FileError, counted, did_you_mean, nearest
from reducer.formats import unwrapped
from reducer.operations.op import named
from reducer.paths import Chain, Expression, Shape, ValuePlace, compile_path, walk
from reducer.paths.parser import parse as parse_expression
from reducer.paths.parser import walk_nodes
from reducer.paths.ranks import OTHER_TEXT, rank
from reducer.rules import Rule, Ruleset, Step
from reducer.rules.diagnostics import Report, Span
from reducer.rules.parser import MappingNode, Place, ScalarNode, SequenceNode, Tree, locate, part, replaced
from reducer.rules.parser import parse as parse_rule
from reducer.values import Unreducible

_BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_MIN_ITEMS = 3  # fewer items often agree by chance
_WHOLE_LINE = 10_000
_MAX_KEYS = 20  # keys that one message lists
_MIN_ENTITIES = 10
_MOST_ENTITIES = 0.95
_FEW_WORDS = 8  # a key with more contains names, not words of a scale
_WRAPPER = re.compile(r"(?:structuredContent|(?:content)?\[[\d*]*\](?:\.text)?|content)(?:\.|(?=\[)|\Z)")
"""The beginning of a path that names a wrapper of MCP."""
_COMPARING = frozenset({"comparator", "function_expression"})
_KEYS = frozenset({"field", "subexpression"})


class _Run(NamedTuple):
    """A sample, what the rule did to it, and what each step left of it.

    `stays`: its test says that nothing is removed. `breaks_where` is the step after which the `where` of the rule does
    not hold, if it does not hold for the result.
    """

    name: str
    stays: bool
    did: Explanation
    left: Sequence[Any]
    is_wrapper: bool
    breaks_where: StepRun | None


class _Finding(NamedTuple):
    """A problem of a rule. `text` is the part to underline, or empty for the key; a safe fix writes `instead`."""

    code: str
    message: str
    help: str = ""
    text: str = ""
    instead: str = ""


def problems_when_run(
    rule: Rule, ruleset: Ruleset, text: bytes | None = None, samples: Iterable[Sample] | None = None
) -> list[Diagnostic]:
    """Run a rule on its samples, and return the problems that only this reveals.

    `text` is the text of the rule file if it is not the one on disk, and `samples` are those to use instead of its own.
    """
    tree, report = parse_rule(FilePath(rule.file).read_bytes() if text is None else text, rule.file)
    if tree is None:  # the file changed after it was loaded
        return []
    report.problems.clear()
    contents, runs = list[Any](), list[_Run]()
    for sample in samples_of(rule, ruleset) if samples is None else samples:
        try:
            content = sample.read()
        except FileError as error:
            report.add(locate(tree, (*sample.place, "given")), "W050", f"cannot read {sample.title}: {error}")
            continue
        contents.append(content)
        runs.append(_run(rule, ruleset, sample, content))
    found = counterexample(rule, contents)
    if found is not None:
        location = found.step.location
        report.add(Span(location.line, location.column, _WHOLE_LINE), "E070", *described(found, rule))
    for place, finding in _findings(rule, runs):
        _add(report, tree, place, finding)
    warned = {_line(warning) for warning in ruleset.warnings}
    return [problem for problem in report.in_order() if _line(problem) not in warned]


def _line(problem: Diagnostic) -> tuple[str, int]:
    return problem.location.file, problem.location.line


def _run(rule: Rule, ruleset: Ruleset, sample: Sample, content: Any) -> _Run:
    only = alone(rule, ruleset)
    outcome = attempt(only, rule.name, content)
    left = list(map(outcome.left_after, range(len(rule.steps) + 1)))
    did = explained(rule.name, content, outcome)
    stays = sample.test is not None and sample.test.expect.unchanged is True
    is_recognised = outcome.content is content or not attempt(only, rule.name, outcome.content).gated
    broken = None if is_recognised else breaks_where(rule, outcome)
    return _Run(sample.title, stays, did, left, unwrapped(content) is not content, broken)


def _add(report: Report, tree: Tree, place: Place, finding: _Finding) -> None:
    """Report a finding at its text in the step or gate at a place, or at the last key of the place."""
    span: Span = locate(tree, place, key=True)
    fix: tuple[Edit, ...] = ()
    word = re.compile(rf"(?<![\w.]){re.escape(finding.text)}(?![\w.])")
    for scalar in _scalars(locate(tree, place[:2])) if finding.text else ():
        match = word.search(str(scalar.value))
        if match is not None:
            span = part(scalar, match.start(), len(finding.text))
            fix = replaced(scalar, finding.instead) if finding.instead else ()
            break
    report.add(span, finding.code, finding.message, finding.help, fix)


def _scalars(node: Tree) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    for below in node.items if isinstance(node, SequenceNode) else ():
        yield from _scalars(below)
    for _, below in node.entries if isinstance(node, MappingNode) else ():
        yield from _scalars(below)


def _findings(rule: Rule, runs: Sequence[_Run]) -> Iterator[tuple[Place, _Finding]]:
    """Yield the findings about the gate, the steps and `max_chars` of a rule, each with its place in the rule file."""
    for finding in _of_gate(rule, runs):
        yield ("when",), finding
    for step in rule.steps:
        with suppress(Unreducible, RecursionError):  # an item is too deep for a condition
            for finding in _of_step(rule, step, runs):
                yield ("steps", step.number - 1, step.op.verb()), finding
    for run in runs:
        if run.breaks_where is not None:
            yield _broken_where(run, run.breaks_where)
        if run.did.over:
            size = counted(run.did.after, "character")
            yield ("max_chars",), _Finding("W069", f"{run.name} still has {size}")


def _broken_where(run: _Run, broken: StepRun) -> tuple[Place, _Finding]:
    """Return the finding about the step after which the `where` of its rule does not hold any more."""
    name, place = "max_chars", Place(("max_chars",))
    if broken.step is not None:
        name, place = broken.step.name, ("steps", broken.number - 1, broken.step.op.verb())
    return place, _Finding("E073", f"after `{name}`, the `where` of the rule does not hold for {run.name}")


def _of_gate(rule: Rule, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield the findings about the `when` of a rule."""
    if rule.when is None or not runs:
        return
    missing = list(_of_condition(rule.when.where, (), 0, rule, runs)) if rule.when.where else []
    yield from missing
    if not missing and all(run.did.status == "gated" for run in runs):
        message = "the rule never runs, because its `when` holds for no sample"
        yield _Finding("W063", message, "add a test with a return for which it holds")


# --- steps


def _of_step(rule: Rule, step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield the findings about a step. Its effect is judged only if it names nothing that is missing."""
    reports, ran, changed = list[StepReport](), list[_Run](), list[_Run]()
    for run in runs:
        report = run.did.steps[step.number - 1] if run.did.steps else None
        if report is None or report.run.skipped:
            continue
        reports.append(report)
        if report.run.ran:
            ran.append(run)
        if report.before != report.after:
            changed.append(run)
    if not reports:
        return
    missing = list(_missing(rule, step, ran))
    left_alone = [] if missing else list(_left_alone(step, ran))
    yield from missing
    yield from left_alone
    if changed:
        yield from _too_much(rule, step, changed)
        yield from _without_order(step, changed)
    elif not ran:
        yield _Finding("W063", f"`{step.name}` never runs, because its `when` holds for no sample")
    elif missing or left_alone or ("*" in rule.tools and step.path.text == "@"):
        return  # the samples of a rule for all tools do not have to exercise each of its steps
    elif any(report.run.places for report in reports):
        yield _Finding("W063", f"`{step.name}` changes nothing in any sample")
    else:
        yield _finds_nothing(step, [report.nothing for report in reports if report.nothing is not None], runs)


def _left_alone(step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield a finding if a step does not recognise the objects of a sample that the rule is meant to change."""
    for run in runs:
        report = run.did.steps[step.number - 1]
        if report.run.left_alone and report.nothing is not None and not run.stays:
            yield _Finding("W070", f"in {run.name}, {report.nothing.message}")
            return


def _finds_nothing(step: Step, reasons: Sequence[Nothing], runs: Sequence[_Run]) -> _Finding:
    """Return the finding about a path that finds nothing in any sample, with the most helpful reason."""
    text = step.path.text
    why = next((reason for reason in reasons if reason.path), reasons[0])
    if any(run.is_wrapper for run in runs) and (wrapper := _WRAPPER.match(text)):
        inside = _inside_wrapper(text[wrapper.end() :], runs)
        return _Finding("W067", f"`{text}` names the wrapper of MCP, which rules do not see", f"write `{inside}`", text)
    code = "W062" if why.is_removed else "W060"
    is_safe = why.path.replace("[*]", "") == text.replace("[*]", "")
    return _Finding(code, f"`{text}` finds nothing in any sample", why.message, text, why.path if is_safe else "")


def _inside_wrapper(text: str, runs: Sequence[_Run]) -> str:
    """Return what to write instead of a path through a wrapper: a path that finds something, if there is one."""
    written = text or "@"
    alone = re.sub(r"^result\b\.?", "", text) or "@"
    for path in (written, alone, f"[*].{text}" if text else "@"):
        found = compile_path(path)
        if any(found.find(run.left[0]) for run in runs):
            return path
    return written


def _too_much(rule: Rule, step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield the findings about what a step removes from samples that it changes.

    A step that names keys may remove all entities if these keys contain only hashes and links.
    """
    undone: list[_Finding] = []
    total, lost = 0, list[str]()
    for run in runs:
        report = run.did.steps[step.number - 1]
        total += sum(recall.total for recall in run.did.entities.values())
        label = step_label(rule, report.run)
        lost += [entity.type for entity in run.did.lost_entities if entity.step == label]
        if report.is_undone:
            removed = counted(report.before - report.after, "character")
            restored = f"preserve restores {report.restored:,} of the {removed}"
            undone.append(_Finding("W051", f"{restored} that `{step.name}` removes in {run.name}"))
    yield from undone[:1]
    names_keys = [*step.op.names()] and not [*step.op.shortens()]
    are_unneeded = names_keys and HASHES_AND_LINKS.issuperset(lost)
    if total >= _MIN_ENTITIES and len(lost) > total * _MOST_ENTITIES and not are_unneeded:
        yield _Finding("W065", f"`{step.name}` removes {len(lost):,} of the {total:,} entities in the samples")


def _without_order(step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield a finding for each key of `sort_by` that has a few words in no known order, some of them repeatedly."""
    items = _values(runs, (*step.path.shape, ("each",)), step.number - 1)
    for key in step.op.sort_keys():
        if key.order:
            continue
        words = []
        for item in items:
            value = key.condition.evaluate(item)
            ranked = rank(value)
            if ranked is not None and ranked[0] == OTHER_TEXT:
                words.append(value)
        few = sorted(set(words), reverse=True)
        if 1 < len(few) <= _FEW_WORDS and len(few) < len(words):
            name = "-" * key.is_reversed + key.condition.text
            message = f"{named(few)} are words in no known order, so `{name}` sorts them by the alphabet"
            advice = f"write them in their order, the highest first: sort_by: {{{name}: [{', '.join(few)}]}}"
            yield _Finding("W071", message, advice, key.condition.text)


# --- keys


def _missing(rule: Rule, step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield the findings about keys that a step names and that no sample has."""
    for expression, shape in expressions_of(step):
        yield from _of_condition(expression, shape, step.number - 1, rule, runs)
    yield from _missing_names(rule, step, runs)


def _of_condition(
    condition: Expression, shape: Shape, number: int, rule: Rule, runs: Sequence[_Run]
) -> Iterator[_Finding]:
    """Yield the keys that a condition reads at the places of a shape, and that no sample has after step `number`."""
    words = _bare_words(condition)
    for chain in condition.reads:
        found = _absent(chain, shape, number, rule, runs)
        if found is not None and found.code == "W061" and found.text in words:
            message = f"`{found.text}` without quotes is a key, and no sample has it"
            found = _Finding("W066", message, f"write '{found.text}' for the text", found.text)
        if found is not None:
            yield found


def _bare_words(condition: Expression) -> Set[str]:
    """Return the words without quotes that a condition compares a key with, or searches in it."""
    words: set[str] = set()
    for node in walk_nodes(parse_expression(condition.text)[0]):
        if node["type"] in _COMPARING and len(node["children"]) == 2:
            key, word = node["children"]
            if key["type"] in _KEYS and word["type"] == "field":
                words.add(word["value"])
    return words


def _missing_names(rule: Rule, step: Step, runs: Sequence[_Run]) -> Iterator[_Finding]:
    """Yield a finding for the keys of `keep` and `drop` that have the same help.

    Next to a key that samples have, the other keys may be optional: those that are not misspelt have no help.
    """
    shape, number = step.path.shape, step.number - 1
    values = _values(runs, shape, number)
    names = list(dict.fromkeys(step.op.names()))
    is_optional = any(_follow(values, chain)[1] == len(chain) for chain in names)
    others = frozenset[str]().union(*names) if is_optional else frozenset[str]()
    by_help: dict[str, list[_Finding]] = {}
    for chain in names:
        found = _absent(chain, shape, number, rule, runs, others)
        if found is not None:
            by_help.setdefault(found.help, []).append(found)
    if len(items_of(values)) < _MIN_ITEMS:
        by_help.pop("", None)  # few returns have the optional keys
    for first, *more in by_help.values():
        keys = the_keys([finding.text for finding in (first, *more)], _MAX_KEYS)
        yield first._replace(message=f"no sample has {keys}") if more else first


def _absent(
    chain: Chain, shape: Shape, number: int, rule: Rule, runs: Sequence[_Run], others: Set[str] = frozenset()
) -> _Finding | None:
    """Return the finding if no sample has a key at the places of a shape after step `number`.

    With `others`, which the step names too, the key may be optional.
    """
    keys, depth = _follow(_values(runs, shape, number), chain)
    text = ".".join(chain)
    if depth == len(chain) or not keys or "*" in text:
        return None
    for step in reversed(rule.steps[:number]):
        if _follow(_values(runs, shape, step.number - 1), chain)[1] == len(chain):
            if [*step.op.shortens()]:  # fewer items may happen to lack a key
                return None
            advice = f"move this step before step {step.number}, or let that step keep `{text}`"
            return _Finding("W062", f"step {step.number} (`{step.name}`) removes `{text}`", advice, text)
    return _Finding("W061", f"no sample has the key `{text}`", _help(chain, depth, keys, others), text)


def _help(chain: Chain, depth: int, keys: Sequence[str], others: Set[str]) -> str:
    """Return what to write instead of a chain of keys that ends at `depth`, where there are other `keys`."""
    name, dotted = chain[depth], ".".join(chain[depth:])
    if dotted in keys:
        quoted = ".".join([*chain[:depth], f'"{dotted}"'])
        return f"the name of this key contains dots: write '{quoted}'"
    if not others:
        return did_you_mean(nearest(name, keys)) or f"there are {the_keys(keys)}"
    meant = nearest(name, set(keys) - others)
    words, other = _BETWEEN_WORDS.split(name), _BETWEEN_WORDS.split(meant)
    # All words are alike: `last_date` is not a misspelt `last_stats`.
    is_misspelt = len(words) == len(other) and all(nearest(one, [two]) for one, two in zip(words, other, strict=True))
    return did_you_mean(meant) if is_misspelt else ""


def _values(runs: Sequence[_Run], shape: Shape, number: int) -> list[Any]:
    """Return the values at the places of a shape in all samples after step `number`."""
    values = []
    for run in runs:
        if run.left[number] is not None:
            values += [place.value for place in walk(shape, ValuePlace(run.left[number]))]
    if not values and shape[-1:] == (("each",),):  # conditions also select the values of an object
        return _values(runs, (*shape[:-1], ("values",)), number)
    return values


def _follow(values: Iterable[Any], chain: Chain) -> tuple[list[str], int]:
    """Follow keys through objects and lists. Return the keys at the level where one is absent, and the level."""
    for depth, name in enumerate(chain):
        items = items_of(values)
        values = values_of(name, items)
        if not values:
            return keys_of(items), depth
    return [], len(chain)
