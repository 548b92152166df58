"""The steps of a draft, and the order in which drafts remove more: from what says least to what says most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reducer.analysis.drafting.lists import limited
from reducer.analysis.drafting.names import is_writable, key_text
from reducer.analysis.drafting.profiles import Path, Profile, is_below
from reducer.analysis.drafting.rule_text import Step, at, ends
from reducer.analysis.drafting.sketch import Sketch
from reducer.analysis.texts import listed

PRESERVED = ["ioc", "cve", "mitre_attack", "threat_actor", "malware"]
_MIN_LINES, _MAX_LINE = 20, 300
_ALARMS = ("error", "fail", "warn", "fatal", "exception", "denied", "critical")


_MOST_ITEMS, _FEWEST_ITEMS, _NEXT = 50, 24, 0.7
"""The items of a list that stay at first and at last, and the share of them that stays next."""
_CHARS_OF_ITEM, _SHORT_TEXT = 20, 100


@dataclass(frozen=True)
class Plan:
    """What a draft removes: places with the reason, and what exceeds the bounds; entities stay if it `protects`.

    items: the number of items of a list that stay, which all other bounds follow from; 0 if all stay
    is_last: also limit lists that are about entities, of whose items the entities stay; for answers with nothing else
    """

    gone: Mapping[Path, str]
    items: int = 0
    protects: bool = True
    is_last: bool = False

    @property
    def chars(self) -> int:
        """The number of characters of a text that stay."""
        return max(self.items * _CHARS_OF_ITEM, _SHORT_TEXT if self.protects else 1)

    @property
    def share(self) -> float:
        """The share of an answer that is a text that stays."""
        return self.items / 100


def plans(sketch: Sketch, is_strict: bool) -> Iterator[Plan]:
    """Yield plans that remove more and more. The last ones, if `is_strict`, also lose entities."""
    plan = Plan(sketch.redundant)
    yield plan
    yield replace(plan, items=_MOST_ITEMS)
    for items in _fewer(_FEWEST_ITEMS):
        yield replace(plan, items=items)
    for items in _fewer(1) if is_strict else ():
        yield replace(plan, items=items, protects=False)
    for items in (_MOST_ITEMS, *_fewer(_FEWEST_ITEMS)):
        yield replace(plan, items=items, is_last=True)


def _fewer(fewest: int) -> Iterator[int]:
    """Yield smaller and smaller numbers of items that stay."""
    items = _MOST_ITEMS
    while items > fewest:
        items = max(fewest, int(items * _NEXT))
        yield items


def steps_of(sketch: Sketch, plan: Plan) -> Iterator[Step]:
    """Yield the steps of a plan: what removes keys comes first, because later steps compare what is left."""
    root = sketch.root
    if root.texts and len(root.scalars) == len(root.values):
        yield from _of_text(sketch, plan)
        return
    yield Step({"compact": True}, "empty values")
    for place in root.walk():
        if place.path and is_writable(place.path) and not sketch.is_little(place.json_texts):
            yield Step(at(place.path, {"unwrap": True}), "JSON in a text, which is read without quotes")
    done = set[Path]()
    for place in root.walk():
        if place.is_record and is_writable(place.path) and not is_below(place.path, plan.gone):
            yield from _drop(sketch, place, plan.gone, done)
    if plan.items:
        yield from _limits(sketch, plan)
        yield from _cut(sketch, plan)


# --- keys


def _drop(sketch: Sketch, record: Profile, gone: Mapping[Path, str], done: set[Path]) -> Iterator[Step]:
    """Yield the step that drops keys of a kind of record, except those that an earlier step reaches in lists too."""
    names: dict[str, list[str]] = {}
    size = 0
    for place in _dropped(record, gone):
        reached = tuple(token for token in place.path if token != -1)
        if reached in done:
            continue
        done.add(reached)
        key = key_text(place.path[len(record.path) :])
        for reason in _reasons(place, gone):
            names.setdefault(reason, []).append(key)
        size += place.chars
    if not names or sketch.is_little(size):
        return
    keys: list[str] = []
    for some in names.values():
        keys += some
    # At a list, `drop` applies to each item.
    path = record.path[:-1] if record.path[-1:] == (-1,) else record.path
    yield Step(at(path, {"drop": list(dict.fromkeys(keys))}), _listed_by_reason(names))


def _listed_by_reason(names: Mapping[str, list[str]]) -> str:
    reasons = []
    for reason, keys in names.items():
        reasons.append(reason if len(names) == 1 else f"{reason} ({listed(keys)})")
    return "; ".join(reasons)


def _dropped(place: Profile, gone: Mapping[Path, str]) -> Iterator[Profile]:
    """Yield the keys of an object that go as a whole, also those in its objects."""
    for below in place.keys.values():
        if is_writable(below.path):
            if _is_gone(below, gone):
                yield below
            else:
                yield from _dropped(below, gone)


def _is_gone(place: Profile, gone: Mapping[Path, str]) -> bool:
    """Return whether a place goes, or everything in it."""
    if place.path in gone:
        return True
    return bool(place.below) and all(_is_gone(below, gone) for below in place.below.values())


def _reasons(place: Profile, gone: Mapping[Path, str]) -> Sequence[str]:
    found = dict[str, None]()
    for one in place.walk():
        if one.path in gone:
            found[gone[one.path]] = None
    return list(found)


# --- lists and texts


def _limits(sketch: Sketch, plan: Plan) -> Iterator[Step]:
    """Yield a step for each long list or map."""
    left = [field for path, field in sketch.fields.items() if not is_below(path, plan.gone)]
    for place in sketch.root.walk():
        is_top = {-1, None}.isdisjoint(place.path)
        amount = plan.items if is_top else max(1, plan.items // 2)
        if sketch.is_little(place.chars) or not _can_limit(place, plan.gone) or max(place.lengths) <= amount:
            continue
        action, which = limited(place, left, amount)
        found = _entities_in(place) if plan.protects else ()
        # At least half of the items contain an entity of their own: the list is about them.
        is_about_entities = plan.protects and len(found) * 2 >= sum(place.lengths)
        if is_about_entities and not plan.is_last:
            continue
        if found:
            # Objects of which only an entity stays would not be counted; the marker of texts mentions entities.
            action = {**action, "preserve": PRESERVED if is_about_entities or not place.items_have_keys else []}
            which += "; of the others, the entities" if is_about_entities else ""
        lists = "" if len(place.lengths) == 1 else f" in {len(place.lengths):,} lists"
        yield Step(at(place.path, action), f"{sum(place.lengths):,} items{lists}: {which}")


def _can_limit(place: Profile, gone: Mapping[Path, str]) -> bool:
    """Return whether a step can limit a place: a list or map that stays, and is no row of a list of lists."""
    if not place.lengths or place.path[-1:] == (-1,) or not is_writable(place.path):
        return False
    if place.is_map and not place.is_record_map:
        return False
    return not is_below(place.path, gone) and not _is_gone(place, gone)


def _entities_in(place: Profile) -> set[tuple[str, str]]:
    found = set[tuple[str, str]]()
    for one in place.walk():
        found |= one.entities
    return found


def _cut(sketch: Sketch, plan: Plan) -> Iterator[Step]:
    """Yield the step that cuts all long texts in the middle."""
    longest = size = 0
    names: list[str] = []
    for place in sketch.root.walk():
        if place.below or not place.texts or is_below(place.path, plan.gone):
            continue
        excess = 0
        for text in place.texts:
            excess += max(0, len(text) - plan.chars)
        if excess:
            names.append(path_name(place))
            longest = max(longest, *map(len, place.texts))
            size += excess
    if names and not sketch.is_little(size):
        what = f"texts of up to {longest:,} characters ({listed(names)}) keep both ends"
        yield Step({"truncate": ends(plan.chars)}, f"{what}; markers name the indicators")


def path_name(place: Profile) -> str:
    """Return the last key of a place."""
    for token in reversed(place.path):
        if type(token) is str:
            return token
    return "items"


def _of_text(sketch: Sketch, plan: Plan) -> Iterator[Step]:
    """Yield the steps for answers that are texts: by lines if there are many."""
    texts = sketch.root.texts
    longest = max(texts, key=len)
    lines = longest.count("\n")
    if lines < _MIN_LINES or len(longest) > _MAX_LINE * lines:
        if plan.items:
            reason = f"the answer is a text of up to {len(longest):,} characters; both ends stay"
            yield Step({"truncate": ends(int(len(longest) * plan.share))}, reason)
        return
    preserve = {"preserve": PRESERVED if plan.protects else []}
    alike = {"text": "lines", "dedupe": {"ignore": "digits", "keep": 3}, "mark": True, **preserve}
    yield Step(alike, "of lines that differ only in numbers, three stay")
    if plan.items:
        words = _alarm_words(longest)
        condition = " || ".join(f"contains(lower(@), '{word}')" for word in words)
        also = f", and lines with {listed(words)}" if words else ""
        limit = {"text": "lines", "limit": ends(max(4, int(lines * plan.share)))}
        always = {"always_keep": condition} if condition else {}
        keys: dict[str, Any] = {**limit, **always, "mark": True, **preserve}
        yield Step(keys, f"{lines:,} lines: both ends stay{also}; the last line counts the others")


def _alarm_words(text: str) -> list[str]:
    """Return the words of lines about problems, if few lines contain them."""
    lines = text.lower().splitlines()
    found = []
    for word in _ALARMS:
        count = sum(word in line for line in lines)
        if 0 < count * 8 <= len(lines):
            found.append(word)
    return found
