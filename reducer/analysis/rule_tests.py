"""Run the inline tests of rules, and check the laws of reducing on their contents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from os.path import realpath
from pathlib import Path
from typing import Any, NamedTuple

from reducer.analysis.explanation import Explanation, explain_outcome
from reducer.analysis.laws import LAWS, Broken, alone, broken_laws
from reducer.analysis.measures import missing, removed_by
from reducer.analysis.query import explain
from reducer.analysis.samples import Sample, Snapshots, file_of, read_sample, samples_of
from reducer.analysis.texts import characters, excerpt, json_text, listed, opened, texts
from reducer.engine import Outcome, attempt
from reducer.errors import FileError, counted
from reducer.formats.parts import is_marker
from reducer.paths import Expression, PathError, compile_expression
from reducer.paths.written import path_text
from reducer.plan.nodes import keys_of
from reducer.rules import Expect, Rule, Ruleset
from reducer.rules.parser import Place
from reducer.values import Unreducible, dump

_LENGTH = re.compile(r"length\((.+)\)")
_AROUND = 40
_QUOTED = 80


@dataclass(frozen=True, slots=True)
class Failure:
    """A reason why a test fails, at a `place` of the rule file, with what was `expected` and `found` if they differ.

    `what` is the expectation, such as `max_chars`, or `law 5`, or `given` if the test cannot run.
    """

    message: str
    expected: str = ""
    found: str = ""
    help: str = ""
    place: Place = ()
    what: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A sample with its failures and what the rule did to it, or None if it could not run."""

    sample: Sample
    failures: tuple[Failure, ...]
    did: Explanation | None = None


def chosen_samples(ruleset: Ruleset, text: str) -> list[Sample]:
    """Return the samples with a text in their name or in the tools or file of their rule."""
    chosen = []
    for rule in ruleset.rules:
        for sample in samples_of(rule, ruleset):
            names = " ".join((Path(rule.file).name, *rule.tools, sample.name))
            if text.casefold() in names.casefold():
                chosen.append(sample)
    return chosen


def run_sample(ruleset: Ruleset, sample: Sample, update: Snapshots | None = None) -> Case:
    """Apply a rule to a sample, and check the laws and the expectations of its test. Never raises.

    `update` collects snapshots.
    """
    rule, test = sample.rule, sample.test
    only = alone(rule, ruleset)
    try:
        content = sample.read()
    except FileError as error:
        return Case(sample, (Failure(str(error), place=(*sample.place, "given"), what="given"),))
    try:
        outcome = attempt(only, rule.name, content)
        failures = [_of_law(one, sample) for one in broken_laws(only, content, outcome)]
        if test is not None:
            place = (*sample.place, "expect")
            failures += unmet(test.expect, content, outcome, place=place, update=None if failures else update)
        did = explain_outcome(rule.name, content, outcome, detailed=False)
    except Exception as error:  # law 9: rules never raise
        return Case(sample, (_of_law(Broken(9, f"{type(error).__name__}: {error}"), sample),))
    return Case(sample, tuple(failures), did)


def _of_law(broken: Broken, sample: Sample) -> Failure:
    law = f"law {broken.law}"
    place = ("steps", broken.step - 1) if broken.step else (*sample.place, "name")
    return Failure(f"{law}, {LAWS[broken.law]}: {broken.message}", place=place, what=law)


# --- expectations


class _Checked(NamedTuple):
    """The result of a test. `given` and `result` are the decoded contents."""

    rule: Rule
    content: Any
    outcome: Outcome
    given: Any
    result: Any
    update: Snapshots | None


def unmet(
    expect: Expect, content: Any, outcome: Outcome, *, place: Place = (), update: Snapshots | None = None
) -> Iterator[Failure]:
    """Yield the expectations that a result does not meet. `update` collects the snapshots to write."""
    if outcome.rule is None:
        return
    given, result = opened(content), opened(outcome.content)
    checked = _Checked(outcome.rule, content, outcome, given=given, result=result, update=update)
    for name, check in _CHECKS.items():
        wanted = getattr(expect, name)
        if name in expect.model_fields_set and (wanted is not None or name == "equals"):
            for failure in check(wanted, checked):
                yield replace(failure, place=(*place, name, *failure.place), what=name)


def difference(expected: Any, seen: Any, path: Place = ()) -> tuple[Place, Any, Any] | None:
    """Return the first place at which two JSON values differ, with both values there, or None if they are equal.

    `1` equals `1.0` but not `true`. The order of keys does not matter.
    """
    kinds = type(expected), type(seen)
    if kinds == (dict, dict):
        is_same = expected.keys() == seen.keys()
    elif kinds == (list, list):
        is_same = len(expected) == len(seen)
    else:
        is_same = expected == seen and kinds.count(bool) != 1
    if not is_same:
        return path, expected, seen
    for key in keys_of(expected) if kinds[0] in (dict, list) else ():
        found = difference(expected[key], seen[key], (*path, key))
        if found is not None:
            return found
    return None


def _differs(message: str, expected: Any, seen: Any, advice: str = "", place: Place = ()) -> Iterator[Failure]:
    """Yield a failure that shows the first difference between two values, if they differ."""
    found = difference(expected, seen)
    if found is not None:
        path, one, other = found
        at = f"at `{path_text(path)}` " if path else ""
        yield Failure(message, at + excerpt(dump(one)), at + excerpt(dump(other)), help=advice, place=place)


def _unchanged(wanted: bool, checked: _Checked) -> Iterator[Failure]:
    is_unchanged = checked.outcome.content is checked.content
    if wanted and not is_unchanged:
        message = "something changed"
        yield next(_differs(message, checked.given, checked.result), Failure(message))
    elif is_unchanged and not wanted:
        yield Failure("nothing changed")


