"""What an inline test expects of a result: where that is not met, what was expected and what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from reducer.analysis.query import explain
from reducer.analysis.steps import characters
from reducer.analysis.texts import all_text, contains, entities, excerpt, listed, opened, texts
from reducer.engine import Outcome
from reducer.paths import PathError, compile_expression
from reducer.paths.written import path_text
from reducer.rules import Expect
from reducer.values import Unreducible, dump

_AROUND = 40

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an inline test fails: the `place` from the root of the rule file, what was expected and what was seen.

    `what` is the expectation, such as `max_chars`, or `law 5`, or `given` for a test that cannot be run.
    """

    place: Place
    message: str
    expected: str = ""
    seen: str = ""
    help: str = ""
    what: str = ""


class _Case(NamedTuple):
    """What a test is checked on; `given` and `result` are the decoded contents."""

    content: Any
    outcome: Outcome
    given: Any
    result: Any


def unmet(expect: Expect, content: Any, outcome: Outcome) -> Iterator[Failure]:
    """Yield what is not met, in the order of the fields of `Expect`, at places below `expect`; without `snapshot`."""
    case = _Case(content, outcome, opened(content), opened(outcome.content))
    for name, check in _CHECKS.items():
        wanted = getattr(expect, name)
        if name in expect.model_fields_set and (wanted is not None or name == "equals"):
            yield from check(wanted, case)


def difference(expected: Any, seen: Any, path: Place = ()) -> tuple[Place, Any, Any] | None:
    """Return the first place at which two JSON values differ, with the value of each there; None if they are equal.

    `1` is `1.0` but not `true`; the order of keys does not count.
    """
    if type(expected) is dict and type(seen) is dict and expected.keys() == seen.keys():
        pairs: Any = ((key, value, seen[key]) for key, value in expected.items())
    elif type(expected) is list and type(seen) is list and len(expected) == len(seen):
        pairs = ((index, *pair) for index, pair in enumerate(zip(expected, seen, strict=True)))
    else:
        is_same = expected == seen and (type(expected) is bool) == (type(seen) is bool)
        return None if is_same else (path, expected, seen)
    return next(filter(None, (difference(one, other, (*path, key)) for key, one, other in pairs)), None)


def differs(place: Place, message: str, expected: Any, seen: Any, help: str = "") -> Failure:
    """Return the failure of an expectation that names a value, with the first difference."""
    path, one, other = difference(expected, seen) or ((), expected, seen)
    at = f"at `{path_text(path)}` " if path else ""
    return Failure(place, message, at + excerpt(dump(one)), at + excerpt(dump(other)), help=help)


def _unchanged(wanted: bool, case: _Case) -> Iterator[Failure]:
    if (case.outcome.content is case.content) == wanted:
        return
    if wanted:
        yield differs(("unchanged",), "something changed", case.given, case.result)
    else:
        yield Failure(("unchanged",), "nothing changed", "some change", "the given content")


def _equals(wanted: Any, case: _Case) -> Iterator[Failure]:
    if difference(wanted, case.result):
        yield differs(("equals",), "the result differs", wanted, case.result)


def _contains(wanted: tuple[str, ...], case: _Case) -> Iterator[Failure]:
    for number, part in enumerate(wanted):
        if not _has(case.result, part):
            help = _removed_by(lambda value, part=part: _has(value, part), case)  # type: ignore[misc]
            quoted, seen = _quoted(part), excerpt(case.outcome.content)
            yield Failure(("contains", number), f"{quoted} is not in the result", quoted, seen, help=help)


def _not_contains(unwanted: tuple[str, ...], case: _Case) -> Iterator[Failure]:
    for number, part in enumerate(unwanted):
        if _has(case.result, part):
            text = next((text for text in texts(case.result) if part in text), None) or dump(case.result)
            start, quoted = max(0, text.index(part) - _AROUND), _quoted(part)
            seen = excerpt(text[start:], 2 * _AROUND + len(part))
            yield Failure(("not_contains", number), f"{quoted} is in the result", f"no {quoted}", seen)


