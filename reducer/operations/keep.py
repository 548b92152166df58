"""`keep`: keep only the listed keys of objects, or the items that match a filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain as joined

from reducer.operations.fields import MARK, Kept, Mark
from reducer.operations.op import Example, Op, is_named, items_of, marked, named, named_keys
from reducer.paths import Chain
from reducer.plan import Place


class Keep(Op):
    """Keep only the listed keys of an object, or of each object in a list; with a filter, the items that match it.

    A dot leads to a nested key, and `*` stands for any characters. A filter also selects the values of a map.
    """

    accepts = frozenset({dict, list})
    selects_only = True
    examples = (
        Example(
            "two keys of each object",
            {"keep": ["host", "risk"]},
            [{"host": "a", "risk": "low", "ttl": 60}, "no object"],
            [{"host": "a", "risk": "low"}, "no object"],
        ),
        Example(
            "a nested key",
            {"path": "event", "keep": ["@timestamp", "source.ip"]},
            {"event": {"@timestamp": "2024-05-01", "source": {"ip": "192.0.2.1", "port": 4}, "agent": {}}},
            {"event": {"@timestamp": "2024-05-01", "source": {"ip": "192.0.2.1"}}},
        ),
        Example(
            "keys that start alike",
            {"path": "issue", "keep": ["id", "customfield_*"]},
            {"issue": {"id": 7, "customfield_1": "red", "customfield_2": None, "self": "/7"}},
            {"issue": {"id": 7, "customfield_1": "red", "customfield_2": None}},
        ),
        Example("items", {"keep": "[?risk == 'high']"}, [{"risk": "low"}, {"risk": "high"}], [{"risk": "high"}]),
        Example(
            "the values of a map",
            {"path": "hosts", "keep": "[?score > 5]"},
            {"hosts": {"a.example": {"score": 9}, "b.example": {"score": 1}}},
            {"hosts": {"a.example": {"score": 9}}},
        ),
        Example(
            "the return keeps its own keys",
            {"keep": ["a"]},
            {"a": 1, "b": "text", "c": [1], "d": 4},
            {"a": 1, "b": "", "c": [], "d": 4},
        ),
    )

    keep: Kept
    mark: Mark = MARK

    def apply(self, place: Place, root: Place) -> None:
        conditions = [target.condition for target in self.keep if target.condition is not None]
        if not conditions:
            _keep(place, [target.chain for target in self.keep])
            return
        positions = []
        for position, item in enumerate(place.contents()):
            if any(condition.holds(item) for condition in conditions):
                positions.append(position)
        place.keep_items(positions)

    def describe(self, place: str) -> str:
        if self.shortens():
            filters = named((target.text for target in self.keep), "or")
            return f"keeps only {items_of(place)} that match {filters}{marked(self.mark)}"
        return f"keeps only {named(target.text for target in self.keep)} of {place}"

    def shortens(self) -> Sequence[Chain]:
        return [()] if self.keep[0].condition is not None else []

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        return [((), chain) for target in self.keep if target.condition is not None for chain in target.condition.reads]

    def names(self) -> Iterable[Chain]:
        return [target.names for target in self.keep if target.chain]

    def of_each(self) -> str:
        return "" if self.shortens() else named(target.text for target in self.keep)

    def to_keep(self, key: str) -> str:
        return f"add `{key}` to `keep`"

    def takes(self, chain: Chain) -> bool:
        # A name without `*` matches only itself.
        kept = (target.chain for target in self.keep)
        return not self.shortens() and not any(
            len(names) <= len(chain) and all(map(is_named, chain, names)) for names in kept
        )


def _keep(place: Place, chains: Iterable[Sequence[str]]) -> None:
    below: dict[str, list[Sequence[str]]] = {}
    for name, *rest in chains:
        keys = joined.from_iterable(named_keys(found, name) for found in place.objects()) if "*" in name else (name,)
        for key in dict.fromkeys(keys):
            below.setdefault(key, []).append(rest)
    place.keep_keys(frozenset(below))
    nested = {key: rests for key, rests in below.items() if [] not in rests}
    for found in place.objects() if nested else ():
        for key, rests in nested.items():
            if found.has(key):
                _keep(found.child(key), rests)
