"""Markers of lists: they count removed items and, in a list of texts, mention the needed entities of removed texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from reducer import markers
from reducer.engine.gather import ShortenedList
from reducer.operations.fields import Mark
from reducer.paths import Expression
from reducer.plan.nodes import build, text_of
from reducer.values import chars

_LONG = 200
"""If the kept texts of a list are longer on average, a marker counts the removed ones. In characters."""
_MARKER = chars([markers.written(1, "items")])
"""Characters of a list with only a marker. Its count is fixed, so that a second pass makes the same choice."""


def write_marker(items: ShortenedList, marks: Sequence[Mark], is_root: bool) -> None:
    """Append a marker that counts the removed items of a list and, for texts, mentions their needed entities.

    Otherwise only long texts, steps that ask for a marker and a root without items have one. If it is longer than
    the removed items, entities are restored, and the marker of a root only counts.
    """
    value, node = items.value, items.node
    steps = node.removed(value)
    restored = {index for index, needed in items.found.items() if needed.referenced}.union(node.restored or ())
    removed = [index for index, step in steps.items() if step and index not in restored]
    is_empty = is_root and len(removed) == len(value)
    if is_empty and not items.found and _keeps_one(items, steps):
        return
    before = value[-1] if node.earlier else ""
    marker = _marker(items, steps, removed, marks, is_empty)
    if _is_too_long(marker, before, items, removed):
        restored.update(index for index, needed in items.found.items() if needed.entities)
        marker = markers.written(len(removed), "items") if is_empty and not restored else before
    node.marker = before if marker == before else marker  # an unchanged list stays the same object
    if items.are_texts:
        node.restored = dict.fromkeys(restored)


def _keeps_one(items: ShortenedList, steps: dict[int, int]) -> bool:
    """Restore the first item that the last step removed from a root list without items, unless a marker is shorter."""
    value, node = items.value, items.node
    first = next(index for index, step in steps.items() if step == node.versions[-1].step)
    plan = node.inside.get(first)
    is_short = chars([build(value[first], plan, seen=True)]) <= _MARKER
    if is_short:
        node.restored = {first: plan}
    return is_short


def _marker(
    items: ShortenedList, steps: dict[int, int], removed: Sequence[int], marks: Sequence[Mark], is_empty: bool
) -> str:
    """Write the marker of a list for the indices that it lost, or return an empty text if it needs none."""
    earlier = items.node.earlier
    mentions = dict.fromkeys(earlier.mentions if earlier else ())
    for needed in items.found.values():
        mentions.update(dict.fromkeys(() if needed.referenced else needed.entities))
    counted = _marks(items, steps, marks)
    counts_removed = removed and (counted or is_empty or _are_long(items, steps))
    if not (earlier or mentions or counts_removed):
        return ""
    tallies = _tallies(items, [(index, steps[index]) for index in removed], counted)
    count = len(removed) + (earlier.count if earlier else 0)
    return markers.written(count, "items", tuple(mentions), tallies)


def _are_long(items: ShortenedList, steps: dict[int, int]) -> bool:
    """Return whether the kept texts of a list of texts are long on average."""
    lengths = []
    for index, item in enumerate(items.value if items.are_texts else ()):
        if index not in steps:
            lengths.append(len(text_of(build(item, items.node.inside.get(index)))))
    return sum(lengths) > _LONG * len(lengths)


def _is_too_long(marker: str, before: str, items: ShortenedList, removed: Iterable[int]) -> bool:
    """Return whether a marker has more characters than the removed items and the marker of an earlier pass."""
    if not marker or (items.are_texts and items.node.earlier):
        return False
    more = chars([marker]) - (chars([before]) if before else 1)  # a marker also has quotes and a comma
    return more > sum(chars([items.value[index]]) - 2 for index in removed)


def _marks(items: ShortenedList, removed: dict[int, int], marks: Sequence[Mark]) -> list[Mark]:
    """Return what the marker of a list counts: the marks of the steps that removed items, now and earlier."""
    earlier, steps = items.node.earlier, set(removed.values())
    labels = {label for (label, _), _ in earlier.tallies} if earlier else set[str]()
    counted: list[Mark] = []
    for number, mark in enumerate(marks):
        was_counted = isinstance(mark, Expression) and mark.text in labels
        if mark and (number in steps or was_counted):
            counted.append(mark)
    return counted


def _tallies(items: ShortenedList, removed: Iterable[tuple[int, int]], marks: Iterable[Mark]) -> Counter[markers.Tally]:
    """Count the removed items, given with their steps, by the values of expressions, and add the earlier counts."""
    node = items.node
    tallies = Counter(dict(node.earlier.tallies) if node.earlier else {})
    expressions = {mark.text: mark for mark in marks if isinstance(mark, Expression)}
    for index, step in removed if expressions else ():
        item = build(items.value[index], node.inside.get(index), step - 1, seen=True)
        for label, expression in expressions.items():
            counted = markers.countable(expression.evaluate(item))
            tallies.update([(label, counted)] if counted else ())
    return tallies
