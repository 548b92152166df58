"""Run the inline tests of rules, check the laws of reducing on their contents, and find what they do not cover."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from os.path import realpath
from pathlib import Path
from typing import Any, Literal, NamedTuple

from reducer.analysis.explanation import Explanation, explain_outcome
from reducer.analysis.laws import LAWS, Broken, alone, broken_laws
from reducer.analysis.query import explain
from reducer.analysis.samples import SampleError, Snapshots, file_of, read_sample, sample, sample_files
from reducer.analysis.steps import characters
from reducer.analysis.texts import all_text, contains, entities, excerpt, listed, opened, texts
from reducer.engine import Outcome, attempt
from reducer.errors import counted
from reducer.paths import Expression, PathError, compile_expression
from reducer.paths.written import path_text
from reducer.rules import Expect, Rule, Ruleset
from reducer.rules.parser import Place
from reducer.values import Unreducible, dump

_AROUND = 40
_QUOTED = 80
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Failure:
    """A reason why an inline test fails, at a `place` of the rule file.

    `what` is the expectation, such as `max_chars`, or `law 5`, or `given` if the test cannot run.
    """

    message: str
    expected: str = ""
    seen: str = ""
    help: str = ""
    place: Place = ()
    what: str = ""


@dataclass(frozen=True, slots=True)
class TestResult:
    """The result of an inline test or of a sample, which passes if there are no failures.

    `place` is the place of its name in the rule file, and `did` is what the rule did, or None if it could not run.
    """

    __test__ = False

    rule: Rule
    name: str
    place: Place
    failures: tuple[Failure, ...]
    did: Explanation | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """A rule or a step that tests do not cover, with its place in the rule file."""

    what: Literal["rule", "step"]
    rule: Rule
    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much the tests cover. A step is exercised if it changes something in a test; `max_chars` is a step."""

    rules: int
    tested: int
    steps: int
    exercised: int
    gaps: tuple[Gap, ...]


def chosen_cases(ruleset: Ruleset, text: str) -> tuple[list[tuple[Rule, int]], list[tuple[Rule, Path]]]:
    """Return the tests by number, and the samples, with a text in their name or in the tools or file of the rule."""

    def is_chosen(rule: Rule, name: str) -> bool:
        return text.casefold() in " ".join((Path(rule.file).name, *rule.tools, name)).casefold()

    rules = ruleset.rules
    tests = [(rule, number) for rule in rules for number, test in enumerate(rule.tests) if is_chosen(rule, test.name)]
    samples = [(rule, file) for rule in rules for file in sample_files(rule, ruleset) if is_chosen(rule, file.name)]
    return tests, samples


def run_test(ruleset: Ruleset, rule: Rule, number: int, update: Snapshots | None = None) -> TestResult:
    """Run an inline test of a rule, and check the laws on its content. `update` collects snapshots. Never raises."""
    test, place = rule.tests[number], ("tests", number)
    run = TestResult(rule, test.name, (*place, "name"), ())
    try:
        content = sample(rule, test)
    except SampleError as error:
        return replace(run, failures=(Failure(str(error), place=(*place, "given"), what="given"),))

    def check(outcome: Outcome, is_sound: bool) -> Iterator[Failure]:
        for one in unmet(test.expect, content, outcome, update if is_sound else None):
            yield replace(one, place=(*place, "expect", *one.place))

    return _run(ruleset, run, content, check)


def run_sample(ruleset: Ruleset, rule: Rule, file: Path) -> TestResult | None:
    """Check the laws on a sample beside a rule file, or return None if it cannot be read. Never raises."""
    with suppress(SampleError, RecursionError):
        return _run(ruleset, TestResult(rule, f"samples/{file.name}", ("tool",), ()), read_sample(file))
    return None


def _run(
    ruleset: Ruleset, run: TestResult, content: Any, check: Callable[[Outcome, bool], Iterable[Failure]] | None = None
) -> TestResult:
    """Return the result of a run on a content: the laws that it breaks, and the failures that `check` finds."""
    ruleset, tool, before = alone(run.rule, ruleset), run.rule.name, dump(content)
    try:
        outcome = attempt(ruleset, tool, content)
        broken = [_of_law(one, run.place) for one in broken_laws(ruleset, content, before, outcome)]
        failures = (*broken, *(check(outcome, not broken) if check else ()))
    except Exception as error:  # law 9: rules never raise
        return replace(run, failures=(_of_law(Broken(9, f"{type(error).__name__}: {error}"), run.place),))
    return replace(run, failures=failures, did=explain_outcome(tool, content, outcome, detailed=False))


def _of_law(broken: Broken, otherwise: Place) -> Failure:
    law, message = f"law {broken.law}", LAWS[broken.law]
    place = ("steps", broken.step - 1) if broken.step else otherwise
    return Failure(f"{law}, {message}: {broken.message}", message, broken.message, place=place, what=law)


