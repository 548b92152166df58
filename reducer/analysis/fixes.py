"""Corrections of steps and conditions that have no effect on a return. Each is tried before it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from reducer.analysis.comparisons import KEY, Comparison, comparisons, values_text
from reducer.analysis.query import items_of, keys_of, values_of
from reducer.analysis.texts import listed
from reducer.formats import NOTATIONS, read_as
from reducer.operations.op import named
from reducer.paths import Expression, PathError, compile_expression
from reducer.paths.written import path_text
from reducer.rules import Step
from reducer.values import dump

_MATCHES = re.compile(rf"matches\(\s*(?P<key>{KEY})\s*,\s*'(?P<pattern>(?:[^'\\]|\\.)*)'\s*\)")
_START = re.compile(r"\A(\(\?\w+\))?\^")
_END = re.compile(r"(?<!\\)\$\Z")


class Fix(NamedTuple):
    """A correction to try. `help` describes it.

    `words` maps parts of the texts of the step to what replaces them, and `added` is a key to add to the step. A safe
    fix can be applied without asking.
    """

    help: str
    words: Mapping[str, str] = {}
    added: str = ""
    is_safe: bool = False


def filters(verb: str, words: Sequence[str], items: Sequence[str]) -> Iterator[Fix]:
    """Yield filters for texts instead of the names of keys."""
    if not words:
        return
    pattern = "[?@ == '{}']" if set(words) & set(items) else "[?contains(@, '{}')]"
    written = {word: pattern.format(word) for word in words}
    text = listed((f'"{one}"' for one in written.values()), len(written))
    text = text if len(written) == 1 else f"[{text}]"
    yield Fix(f"{verb}: {text}", written)


def in_notation(step: Step, text: str) -> Iterator[Fix]:
    """Yield the fixes of a step that works on lists, for a text: the notations that can read it, and its lines last."""
    words = [".".join(chain) for chain in step.op.names()]
    for name in NOTATIONS:
        if name != "lines" and read_as(text, [name]) is not None:
            yield from _with_notation(step, name, f"it reads as {name}:")
    if not words:
        yield from _with_notation(step, "lines", "to select its lines,")
    for fix in filters(step.op.verb(), words, text.splitlines()):
        yield fix._replace(help=f"to select its lines, add `text: lines`, and write {fix.help}", added="text: lines")


def _with_notation(step: Step, name: str, why: str) -> Iterator[Fix]:
    yield Fix(f"{why} write `text: {name}`", dict.fromkeys(step.op.notations, name))
    yield Fix(f"{why} add `text: {name}` to the step", added=f"text: {name}")


def of_lists_below(step: Step, objects: Sequence[Any]) -> tuple[str, list[Fix]]:
    """Return the reason why a step that works on lists does nothing with objects, and the paths to their lists."""
    sizes: dict[str, int] = {}
    for key in keys_of(objects):
        lists = [value for value in values_of(key, objects) if type(value) is list]
        if lists:
            sizes[key] = max(map(len, lists))
    longest = sorted(sizes, key=sizes.__getitem__, reverse=True)
    if not longest:
        return "", []
    is_root = step.path.text == "@"
    where = "the return" if is_root else f"`{step.path.text}`"
    cause = f"{where} is an object with the {'list' if len(sizes) == 1 else 'lists'} {named(longest)}"
    fixes = []
    for key in longest:
        path = path_text([key]) if is_root else f"{step.path.text}.{path_text([key])}"
        words = {} if is_root else {step.path.text: path}
        fixes.append(Fix(f"{cause}: write `path: {path}`", words, f"path: {path}" if is_root else ""))
    return cause, fixes


def of_unequal(by: Expression, items: Sequence[Any]) -> tuple[str, list[Fix]]:
    """Return the reason why no items have an equal value, and the keys by which some do."""
    if len(items) < 2 or _has_repeats(map(by.evaluate, items)):
        return "", []
    keys = []
    for key in keys_of(items):
        if _has_repeats(values_of(key, items)):
            keys.append(path_text([key]))
    cause = f"`{by.text}` differs in all {len(items):,} items"
    verb = "has" if len(keys) == 1 else "have"
    return cause, [Fix(f"{cause}; {named(keys)} {verb} equal values", {by.text: key}) for key in keys]


def _has_repeats(values: Iterable[Any]) -> bool:
    """Return whether some of the texts and numbers among values are equal."""
    written = [dump(value) for value in values if type(value) in (str, int, float)]
    return len(set(written)) < len(written)


def of_condition(condition: Expression, items: Sequence[Any]) -> Iterator[Fix]:
    """Yield what was meant by a condition that decides nothing: another key, or a pattern without its anchors."""
    for match in _MATCHES.finditer(condition.text):
        with suppress(PathError):  # the pattern also matches in a text
            yield from _without_anchors(match, items)
    for comparison in comparisons(condition):
        if comparison.operator == "==" and not comparison.is_bare:
            with suppress(PathError):  # the last dot is inside the name of a key
                yield from _beside(comparison, items)


def _without_anchors(match: re.Match[str], items: Sequence[Any]) -> Iterator[Fix]:
    """Yield the pattern without `^` and `$`, if only these keep it from matching."""
    pattern = _END.sub("", _START.sub(r"\1", match["pattern"]))
    written = match[0].replace(match["pattern"], pattern)
    if pattern == match["pattern"] or any(map(compile_expression(match[0]).holds, items)):
        return
    count = sum(map(compile_expression(written).holds, items))
    if count:
        anchors = [one for one in "^$" if match["pattern"].count(one) > pattern.count(one)]
        cause = f"`{match['pattern']}` matches nothing, and without {named(anchors)} {count:,} of {len(items):,}"
        yield Fix(f"{cause}: write {written}", {match[0]: written})


def _beside(comparison: Comparison, items: Sequence[Any]) -> Iterator[Fix]:
    """Yield the comparison with each key beside its own that has the wanted value in an item."""
    parent, dot, _ = comparison.key.rpartition(".")
    if "(" in parent or (not dot and comparison.key == "@"):
        return
    objects = items_of(map(compile_expression(parent or "@").evaluate, items))
    wanted = comparison.value
    for key in keys_of(objects):
        has_it = type(wanted) in (str, int, float) and wanted in list(filter(_is_scalar, values_of(key, objects)))
        written = comparison._replace(key=f"{parent}{dot}{path_text([key])}").written()
        if has_it and written != comparison.written():
            values, other = values_text(comparison.key, items), path_text([key])
            advice = f"`{other}` has {comparison.word}: write {written}"
            yield Fix(f"{values}; {advice}", {comparison.text: written})


def _is_scalar(value: Any) -> bool:
    return type(value) in (str, int, float)
