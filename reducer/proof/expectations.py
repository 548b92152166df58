"""What an inline test expects of a result, judged: where it does not hold, what was expected and what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from reducer.engine import Outcome
from reducer.path import PathError, compile_expression
from reducer.proof.texts import all_text, entities, excerpt, holds, opened, stands, texts
from reducer.report.changes import characters
from reducer.report.missing import near
from reducer.rule import Expect
from reducer.validate.finding import written
from reducer.values import Unreducible, dump

_AROUND = 40
_MOST = 6

Place = tuple[str | int, ...]


class Unmet(NamedTuple):
    """An expectation that does not hold: its `place` below `expect`, what was expected and what was seen, each on one line.

    `at_key`: it is about the last key of the place. `column` counts from 0 in that key; `step` is the number of the step that took what is missed.
    """

    place: Place
    message: str
    expected: str
    seen: str
    help: str = ""
    at_key: bool = False
    column: int | None = None
    step: int = 0


def unmet(expect: Expect, content: Any, outcome: Outcome) -> Iterator[Unmet]:
    """Judge every expectation but `snapshot`, in the order in which a rule file's reader has them."""
    for name, judge in _JUDGES.items():
        wanted = getattr(expect, name)
        if name in expect.model_fields_set and (wanted is not None or name == "equals"):
            yield from judge(wanted, content, outcome)


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal as JSON: `1` is `1.0`, but neither is `true`; the order of keys tells nothing."""
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) and (type(one) is bool) == (type(other) is bool)


def difference(expected: Any, seen: Any, path: Place = ()) -> tuple[Place, Any, Any]:
    """Find the first place at which two values that are not the same differ: it, and what stands there in each."""
    if type(expected) is dict and type(seen) is dict and expected.keys() == seen.keys():
        for key, value in expected.items():
            if not same(value, seen[key]):
                return difference(value, seen[key], (*path, key))
    if type(expected) is list and type(seen) is list:
        for index, (one, other) in enumerate(zip(expected, seen, strict=False)):
            if not same(one, other):
                return difference(one, other, (*path, index))
    return path, expected, seen


def _unchanged(wanted: bool, content: Any, outcome: Outcome) -> Iterator[Unmet]:
    if (outcome.content is content) == wanted:
        return
    before, after = characters(content), characters(outcome.content)
    if wanted:
        path, old, new = difference(opened(content), opened(outcome.content))
        yield Unmet(("unchanged",), "something changed", f"{before:,} characters as they were given", f"{after:,} characters; {_differs(path, old, new)}")
    else:
        yield Unmet(("unchanged",), "nothing changed", "some change", f"the {before:,} characters that were given")


def _equals(wanted: Any, content: Any, outcome: Outcome) -> Iterator[Unmet]:
    seen = opened(outcome.content)
    if not same(wanted, seen):
        yield not_the_same(("equals",), wanted, seen)


def not_the_same(place: Place, wanted: Any, seen: Any) -> Unmet:
    """Say where a result differs from the one that was expected."""
    path, one, other = difference(wanted, seen)
    return Unmet(place, "the result is another one", _at(path, one, wanted), _at(path, other, seen))


def _at(path: Place, value: Any, whole: Any) -> str:
    return f"at `{written(path)}` {_shape(value)}" if path else excerpt(whole)


def _differs(path: Place, old: Any, new: Any) -> str:
    return f"at `{written(path)}` {_shape(old)} became {_shape(new)}" if path else excerpt(new)


def _shape(value: Any) -> str:
    return f"{len(value):,} {_things(value)}: {excerpt(value)}" if type(value) in (list, dict) else excerpt(dump(value))


def _things(value: list[Any] | dict[str, Any]) -> str:
    noun = "item" if type(value) is list else "key"
    return noun if len(value) == 1 else f"{noun}s"


def _contains(wanted: tuple[str, ...], content: Any, outcome: Outcome) -> Iterator[Unmet]:
    result = opened(outcome.content)
    for number, part in enumerate(wanted):
        if not holds(part, result):
            step, why = _who_took(partial(holds, part), content, outcome)
            yield Unmet(("contains", number), f"{_quoted(part)} is not in the result", _quoted(part), excerpt(outcome.content), why, step=step)


def _not_contains(unwanted: tuple[str, ...], content: Any, outcome: Outcome) -> Iterator[Unmet]:
    result = opened(outcome.content)
    for number, part in enumerate(unwanted):
        if holds(part, result):
            text = next((text for text in texts(result) if part in text), None) or dump(result)
            at = text.index(part)
            start, end = max(0, at - _AROUND), at + len(part) + _AROUND
            seen = f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
            yield Unmet(("not_contains", number), f"{_quoted(part)} is in the result", f"no {_quoted(part)}", seen)


def _max_chars(most: int, content: Any, outcome: Outcome) -> Iterator[Unmet]:
    seen = characters(outcome.content)
    if seen > most:
        yield Unmet(("max_chars",), f"{seen - most:,} characters too many", f"at most {most:,} characters", f"{seen:,} characters")


def _min_reduction(least: float, content: Any, outcome: Outcome) -> Iterator[Unmet]:
    before, after = characters(content), characters(outcome.content)
    share = 1 - after / before if before else 0.0
    if share < least:
        seen = f"{share:.1%} less: {before:,} -> {after:,} characters"
        yield Unmet(("min_reduction",), "too little is saved", f"at least {least:.4%} less".replace(".0000%", "%"), seen)


def _values(wanted: dict[str, Any], content: Any, outcome: Outcome) -> Iterator[Unmet]:
    result = opened(outcome.content)
    for text, value in wanted.items():
        place = ("values", text)
        try:
            found = compile_expression(text).evaluate(result)
        except PathError as error:
            yield Unmet(place, error.message, f"a JMESPath expression for {excerpt(value)}", "", error.help, at_key=True, column=error.column - 1)
            continue
        if not same(found, value):
            path, one, other = difference(value, found)
            where = f" at `{written(path)}`" if path else ""
            help = _why_nothing(text, content, outcome) if found is None else ""
            yield Unmet(place, f"`{text}` is not as expected", f"{excerpt(dump(one))}{where}", f"{excerpt(dump(other))}{where}", help)


def _why_nothing(text: str, content: Any, outcome: Outcome) -> str:
    """Say why an expression gives null: what took the value, or the nearest key that is there."""
    expression = compile_expression(text)
    if expression.evaluate(opened(content)) is not None:
        return _who_took(lambda value: expression.evaluate(value) is not None, content, outcome)[1]
    value = opened(outcome.content)
    chain = next(iter(expression.reads), ()) if len(expression.reads) == 1 else ()
    for depth, name in enumerate(chain):
        items = value if type(value) is list else [value]
        below = [item[name] for item in items if type(item) is dict and name in item]
        if not below:
            keys = list(dict.fromkeys(key for item in items if type(item) is dict for key in item))
            at = f"`{'.'.join(chain[:depth])}`" if depth else "the result"
            nearest = near(name, keys)
            known = ", ".join(f"`{key}`" for key in keys[:_MOST])
            return f"did you mean `{nearest}`?" if nearest else f"{at} has {f'the keys {known}' if known else 'no keys'}"
        value = below[0]
    return ""


def _preserves(types: tuple[str, ...], content: Any, outcome: Outcome) -> Iterator[Unmet]:
    rule = outcome.rule
    if rule is None:
        return
    kinds = rule.vocabulary.expand(types)
    scan = rule.vocabulary.scanner(kinds)
    result = opened(outcome.content)
    shown, read = all_text(result), entities(result, scan)
    given = entities(opened(content), scan)
    gone = [entity for key, entity in given.items() if key not in read and not stands(entity.value, shown)]
    if not gone:
        return
    first = gone[0]
    step, why = _who_took(partial(holds, first.value), content, outcome, first.value)
    named = ", ".join(f"{entity.value} ({entity.type})" for entity in gone[:_MOST])
    more = f" and {len(gone) - _MOST:,} more" if len(gone) > _MOST else ""
    seen = f"{len(given) - len(gone):,} of {len(given):,}; gone: {named}{more}"
    yield Unmet(("preserves",), f"{len(gone):,} of {len(given):,} entities are gone", f"all {len(given):,} of {', '.join(types)}", seen, why, step=step)


def _who_took(is_there: Callable[[Any], bool], content: Any, outcome: Outcome, what: str = "it") -> tuple[int, str]:
    """Say which step took something from the result, or that it was never there; and give the number of that step, 0 for none."""
    if not is_there(opened(content)):
        return 0, f"{what} is not in what is given either"
    there = True
    for trace in outcome.steps:
        was, there = there, _is_left(is_there, trace.after, outcome)
        if was and not there:
            if trace.step is None:
                return 0, f"`max_chars` took {what}"
            return trace.step.number, f"step {trace.step.number}, `{trace.step.name}`, took {what} (line {trace.step.location.line})"
    return 0, ""


def _is_left(is_there: Callable[[Any], bool], value: Any, outcome: Outcome) -> bool:
    try:
        return is_there(opened(outcome.written(value)))
    except Unreducible:
        return False


def _quoted(part: str) -> str:
    return dump(part if len(part) <= 80 else f"{part[:79]}…")


_JUDGES: dict[str, Callable[[Any, Any, Outcome], Iterator[Unmet]]] = {
    "unchanged": _unchanged,
    "equals": _equals,
    "contains": _contains,
    "not_contains": _not_contains,
    "max_chars": _max_chars,
    "min_reduction": _min_reduction,
    "values": _values,
    "preserves": _preserves,
}
"""For each expectation what yields where it does not hold."""
