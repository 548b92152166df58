"""`drop`: drop keys, or the items that match a filter."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress, groupby

from reducer.operations.fields import MARK, Mark, Target, Targets
from reducer.operations.op import Example, Op, keys_below, marked, named
from reducer.paths import Chain, names_of, overlap
from reducer.plan import Place


class Drop(Op):
    """Drop the listed keys of an object, or of each object in a list; with a filter, the items that match it.

    A dot leads to a nested key, and `*` stands for any characters. A filter also selects the values of a map.
    """

    accepts = frozenset({dict, list})
    selects_only = True
    examples = (
        Example("a key of each object", {"drop": "raw"}, [{"id": 1, "raw": "..."}, {"id": 2}], [{"id": 1}, {"id": 2}]),
        Example(
            "a nested key",
            {"path": "whois", "drop": ["registrar.raw"]},
            {"whois": {"registrar": {"name": "R", "raw": "..."}}},
            {"whois": {"registrar": {"name": "R"}}},
        ),
        Example("items", {"drop": "[?risk == 'low']"}, [{"risk": "low"}, {"risk": "high"}], [{"risk": "high"}]),
        Example(
            "lines of a text",
            {"path": "log", "text": "lines", "drop": "[?contains(@, 'DEBUG')]"},
            {"log": "DEBUG cache is cold\nERROR 203.0.113.57 refused\nDEBUG cache is warm\n"},
            {"log": "ERROR 203.0.113.57 refused\n"},
        ),
        Example(
            "the values of a map, and keys that start alike",
            {"path": "engines", "drop": ["[?!verdict]", "*.debug_*"]},
            {"engines": {"Alpha": {"verdict": "Trojan", "debug_1": "..."}, "Beta": {"verdict": None}}},
            {"engines": {"Alpha": {"verdict": "Trojan"}}},
        ),
        Example("the return keeps its own keys", {"drop": ["raw"]}, {"id": 1, "raw": "..."}, {"id": 1, "raw": ""}),
    )

    drop: Targets
    mark: Mark = MARK

    def apply(self, place: Place) -> None:
        for is_filter, targets in groupby(self.drop, key=lambda target: target.condition is not None):
            if not is_filter:
                _drop_keys(place, [target.chain for target in targets])
                continue
            for target in targets:
                _drop_matching(place, target)

    def describe(self, place: str) -> str:
        return f"drops {named(target.text for target in self.drop)} from {place}{marked(self.mark)}"

    def shortens(self) -> Iterable[Chain]:
        lists: list[Chain] = []
        for target in self.drop:
            if target.lists is not None and not target.chain:
                lists.append(names_of(target.lists.shape))
        return lists

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        for target in self.drop:
            if target.lists is not None and target.condition is not None:
                for chain in target.condition.reads:
                    yield names_of(target.lists.shape), chain

    def names(self) -> Iterable[Chain]:
        return [target.names for target in self.drop if target.chain]

    def to_keep(self, key: str) -> str:
        return f"remove `{key}` from `drop`"

    def takes(self, chain: Chain) -> bool:
        return any(overlap(names, chain) for names in self.names())


def _drop_matching(place: Place, target: Target) -> None:
    if target.lists is None or target.condition is None:
        return
    holds = target.condition.holds
    for items in place.find(target.lists):
        if not items.accepted_by((list, dict)):
            continue
        if not target.chain:
            items.keep_items_that(lambda item: not holds(item))
            continue
        for key in compress(items.entries(), map(holds, items.contents())):
            _drop_keys(items.child(key), [target.chain])


def _drop_keys(place: Place, chains: Iterable[Chain]) -> None:
    below = keys_below(place, chains)
    nested = {key: rests for key, rests in below.items() if () not in rests}
    place.keep_keys(frozenset(place.names() - (below.keys() - nested.keys())))
    for found in place.objects() if nested else ():
        for key, rests in nested.items():
            if found.has(key):
                _drop_keys(found.child(key), rests)