def untested(rules: Iterable[Rule]) -> list[Gap]:
    """Return the rules without tests."""
    return [Gap("rule", rule, ("tool",), "this rule has no tests") for rule in rules if not rule.tests]


def coverage(rules: Sequence[Rule], results: Sequence[TestResult]) -> Coverage:
    """Return what the tests of rules cover. `results` must contain the results of all tests."""
    gaps: list[Gap] = []
    steps = exercised = 0
    for rule in rules:
        did = [result.did for result in results if result.rule is rule and result.did is not None]
        runs = [run for one in did for run in enumerate(one.steps, 1)]
        acted = {number for number, step in runs if step.before - step.after > step.restored}
        reached = {number for number, step in runs if step.places}
        numbers = range(1, len(rule.steps) + 1 + (rule.max_chars is not None))
        steps += len(numbers)
        exercised += len(acted)
        silent = (_gap(rule, number, number in reached) for number in numbers if number not in acted)
        gaps += silent if rule.tests else untested((rule,))
    tested = sum(bool(rule.tests) for rule in rules)
    return Coverage(len(rules), tested, steps=steps, exercised=exercised, gaps=tuple(gaps))


def _gap(rule: Rule, number: int, reached: bool) -> Gap:
    if number > len(rule.steps):
        return Gap("step", rule, ("max_chars",), "no test exceeds `max_chars`")
    step = rule.steps[number - 1]
    what = "removes" if reached else "finds"
    message = f"step {step.number}, `{step.name}`, {what} nothing in any test"
    return Gap("step", rule, ("steps", number - 1, step.op.verb()), message)


# --- expectations


class _Case(NamedTuple):
    """The result of a test. `given` and `result` are the decoded contents."""

    content: Any
    outcome: Outcome
    given: Any
    result: Any
    update: Snapshots | None


def unmet(expect: Expect, content: Any, outcome: Outcome, update: Snapshots | None = None) -> Iterator[Failure]:
    """Yield the expectations that a result does not meet. `update` collects the snapshots to write."""
    case = _Case(content, outcome, given=opened(content), result=opened(outcome.content), update=update)
    for name, check in _CHECKS.items():
        wanted = getattr(expect, name)
        if name in expect.model_fields_set and (wanted is not None or name == "equals"):
            for failure in check(wanted, case):
                yield replace(failure, place=(name, *failure.place), what=name)


def difference(expected: Any, seen: Any, path: Place = ()) -> tuple[Place, Any, Any] | None:
    """Return the first place at which two JSON values differ, with both values there, or None if they are equal.

    `1` equals `1.0` but not `true`. The order of keys does not matter.
    """
    if type(expected) is dict and type(seen) is dict and expected.keys() == seen.keys():
        pairs: Any = ((key, value, seen[key]) for key, value in expected.items())
    elif type(expected) is list and type(seen) is list and len(expected) == len(seen):
        pairs = ((index, *pair) for index, pair in enumerate(zip(expected, seen, strict=True)))
    else:
        is_same = expected == seen and (type(expected) is bool) == (type(seen) is bool)
        return None if is_same else (path, expected, seen)
    return next(filter(None, (difference(one, other, (*path, key)) for key, one, other in pairs)), None)


def _differs(message: str, expected: Any, seen: Any, help: str = "", place: Place = ()) -> Failure:
    """Return a failure that shows the first difference between two values."""
    path, one, other = difference(expected, seen) or ((), expected, seen)
    at = f"at `{path_text(path)}` " if path else ""
    return Failure(message, at + excerpt(dump(one)), at + excerpt(dump(other)), help=help, place=place)


def _unchanged(wanted: bool, case: _Case) -> Iterator[Failure]:
    is_unchanged = case.outcome.content is case.content
    if wanted and not is_unchanged:
        yield _differs("something changed", case.given, case.result)
    elif is_unchanged and not wanted:
        yield Failure("nothing changed", "some change", "the given content")


def _equals(wanted: Any, case: _Case) -> Iterator[Failure]:
    if difference(wanted, case.result):
        yield _differs("the result differs", wanted, case.result)


def _contains(wanted: tuple[str, ...], case: _Case) -> Iterator[Failure]:
    for number, part in enumerate(wanted):
        if not _has(case.result, part):
            help, quoted = _removed_by(partial(_has, part=part), case), dump(excerpt(part, _QUOTED))
            seen = excerpt(case.outcome.content)
            yield Failure(f"{quoted} is not in the result", quoted, seen, help, place=(number,))


def _not_contains(unwanted: tuple[str, ...], case: _Case) -> Iterator[Failure]:
    for number, part in enumerate(unwanted):
        if _has(case.result, part):
            text = next((text for text in texts(case.result) if part in text), None) or dump(case.result)
            start, quoted = max(0, text.index(part) - _AROUND), dump(excerpt(part, _QUOTED))
            seen = excerpt(text[start:], 2 * _AROUND + len(part))
            yield Failure(f"{quoted} is in the result", f"no {quoted}", seen, place=(number,))


