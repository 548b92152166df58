"""`extract`: keep only entities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reducer.formats import Atom
from reducer.operations.fields import EntityTypes
from reducer.operations.op import Example, Op, enumerated
from reducer.paths import Chain
from reducer.plan import Place


class Extract(Op):
    """Keep only entities of these types: a marker mentions those in a text; items and keys stay if they lead to one."""

    accepts = frozenset({str, list, dict})
    cuts_texts = True
    shortens_any = True
    examples = (
        Example(
            "a text",
            {"extract": ["cve"]},
            "The group has been seen to exploit CVE-2024-3400 against appliances that face the internet.",
            "…[91 more characters; mentions CVE-2024-3400]",
        ),
        Example(
            "an object: only the keys that lead to an entity",
            {"path": "report", "extract": ["ip"]},
            {"report": {"title": "Weekly", "hosts": ["gateway", "192.0.2.7"]}},
            {"report": {"hosts": ["192.0.2.7"]}},
        ),
    )

    extract: EntityTypes

    def apply(self, place: Place) -> None:
        types = place.work.scans.vocabulary.expand(self.extract)
        if not _extract(place, types):
            if type(place.value) is str:
                place.extract(types, if_none=True)
            elif type(place.value) is list:
                place.keep_items_that(_is_hollow)
            else:
                place.keep_keys(frozenset())

    def describe(self, place: str) -> str:
        types = enumerated(self.extract, "or") if self.extract else "nothing"
        return f"keeps only the parts of {place} that mention {types}"

    def entity_types(self) -> Iterable[str]:
        return self.extract

    def takes(self, chain: Chain) -> bool:
        return True


def _extract(place: Place, types: frozenset[str]) -> bool:
    """Keep only what leads to entities of `types`, and return whether there are any."""
    value = place.value
    if type(value) is str:
        return place.extract(types)
    if type(value) is Atom:
        return _mentions(place, value.source, types)
    if type(value) is list:
        return _extract_items(place, types)
    return type(value) is dict and _extract_keys(place, types)


def _mentions(place: Place, text: str, types: frozenset[str]) -> bool:
    return any(entity.type in types for entity in place.work.scans.entities(text))


def _extract_items(place: Place, types: frozenset[str]) -> bool:
    indices = place.keys()
    found = [_extract(place.child(index), types) for index in indices]
    if any(found):
        items = enumerate(place.contents())
        place.keep_items([position for position, item in items if found[position] or _is_hollow(item)])
    return any(found)


def _extract_keys(place: Place, types: frozenset[str]) -> bool:
    names: dict[str, bool] = {}
    keys = place.keys()
    for key in keys:
        in_value = _extract(place.child(key), types)
        if in_value or _mentions(place, key, types):
            names[key] = in_value
    if names:
        place.keep_keys(frozenset(names))
        for key, in_value in names.items():
            if not in_value:
                place.empty(key)
    return bool(names)


def _is_hollow(item: Any) -> bool:
    """Return whether an item contains only empty objects and lists. Later steps leave such items, so they stay."""
    items = item.values() if type(item) is dict else item
    return (type(item) is dict or type(item) is list) and all(map(_is_hollow, items))
