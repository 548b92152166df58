"""What arrived beside what is left of it: which step took what, what it owes for that, and what earlier steps had left of it by then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

from reducer.engine.draft import Draft
from reducer.engine.record import NOTHING, Kept
from reducer.engine.thin import GONE

_CONTAINERS = frozenset({dict, list})


def aligned_items(draft: Draft, old: list[Any], new: list[Any]) -> Iterable[tuple[Any, Any, frozenset[str], Any]]:
    """Give for every item of `old`, the list that arrived, what stands for it in `new` (`GONE` where nothing does), what is owed for it,
    and what was left of it when it was taken."""
    kept = draft.lists.get(id(new))
    if kept is None:
        return zip(old, new if len(new) == len(old) else repeat(GONE), repeat(draft.owed_at_all), old)
    # The mark item of an earlier pass is left out.
    size = len(old) if kept.prior is None else len(old) - 1
    owed, last = [NOTHING] * size, old[:size]
    if draft.traced:
        standing: Sequence[int] = range(size)
        before = last
        for version in _versions(kept):
            types = draft.policies[version.step]
            if len(standing) == size:
                owed, last = [types] * size, before[:size]
            else:  # what is owed for all that an earlier one left
                for index, item in zip(standing, before, strict=False):
                    owed[index], last[index] = types, item
            standing, before = version.indexes, version.new
    left = [GONE] * size
    for index, item in zip(kept.indexes, new, strict=False):
        left[index], owed[index], last[index] = item, draft.owed_at_all, old[index]
    return zip(old, left, owed, last, strict=False)


def owed_keys(draft: Draft, old: Any, new: Any) -> frozenset[str] | None:
    """Give what is owed for what stood at any key of `old`, the object that arrived, if nothing of it had gone before; None where each is asked about."""
    if not draft.traced:
        return NOTHING
    version = draft.objects.get(id(new))
    if version is None:
        return draft.owed_at_all
    return draft.policies[version[2]] if draft.opened(version[1]) is old else None


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
    if draft.alike or last is old or type(old) not in _CONTAINERS:
        return False
    opened = draft.opened(last)
    return type(opened) is type(old) and opened is not old


def _versions(kept: Kept) -> list[Kept]:
    """Give the versions of a list from its arrival on."""
    versions = []
    version: Kept | None = kept
    while version is not None:
        versions.append(version)
        version = version.parent
    return versions[::-1]