def _max_chars(limit: int, case: _Case) -> Iterator[Failure]:
    seen = characters(case.outcome.content)
    if seen > limit:
        size, most, over = (counted(number, "character") for number in (seen, limit, seen - limit))
        yield Failure(f"{over} too many", f"at most {most}", size)


def _min_reduction(least: float, case: _Case) -> Iterator[Failure]:
    before, after = characters(case.content), characters(case.outcome.content)
    share = 1 - after / before if before else 0.0
    if share < least:
        seen = f"{share:.1%} less: {before:,} -> {after:,} characters"
        yield Failure("too little is saved", f"at least {least * 100:.6g}% less", seen)


def _values(wanted: dict[str, Any], case: _Case) -> Iterator[Failure]:
    for text, value in wanted.items():
        try:
            expression = compile_expression(text)
        except PathError as error:
            message = f"`{text}`, column {error.column}: {error.message}"
            yield Failure(message, f"a JMESPath expression for {excerpt(value)}", help=error.help, place=(text,))
            continue
        found = expression.evaluate(case.result)
        if difference(value, found):
            help = _why_null(expression, case) if found is None else ""
            yield _differs(f"`{text}` is not as expected", value, found, help, place=(text,))


def _why_null(expression: Expression, case: _Case) -> str:
    """Explain why an expression is null: a step removed the value, or its path finds nothing."""
    if expression.evaluate(case.given) is not None:
        return _removed_by(lambda value: expression.evaluate(value) is not None, case)
    with suppress(PathError, Unreducible):
        return explain(expression.text, case.result).message
    return ""


def _preserves(types: tuple[str, ...], case: _Case) -> Iterator[Failure]:
    rule = case.outcome.rule
    if rule is None:
        return
    scan = rule.vocabulary.scanner(rule.vocabulary.expand(types))
    text, left, given = all_text(case.result), entities(case.result, scan), entities(case.given, scan)
    lost = [entity for key, entity in given.items() if key not in left and not contains(text, entity.value)]
    if lost:
        first, kept = lost[0].value, len(given) - len(lost)
        yield Failure(
            f"{len(lost):,} of {len(given):,} entities are lost",
            expected=f"all {len(given):,} of {', '.join(types)}",
            seen=f"{kept:,} of {len(given):,}; lost: {listed(f'{one.value} ({one.type})' for one in lost)}",
            help=_removed_by(partial(_has, part=first), case, first),
        )


def _snapshot(name: str, case: _Case) -> Iterator[Failure]:
    rule, update = case.outcome.rule, case.update
    if rule is None:
        return
    file = file_of(rule, name)
    real, is_json = Path(realpath(file)), file.suffix == ".json"
    result = case.result if is_json else case.outcome.content
    if not is_json and (type(result) is not str or _SURROGATE.search(result)):
        help = "name a file that ends in .json"
        yield Failure("the result is not a text that a file can contain", "a text", excerpt(result), help)
    elif not real.is_relative_to(realpath(file_of(rule, "."))):
        yield Failure(f"{file} is a link to another folder", "a file beside the rule file", str(real))
    elif update is not None and update.get(real, b"") is None:
        yield Failure(f"{file} is the sample of a test", "a separate file", str(file))
    else:
        written = f"{json.dumps(result, ensure_ascii=False, indent=2)}\n" if is_json else result
        text = written.encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape
        help, failure = "`--update` writes the current result: look at it before you keep it", None
        try:
            if dump(known := read_sample(file)) != dump(result):
                failure = _differs(f"the result differs from {file}", known, result, help)
        except SampleError as error:
            failure = Failure(str(error), f"a snapshot in {file}", excerpt(case.outcome.content), help)
        if update is not None and (failure or real in update):
            other = Failure(f"another test has a different result for {file}", "a separate file", str(file))
            failure = other if update.setdefault(real, text) != text else None
        if failure is not None:
            yield failure


def _has(value: Any, part: str) -> bool:
    """Return whether a text in a value, or the JSON text of the value, contains a part."""
    return any(part in text for text in texts(value)) or part in dump(value)


def _removed_by(is_there: Callable[[Any], bool], case: _Case, what: str = "it") -> str:
    """Name the step that removed something, or state that the given content does not contain it."""
    if not is_there(case.given):
        return f"{what} is not in the given content either"
    for run in case.outcome.steps:
        if not is_there(opened(case.outcome.left_after(run.number, seen=False))):
            if run.step is None:
                return f"`max_chars` removed {what}"
            return f"step {run.number}, `{run.step.name}`, removed {what} (line {run.step.location.line})"
    return ""


_CHECKS: dict[str, Callable[[Any, _Case], Iterator[Failure]]] = {
    "unchanged": _unchanged,
    "equals": _equals,
    "contains": _contains,
    "not_contains": _not_contains,
    "max_chars": _max_chars,
    "min_reduction": _min_reduction,
    "values": _values,
    "preserves": _preserves,
    "snapshot": _snapshot,
}
"""Maps each expectation to the function that checks it."""
