"""What a finished draft owes: preserved entities that would be gone, and where they are mentioned or put back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from reducer.engine.claims import Claims
from reducer.engine.cut import Scan
from reducer.engine.draft import Draft
from reducer.engine.leaves import are_texts, keys_apart, keys_in_order
from reducer.engine.protection import Protection
from reducer.engine.put_back import Owed, put_back
from reducer.engine.record import Cut
from reducer.engine.removed import Piece, removed
from reducer.engine.stretches import finished, widened
from reducer.entities import Entity
from reducer.rule import Rule

_FEW = 32
"""Values that are looked for in all that is left before any of it is scanned: one costs a thousandth of a scan."""


def settle(draft: Draft, old: Any, new: Any, rule: Rule) -> Any:
    """Give `new`, which steps made of `old`, with its marks and thin items; the same object if nothing is owed.

    Where the rule says that one synonym is enough, one written name of each canonical value is. What its bounds leave out is noted
    in the draft, and how many entities are put back or mentioned, and whether a pass over the result of which the steps leave the same
    would owe the same. Protected values stand in their places again.
    """
    draft.lost = ()
    draft.preserved = 0
    draft.referred = frozenset()
    draft.repeats = False
    synonyms = rule.vocabulary.synonyms
    if new is old:
        return new
    if draft.protection is not None:
        draft.referred = draft.protection.lost(new, draft.opened, draft.texts)
    lost = draft.referred
    # Which values bounds have room for, and which synonym is needed, is a matter of what comes first.
    ordered = bool(rule.bounds or synonyms)
    draft.repeats = draft.alike and not (draft.marked or lost or ordered)
    if not (draft.marked or draft.traced or lost):
        return new
    gone = removed(draft, old, new, ordered)
    pieces = gone.pieces
    if lost and draft.protection is not None:
        lost -= _widen(pieces, lost, draft.protection, draft.vocabulary.everything)
    distinct = [piece.distinct() for piece in pieces]
    known = draft.reading.scanned(distinct[0] if len(distinct) == 1 else dict.fromkeys(chain.from_iterable(distinct)))
    owed = [entity for piece, texts in zip(pieces, distinct, strict=True) for entity in _owed(draft, piece, texts, ordered)]
    needed, named = _needed(owed, synonyms) if synonyms else ({entity.value: None for entity in owed}, None)
    if needed:
        _strike_out(draft, needed, named, new, {id(piece.cut.new): piece.cut for piece in pieces if piece.cut is not None})
    if rule.bounds and needed:
        draft.lost = tuple(_beyond(rule.bounds, needed, {entity.value: entity.type for entity in owed}))
        for value in draft.lost:
            del needed[value]
    if not (needed or draft.marked or lost):
        return new
    # Marks in cut texts come first, wherever they stand: they cost less than items and keys put back.
    finished_texts: dict[int, str] = {}
    mentioned: set[str] = set()
    for piece in pieces:
        cut = piece.cut
        if cut is not None:
            policy = draft.policies[cut.step]
            away = cut.away(known[cut.old]) if policy or cut.always else []
            values = dict.fromkeys(e.value for e in away if e.type in cut.always or (e.type in policy and e.value in needed))
            if values or cut is not draft.texts[id(cut.new)]:
                finished_texts[id(cut.new)] = finished(cut, known[cut.old], values)
            mentioned.update(values)
            for value in values:
                needed.pop(value, None)
    draft.preserved = len(needed.keys() | mentioned)
    bearers = {text for text, found in draft.reading.bearing.items() if found[0].value in needed or _holds(found, needed)} if needed else set()
    hidden = bool(lost) or not all(bearers.isdisjoint(piece.keys) for piece in pieces)
    claims = Claims(draft, needed, bearers, set(lost))
    result = put_back(draft, old, new, Owed(claims, finished_texts, {} if hidden else gone.spans, hidden or ordered))
    draft.repeats = draft.repeats and claims.stand_again()
    return result


def _holds(found: Sequence[Entity], needed: dict[str, None]) -> bool:
    return len(found) > 1 and any(entity.value in needed for entity in found)


def _owed(draft: Draft, piece: Piece, distinct: dict[str, None], twice: bool) -> list[Entity]:
    """Give the entities that are owed for a piece and its `distinct` texts; those of equal texts again, and in order, only if `twice`."""
    cut = piece.cut
    bearing = draft.reading.bearing
    if cut is None:
        types = piece.types
        texts = filter(bearing.__contains__, piece.texts) if twice else filter(distinct.__contains__, bearing)
        return [entity for text in texts for entity in bearing[text] if entity.type in types]
    policy = draft.policies[cut.step]
    return [entity for entity in cut.away(bearing.get(cut.old, ())) if entity.type in policy] if policy else []


def _widen(pieces: Iterable[Piece], lost: frozenset[str], protection: Protection, everything: Callable[[], Scan]) -> frozenset[str]:
    """Keep in the texts that were cut what stands around values in `lost`, each in the first that holds it; give those that one holds."""
    found: frozenset[str] = frozenset()
    for piece in pieces:
        if piece.cut is not None:
            values = protection.held(piece.cut.old) & lost - found
            if values:
                piece.cut = widened(piece.cut, values, protection, everything)
                found |= values
    return found


def _needed(owed: list[Entity], synonyms: frozenset[str]) -> tuple[dict[str, None], dict[tuple[str, str], str]]:
    """Give the values of what is owed, of synonyms the first alone, and that one by type and canonical value.

    A name that is owed as an entity of another type too stays needed as it is written.
    """
    strict = {entity.value for entity in owed if entity.type not in synonyms}
    named: dict[tuple[str, str], str] = {}
    needed: dict[str, None] = {}
    for entity in owed:
        if entity.value in strict or named.setdefault((entity.type, entity.canonical), entity.value) == entity.value:
            needed[entity.value] = None
    return needed, named


def _strike_out(draft: Draft, needed: dict[str, None], named: dict[tuple[str, str], str] | None, new: Any, cuts: dict[int, Cut]) -> None:
    """Take from `needed` what is still shown in `new`, in which the texts of the ids in `cuts` are what those left."""
    left: list[str] = []
    keys: set[str] = set()
    keys_apart(draft.opened, left, keys)(new)
    if not are_texts(keys):
        left, keys = [], set()
        keys_in_order(draft.opened, left)(new)
    texts: dict[str, None] = dict.fromkeys([*(text for text in left if id(text) not in cuts), *keys] if cuts else [*left, *keys])
    if not named and len(needed) <= _FEW:
        joined = "\0".join(texts)
        near = [value for value in needed if value in joined]
        texts = {text: None for text in texts if any(value in text for value in near)} if near else {}
    known = draft.reading.scanned(texts)
    bearing = draft.reading.bearing
    shown = [entity for text in filter(bearing.__contains__, texts) for entity in bearing[text]]
    # What a cut left is not scanned again: a fifth of the time of a rule that only cuts.
    for text in left if cuts else ():
        cut = cuts.get(id(text))
        if cut is not None:
            shown += cut.stands(known[cut.old])
    for entity in shown:
        needed.pop(entity.value, None)
        if named:
            needed.pop(named.get((entity.type, entity.canonical), ""), None)


def _beyond(bounds: Iterable[tuple[frozenset[str], int]], needed: Iterable[str], types: dict[str, str]) -> Iterator[str]:
    """Give the needed values that no bound has room for, in order; a value counts for every bound on its type."""
    room = [[kinds, most] for kinds, most in bounds]
    for value in needed:
        own = [entry for entry in room if types[value] in entry[0]]  # type: ignore[operator]
        if any(entry[1] == 0 for entry in own):
            yield value
        else:
            for entry in own:
                entry[1] -= 1  # type: ignore[operator]
