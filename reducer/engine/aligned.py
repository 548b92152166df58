"""What arrived beside what is left of it: which step took what, what it owes for that, and what earlier steps had left of it by then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

from reducer.engine.draft import Draft
from reducer.engine.record import NOTHING, Kept
from reducer.engine.thin import GONE


def aligned_items(draft: Draft, old: list[Any], new: list[Any]) -> Iterator[tuple[Any, Any, frozenset[str], Any]]:
    """Give for every item of `old`, the list that arrived, what stands for it in `new` (`GONE` where nothing does), what is owed for it,
    and what was left of it when it was taken."""
    kept = draft.lists.get(id(new))
    if kept is None:
        left = new if len(new) == len(old) else repeat(GONE)
        yield from zip(old, left, repeat(draft.owed_at_all), old)
        return
    takers: dict[int, tuple[frozenset[str], Any]] = {}
    if draft.traced:
        standing: Iterable[int] = range(len(old))
        before = old
        for version in _versions(kept):
            indexes = set(version.indexes)
            if len(indexes) < len(before):
                owed = draft.policies[version.step]
                takers.update((index, (owed, item)) for index, item in zip(standing, before, strict=False) if index not in indexes)
            standing, before = version.indexes, version.new
    numbers = iter(kept.indexes)
    following, number = next(numbers, -1), 0
    last = len(old) - 1 if kept.prior is not None else -1  # the mark item of an earlier pass
    for index, item in enumerate(old):
        if index == following:
            yield item, new[number], draft.owed_at_all, item
            following, number = next(numbers, -1), number + 1
        elif index != last:
            yield item, GONE, *takers.get(index, (NOTHING, item))


def owed_key(draft: Draft, old: Any, new: Any, key: str) -> tuple[frozenset[str], Any]:
    """Give what is owed for what stood at a key of `old`, the object that arrived, and does not in `new`, and what was left of it then."""
    if not draft.traced:
        return NOTHING, old[key]
    version = draft.objects.get(id(new))
    while version is not None:
        current, before, step = version
        opened = draft.opened(before)
        # A value that arrived as a model or tuple is opened anew each time: only its presence can be compared.
        if opened is old or opened.get(key, GONE) is not current.get(key, GONE):
            return draft.policies[step], opened.get(key, old[key])
        version = draft.objects.get(id(before))
    return draft.owed_at_all, old[key]


def left_of(draft: Draft, old: Any, last: Any, types: frozenset[str]) -> Iterator[tuple[Any, Any, frozenset[str], Any]]:
    """Give every key or index of `old`, an object or list of which `last` was left when a step that owes `types` took it, with what stood
    there, what is owed for it and what was left of it: for what had gone before no more than both steps owe."""
    if type(old) is dict:
        for key, item in old.items():
            left = last.get(key, GONE)
            if left is GONE:
                owed, left = owed_key(draft, old, last, key)
                yield key, item, owed & types, left
            else:
                yield key, item, types, left
        return
    for index, (item, left, owed, before) in enumerate(aligned_items(draft, old, last)):
        yield (index, item, owed & types, before) if left is GONE else (index, item, types, left)


def was_changed(draft: Draft, old: Any, last: Any) -> bool:
    """Tell whether `last`, which was left of an opened object or list, is another one, so that `left_of` has something to tell."""
    return last is not old and type(opened := draft.opened(last)) is type(old) and opened is not old


def _versions(kept: Kept) -> list[Kept]:
    """Give the versions of a list from its arrival on."""
    versions = []
    version: Kept | None = kept
    while version is not None:
        versions.append(version)
        version = version.parent
    return versions[::-1]
