"""`drop`: drop keys, or the items that match a filter."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress

from reducer.operations.fields import Target, Targets
from reducer.operations.op import Example, Op, Place, named
from reducer.paths import Chain, names_of


class Drop(Op):
    """Drop the listed keys of an object, or of each object in a list; with a filter, the items that match it."""

    accepts = frozenset({dict, list})
    examples = (
        Example("a key of each object", {"drop": "raw"}, [{"id": 1, "raw": "..."}, {"id": 2}], [{"id": 1}, {"id": 2}]),
        Example(
            "a nested key",
            {"path": "whois", "drop": ["registrar.raw"]},
            {"whois": {"registrar": {"name": "R", "raw": "..."}}},
            {"whois": {"registrar": {"name": "R"}}},
        ),
        Example("items", {"drop": "[?risk == 'low']"}, [{"risk": "low"}, {"risk": "high"}], [{"risk": "high"}]),
        Example("the return keeps its own keys", {"drop": ["raw"]}, {"id": 1, "raw": "..."}, {"id": 1, "raw": ""}),
    )

    drop: Targets

    def apply(self, place: Place, root: Place) -> None:
        for target in self.drop:
            _drop(place, target)

    def describe(self, place: str) -> str:
        return f"drops {named(target.text for target in self.drop)} from {place}"

    def shortens(self) -> Iterable[Chain]:
        return [names_of(target.lists.shape) for target in self.drop if target.lists is not None and target.key is None]

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        for target in self.drop:
            if target.lists is not None and target.condition is not None:
                yield from ((names_of(target.lists.shape), chain) for chain in target.condition.reads)

    def names(self) -> Iterable[Chain]:
        for target in self.drop:
            if target.key is not None:
                yield (*(names_of(target.lists.shape) if target.lists else ()), *target.key.chain)

    def takes(self, chain: Chain) -> bool:
        return any(name[: len(chain)] == chain or chain[: len(name)] == name for name in self.names())


def _drop(place: Place, target: Target) -> None:
    key, condition = target.key, target.condition
    if target.lists is None or condition is None:
        if key is not None:
            _drop_key(place, key.chain)
        return
    for items in place.find(target.lists):
        if type(items.value) is list:
            matching = [condition.holds(item) for item in items.contents()]
            if key is None:
                items.keep_items([position for position, holds in enumerate(matching) if not holds])
            else:
                for index in compress(items.keys(), matching):
                    _drop_key(items.child(index), key.chain)


def _drop_key(place: Place, chain: Chain) -> None:
    name, *rest = chain
    for found in place.objects():
        if found.has(name) and rest:
            _drop_key(found.child(name), tuple(rest))
        elif found.has(name):
            found.keep_keys(frozenset(found.value.keys() - {name}))