def _max_chars(limit: int, case: _Case) -> Iterator[Failure]:
    seen = characters(case.outcome.content)
    if seen > limit:
        message, expected = f"{seen - limit:,} characters too many", f"at most {limit:,} characters"
        yield Failure(("max_chars",), message, expected, f"{seen:,} characters")


def _min_reduction(least: float, case: _Case) -> Iterator[Failure]:
    before, after = characters(case.content), characters(case.outcome.content)
    share = 1 - after / before if before else 0.0
    if share < least:
        expected = f"at least {least * 100:.6g}% less"
        seen = f"{share:.1%} less: {before:,} -> {after:,} characters"
        yield Failure(("min_reduction",), "too little is saved", expected, seen)


def _values(wanted: dict[str, Any], case: _Case) -> Iterator[Failure]:
    for text, value in wanted.items():
        place = ("values", text)
        try:
            found = compile_expression(text).evaluate(case.result)
        except PathError as error:
            message = f"`{text}`, column {error.column}: {error.message}"
            yield Failure(place, message, f"a JMESPath expression for {excerpt(value)}", help=error.help)
            continue
        if difference(value, found):
            help = _why_null(text, case) if found is None else ""
            yield differs(place, f"`{text}` is not as expected", value, found, help=help)


def _why_null(text: str, case: _Case) -> str:
    """Return why an expression is null: the step that removed the value, or what its path lacks."""
    expression = compile_expression(text)
    if expression.evaluate(case.given) is not None:
        return _removed_by(lambda value: expression.evaluate(value) is not None, case)
    try:
        return explain(text, case.result).message
    except PathError:
        return ""


def _preserves(types: tuple[str, ...], case: _Case) -> Iterator[Failure]:
    rule = case.outcome.rule
    if rule is None:
        return
    scan = rule.vocabulary.scanner(rule.vocabulary.expand(types))
    text, left, given = all_text(case.result), entities(case.result, scan), entities(case.given, scan)
    lost = [entity for key, entity in given.items() if key not in left and not contains(text, entity.value)]
    if lost:
        first, all, kept = lost[0].value, f"{len(given):,}", f"{len(given) - len(lost):,}"
        named = listed(f"{entity.value} ({entity.type})" for entity in lost)
        yield Failure(
            ("preserves",),
            f"{len(lost):,} of {all} entities are lost",
            f"all {all} of {', '.join(types)}",
            f"{kept} of {all}; lost: {named}",
            help=_removed_by(lambda value: _has(value, first), case, first),
        )


def _has(value: Any, part: str) -> bool:
    """Return whether a text of a value, or the value as it is written, contains a part."""
    return any(part in text for text in texts(value)) or part in dump(value)


def _removed_by(is_there: Callable[[Any], bool], case: _Case, what: str = "it") -> str:
    """Return which step removed something, or that it was never there."""
    if not is_there(case.given):
        return f"{what} is not in the given content either"
    for run in case.outcome.steps:
        try:
            if is_there(opened(case.outcome.left_after(run.number, seen=False))):
                continue
        except Unreducible:
            pass
        if run.step is None:
            return f"`max_chars` removed {what}"
        return f"step {run.number}, `{run.step.name}`, removed {what} (line {run.step.location.line})"
    return ""


def _quoted(part: str) -> str:
    return dump(excerpt(part, 80))


_CHECKS: dict[str, Callable[[Any, _Case], Iterator[Failure]]] = {
    "unchanged": _unchanged,
    "equals": _equals,
    "contains": _contains,
    "not_contains": _not_contains,
    "max_chars": _max_chars,
    "min_reduction": _min_reduction,
    "values": _values,
    "preserves": _preserves,
}
"""The function that checks each expectation."""