def _equals(wanted: Any, checked: _Checked) -> Iterator[Failure]:
    return _differs("the result differs", wanted, checked.result)


def _contains(wanted: tuple[str, ...], checked: _Checked) -> Iterator[Failure]:
    for number, part in enumerate(wanted):
        if not _text_with(part, checked.result):
            advice, quoted = _removed_by(partial(_text_with, part), checked), dump(excerpt(part, _QUOTED))
            yield Failure(f"{quoted} is not in the result", help=advice, place=(number,))


def _not_contains(unwanted: tuple[str, ...], checked: _Checked) -> Iterator[Failure]:
    for number, part in enumerate(unwanted):
        if text := _text_with(part, checked.result):
            start, quoted = max(0, text.index(part) - _AROUND), dump(excerpt(part, _QUOTED))
            seen = excerpt(text[start:], 2 * _AROUND + len(part))
            yield Failure(f"{quoted} is in the result: {seen}", place=(number,))


def _text_with(part: str, value: Any) -> str:
    """Return the first text in a value that contains a part, or else the JSON text of the value if it does."""
    return next((text for text in (*texts(value), dump(value)) if part in text), "")


def _max_chars(limit: int, checked: _Checked) -> Iterator[Failure]:
    seen = characters(checked.outcome.content)
    if seen > limit:
        yield Failure(f"{counted(seen, 'character')}, expected at most {limit:,}")


def _min_reduction(least: float, checked: _Checked) -> Iterator[Failure]:
    before, after = characters(checked.content), characters(checked.outcome.content)
    share = 1 - after / before if before else 0.0
    if share < least:
        seen = f"{share:.1%} less: {before:,} -> {after:,} characters"
        yield Failure(f"{seen}, expected at least {least * 100:.6g}% less")


def _values(wanted: dict[str, Any], checked: _Checked) -> Iterator[Failure]:
    for text, value in wanted.items():
        try:
            expression = compile_expression(text)
        except PathError as error:
            message = f"`{text}`, column {error.column}: {error.message}"
            yield Failure(message, help=error.help, place=(text,))
            continue
        found = expression.evaluate(checked.result)
        advice = _why_null(expression, checked) if found is None else _counts_marker(text, value, found, checked)
        yield from _differs(f"`{text}` is not as expected", value, found, advice, place=(text,))


def _counts_marker(text: str, wanted: Any, found: Any, checked: _Checked) -> str:
    """State that the last item of a list is a marker, if its length is therefore higher by one than expected."""
    match = _LENGTH.fullmatch(text)
    if match is None or type(wanted) is not int or found != wanted + 1:
        return ""
    with suppress(PathError):
        items = compile_expression(match[1]).evaluate(checked.result)
        if type(items) is list and items and is_marker(items[-1]):
            return f"the last item is the marker, which counts: write {found}, or add `mark: false` to the step"
    return ""


def _why_null(expression: Expression, checked: _Checked) -> str:
    """Explain why an expression is null: a step removed the value, or its path finds nothing."""
    if expression.evaluate(checked.given) is not None:
        return _removed_by(lambda value: expression.evaluate(value) is not None, checked)
    with suppress(PathError, Unreducible):
        return explain(expression.text, checked.result).message
    return ""


def _preserves(types: tuple[str, ...], checked: _Checked) -> Iterator[Failure]:
    lost = missing(checked.content, checked.outcome.content, checked.rule.vocabulary.scanner(types))
    if lost:
        names = listed(f"{entity.value} ({entity.type})" for entity in lost)
        first = lost[0].value
        advice = _removed_by(partial(_text_with, first), checked, first)
        yield Failure(f"{counted(len(lost), 'entity is', 'entities are')} lost: {names}", help=advice)


def _snapshot(name: str, checked: _Checked) -> Iterator[Failure]:
    file = file_of(checked.rule, name)
    is_json = file.suffix == ".json"
    result = checked.result if is_json else checked.outcome.content
    if not is_json and type(result) is not str:
        result = dump(result)
    failure = next(_differs_from_file(file, result), None)
    if checked.update is not None and (failure or Path(realpath(file)) in checked.update):
        text = f"{json_text(result, indent=2)}\n" if is_json else result
        failure = _updated(file, text, checked.rule, checked.update)
    if failure is not None:
        yield failure


def _differs_from_file(file: Path, result: Any) -> Iterator[Failure]:
    advice = "`--update` writes the current result: look at it before you keep it"
    try:
        known = read_sample(file)
    except FileError as error:
        yield Failure(str(error), help=advice)
    else:
        yield from _differs(f"the result differs from {file}", known, result, advice)


def _updated(file: Path, text: str, rule: Rule, update: Snapshots) -> Failure | None:
    """Add the new text of a snapshot to `update`, or return why it must not be written."""
    real = Path(realpath(file))
    data = text.encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape
    if not real.is_relative_to(realpath(file_of(rule, "."))):
        return Failure(f"{file} is a link to another folder")
    known = update.setdefault(real, data)
    if known is None:
        return Failure(f"{file} is the sample of a test")
    if known != data:
        return Failure(f"another test has a different result for {file}")
    return None


def _removed_by(is_there: Callable[[Any], object], checked: _Checked, what: str = "it") -> str:
    """Name the step that removed something, or state that the given content does not contain it."""
    if not is_there(checked.given):
        return f"{what} is not in the given content either"
    run = removed_by(checked.outcome, [what], lambda left: {what} if is_there(left) else set()).get(what)
    if run is None or run.step is None:
        return f"`{run.name}` removed {what}" if run else ""
    return f"step {run.number}, `{run.name}`, removed {what} (line {run.line})"


_CHECKS: dict[str, Callable[[Any, _Checked], Iterator[Failure]]] = {
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
