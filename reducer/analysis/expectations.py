"""What an inline test expects of a result: where that is not met, what was expected and what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from reducer.analysis.missing import near
from reducer.analysis.steps import characters
from reducer.analysis.texts import all_text, contains, entities, excerpt, opened, texts
from reducer.engine import Outcome
from reducer.paths import PathError, compile_expression
from reducer.paths.written import path_text
from reducer.rules import Expect
from reducer.values import Unreducible, dump

_AROUND = 40
_MAX_NAMED = 6

Place = tuple[str | int, ...]


class Unmet(NamedTuple):
    """An expectation that is not met: its `place` below `expect`, what was expected and what was seen.

    `at_key`: it is about the last key of the place. `column` counts from 0 in that key.
    """

    place: Place
    message: str
    expected: str
    seen: str
    help: str = ""
    at_key: bool = False
    column: int | None = None


def unmet(expect: Expect, content: Any, outcome: Outcome) -> Iterator[Unmet]:
    """Yield what is not met, in the order of the fields of `Expect`; without `snapshot`."""
    for name, check in _CHECKS.items():
        wanted = getattr(expect, name)
        if name in expect.model_fields_set and (wanted is not None or name == "equals"):
            yield from check(wanted, content, outcome)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal as JSON: `1` is `1.0` but not `true`; the order of keys does not count."""
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) and (type(one) is bool) == (type(other) is bool)


def difference(expected: Any, seen: Any, path: Place = ()) -> tuple[Place, Any, Any]:
    """Return the first place at which two values differ, with the value of each there."""
    pairs: Any = ()
    if type(expected) is dict and type(seen) is dict and expected.keys() == seen.keys():
        pairs = ((key, value, seen[key]) for key, value in expected.items())
    elif type(expected) is list and type(seen) is list:
        pairs = ((index, *pair) for index, pair in enumerate(zip(expected, seen, strict=False)))
    for key, one, other in pairs:
        if not same(one, other):
            return difference(one, other, (*path, key))
    return path, expected, seen


def unequal(place: Place, wanted: Any, seen: Any) -> Unmet:
    """Return where a result differs from the expected one."""
    path, one, other = difference(wanted, seen)
    expected, found = (_at(path, value) if path else excerpt(value) for value in (one, other))
    return Unmet(place, "the result differs", expected, found)


def _at(path: Place, value: Any) -> str:
    return f"at `{path_text(path)}` {_shape(value)}"


def _shape(value: Any) -> str:
    if type(value) not in (list, dict):
        return excerpt(dump(value))
    noun = "item" if type(value) is list else "key"
    return f"{len(value):,} {noun if len(value) == 1 else f'{noun}s'}: {excerpt(value)}"


def _unchanged(wanted: bool, content: Any, outcome: Outcome) -> Iterator[Unmet]:
    if (outcome.content is content) == wanted:
        return
    before, after = characters(content), characters(outcome.content)
    if wanted:
        path, old, new = difference(opened(content), opened(outcome.content))
        change = f"{_at(path, old)} became {_shape(new)}" if path else excerpt(new)
        expected, seen = f"{before:,} characters as they were given", f"{after:,} characters; {change}"
        yield Unmet(("unchanged",), "something changed", expected, seen)
    else:
        yield Unmet(("unchanged",), "nothing changed", "some change", f"the {before:,} characters that were given")


def _equals(wanted: Any, content: Any, outcome: Outcome) -> Iterator[Unmet]:
    seen = opened(outcome.content)
    if not same(wanted, seen):
        yield unequal(("equals",), wanted, seen)


def _has(value: Any, part: str) -> bool:
    """Return whether a text of a value, or the value as it is written, contains a part."""
    return any(part in text for text in texts(value)) or part in dump(value)


def _contains(wanted: tuple[str, ...], content: Any, outcome: Outcome) -> Iterator[Unmet]:
    result = opened(outcome.content)
    for number, part in enumerate(wanted):
        if not _has(result, part):
            why = _removed_by(partial(_has, part=part), content, outcome)
            message = f"{_quoted(part)} is not in the result"
            yield Unmet(("contains", number), message, _quoted(part), excerpt(outcome.content), why)


def _not_contains(unwanted: tuple[str, ...], content: Any, outcome: Outcome) -> Iterator[Unmet]:
    result = opened(outcome.content)
    for number, part in enumerate(unwanted):
        if _has(result, part):
            text = next((text for text in texts(result) if part in text), None) or dump(result)
            at = text.index(part)
            start, end = max(0, at - _AROUND), at + len(part) + _AROUND
            seen = f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
            yield Unmet(("not_contains", number), f"{_quoted(part)} is in the result", f"no {_quoted(part)}", seen)


