"""Markers of lists: they count removed items and, in a list of texts, mention the needed entities of removed texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from reducer import markers
from reducer.engine.gather import ShortenedList
from reducer.operations.fields import Mark
from reducer.paths import Expression
from reducer.plan.nodes import build, left_of
from reducer.values import Unreducible, chars

_SHARE = 4
"""A marker that no author asked for has at most one of so many removed characters."""
_MARKER = chars([markers.written(1, "items")])
"""Characters of a list with only a marker. Its count is fixed, so that a second pass makes the same choice."""


def write_marker(items: ShortenedList, marks: Sequence[Mark], is_root: bool) -> None:
    """Append a marker that counts the removed items of a list and, for texts, mentions their needed entities.

    If the marker is too long, or no step may write one, entities are restored. The marker of a root list without items
    only counts then.
    """
    value, node, before = items.value, items.node, items.before
    restored = set(node.restored or ())
    restored.update(index for index, needed in items.found.items() if needed.referenced)
    kept = restored.union(node.kept() or (), node.repeats)
    if before:
        kept.add(len(value) - 1)
    removed = len(value) - len(kept)
    is_empty = is_root and removed == len(value)
    if is_empty and not items.found and _keeps_one(items):
        return
    counted = _marks(items, marks)
    may_mark = is_empty or before != "" or None in counted or any(counted)
    marker = _marker(items, removed, kept, counted) if may_mark else ""
    least, as_found = _least(marker, items, removed, counted, is_empty)
    if not may_mark or (marker != before and not _lost(items, kept, least, as_found)):
        restored.update(index for index, needed in items.found.items() if needed.entities)
        marker = markers.written(removed, "items") if is_empty and not restored else before
    # An unchanged list stays the same object.
    node.marker = before if marker == before else marker
    if items.are_texts:
        node.restored = dict.fromkeys(restored)


def _keeps_one(items: ShortenedList) -> bool:
    """Restore the first item that the last step removed from a root list without items, unless a marker is shorter."""
    value, node = items.value, items.node
    last = node.versions[-1].step
    first = next(index for index, step in node.removed(value).items() if step == last)
    plan = node.separate(value).get(first)
    is_short = chars([build(value[first], plan, seen=True)]) <= _MARKER
    if is_short:
        node.restored = {first: plan}
    return is_short


def _marks(items: ShortenedList, marks: Sequence[Mark]) -> list[Mark]:
    """Return the marks of the steps that removed items of a list, now and in an earlier pass."""
    labels = {label for (label, _), _ in items.earlier.tallies}
    steps = {version.step for version in items.node.versions if version.step}
    counted: list[Mark] = []
    for number, mark in enumerate(marks):
        was_counted = isinstance(mark, Expression) and mark.text in labels
        if number in steps or was_counted:
            counted.append(mark)
    return counted


def _marker(items: ShortenedList, removed: int, kept: Collection[int], marks: Sequence[Mark]) -> str:
    """Write the marker of a list for the items that it lost, or return an empty text if it lost none."""
    mentions = dict.fromkeys(items.earlier.mentions)
    for needed in items.found.values():
        mentions.update(dict.fromkeys(() if needed.referenced else needed.entities))
    count = removed + items.earlier.count
    if not (count or mentions):
        return ""
    return markers.written(count, "items", tuple(mentions), _tallies(items, kept, marks))


def _least(marker: str, items: ShortenedList, removed: int, marks: Sequence[Mark], is_empty: bool) -> tuple[int, bool]:
    """Return how many characters a list must have lost to get its marker, and whether they are counted as found.

    The marker has at most a quarter of the characters as the steps found them, so that an item that an earlier step
    emptied is short. If no items are left, the list had a marker, an author asked for one, or it mentions something,
    it has at most as many characters as the items had in the return.
    """
    earlier = items.node.earlier
    mentions = any(needed.entities for needed in items.found.values())
    if not (is_empty or earlier or any(marks) or mentions):
        return _SHARE * (len(marker) + len('"",')), True
    if items.are_texts and earlier:
        return 0, False
    more = chars([marker]) - (chars([items.before]) if earlier else 1)  # a marker also has quotes and a comma
    return more + removed, False  # the commas of the removed items do not count


def _lost(items: ShortenedList, kept: Collection[int], least: int, as_found: bool) -> bool:
    """Return whether the removed items have at least so many characters, with a comma each."""
    count = 0
    for index, found in _removed(items, kept):
        if count >= least:
            break
        count += _chars(found if as_found else items.value[index]) + 1
    return count >= least


def _chars(item: Any) -> int:
    """Count the characters of a removed item; one that cannot be read has none."""
    try:
        return chars([item]) - 2
    except Unreducible:
        return 0


def _removed(items: ShortenedList, kept: Collection[int]) -> Iterator[tuple[int, Any]]:
    """Yield the index of each item that is not in `kept`, with the item as the step that removed it found it."""
    # Most lists have lost enough after a few items, so this does not list all of them.
    versions = [(version.step, frozenset(version.kept)) for version in items.node.versions]
    for index in range(len(items.value)):
        if index not in kept:
            step = next(step for step, left in versions if index not in left)
            yield index, left_of(items.value, items.node, index, step - 1)


def _tallies(items: ShortenedList, kept: Collection[int], marks: Iterable[Mark]) -> Counter[markers.Tally]:
    """Count the removed items by the values of expressions, and add the earlier counts."""
    expressions = {mark.text: mark for mark in marks if isinstance(mark, Expression)}
    tallies = Counter(dict(items.earlier.tallies))
    for _, item in _removed(items, kept) if expressions else ():
        for label, expression in expressions.items():
            counted = markers.countable(expression.evaluate(item))
            tallies.update([(label, counted)] if counted else ())
    return tallies