def _max_chars(limit: int, content: Any, outcome: Outcome) -> Iterator[Unmet]:
    seen = characters(outcome.content)
    if seen > limit:
        message = f"{seen - limit:,} characters too many"
        yield Unmet(("max_chars",), message, f"at most {limit:,} characters", f"{seen:,} characters")


def _min_reduction(least: float, content: Any, outcome: Outcome) -> Iterator[Unmet]:
    before, after = characters(content), characters(outcome.content)
    share = 1 - after / before if before else 0.0
    if share < least:
        expected = f"at least {least:.4%} less".replace(".0000%", "%")
        seen = f"{share:.1%} less: {before:,} -> {after:,} characters"
        yield Unmet(("min_reduction",), "too little is saved", expected, seen)


def _values(wanted: dict[str, Any], content: Any, outcome: Outcome) -> Iterator[Unmet]:
    result = opened(outcome.content)
    for text, value in wanted.items():
        place = ("values", text)
        try:
            found = compile_expression(text).evaluate(result)
        except PathError as error:
            expected = f"a JMESPath expression for {excerpt(value)}"
            yield Unmet(place, error.message, expected, "", error.help, at_key=True, column=error.column - 1)
            continue
        if not same(found, value):
            path, one, other = difference(value, found)
            where = f" at `{path_text(path)}`" if path else ""
            help = _why_null(text, content, outcome) if found is None else ""
            expected, seen = (f"{excerpt(dump(each))}{where}" for each in (one, other))
            yield Unmet(place, f"`{text}` is not as expected", expected, seen, help)


def _why_null(text: str, content: Any, outcome: Outcome) -> str:
    """Return why an expression is null: the step that removed the value, or the nearest key."""
    expression = compile_expression(text)
    if expression.evaluate(opened(content)) is not None:
        return _removed_by(lambda value: expression.evaluate(value) is not None, content, outcome)
    value = opened(outcome.content)
    chain = next(iter(expression.reads), ()) if len(expression.reads) == 1 else ()
    for depth, name in enumerate(chain):
        objects = [item for item in (value if type(value) is list else [value]) if type(item) is dict]
        below = [item[name] for item in objects if name in item]
        if not below:
            keys = list(dict.fromkeys(key for item in objects for key in item))
            if nearest := near(name, keys):
                return f"did you mean `{nearest}`?"
            at = f"`{'.'.join(chain[:depth])}`" if depth else "the result"
            known = ", ".join(f"`{key}`" for key in keys[:_MAX_NAMED])
            return f"{at} has {f'the keys {known}' if known else 'no keys'}"
        value = below[0]
    return ""


def _preserves(types: tuple[str, ...], content: Any, outcome: Outcome) -> Iterator[Unmet]:
    rule = outcome.rule
    if rule is None:
        return
    scan = rule.vocabulary.scanner(rule.vocabulary.expand(types))
    result = opened(outcome.content)
    text, left, given = all_text(result), entities(result, scan), entities(opened(content), scan)
    lost = [entity for key, entity in given.items() if key not in left and not contains(text, entity.value)]
    if lost:
        first = lost[0].value
        named = ", ".join(f"{entity.value} ({entity.type})" for entity in lost[:_MAX_NAMED])
        more = f" and {len(lost) - _MAX_NAMED:,} more" if len(lost) > _MAX_NAMED else ""
        yield Unmet(
            ("preserves",),
            f"{len(lost):,} of {len(given):,} entities are lost",
            f"all {len(given):,} of {', '.join(types)}",
            f"{len(given) - len(lost):,} of {len(given):,}; lost: {named}{more}",
            _removed_by(partial(_has, part=first), content, outcome, first),
        )


def _removed_by(is_there: Callable[[Any], bool], content: Any, outcome: Outcome, what: str = "it") -> str:
    """Return which step removed something, or that it was never there."""
    if not is_there(opened(content)):
        return f"{what} is not in the given content either"
    was_there = True
    for run in outcome.steps:
        try:
            left = is_there(opened(outcome.left_after(run.number, seen=False)))
        except Unreducible:
            left = False
        if was_there and not left:
            if run.step is None:
                return f"`max_chars` removed {what}"
            return f"step {run.step.number}, `{run.step.name}`, removed {what} (line {run.step.location.line})"
        was_there = left
    return ""


def _quoted(part: str) -> str:
    return dump(part if len(part) <= 80 else f"{part[:79]}…")


_CHECKS: dict[str, Callable[[Any, Any, Outcome], Iterator[Unmet]]] = {
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
