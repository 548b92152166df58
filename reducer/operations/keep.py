"""`keep`: keep only the listed keys of objects, or the items that match a filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import cached_property

from reducer.operations.fields import MARK, Kept, Mark, Strict, Target
from reducer.operations.op import Example, Op, has_named, is_named, items_of, keys_below, marked, named
from reducer.paths import Chain, Expression
from reducer.plan import Place

_ENOUGH = 4
"""An object with this many of the keys is recognised, however many the step names."""


class Keep(Op):
    """Keep only the listed keys of an object, or of each object in a list; with a filter, the items that match it.

    A dot leads to a nested key, and `*` stands for any characters. Objects with fewer than half of the keys stay as
    they are: four keys are enough, and all objects at the path count together. `{names: [...], strict: true}` also
    drops all else from these. A filter also selects the values of a map.
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
        Example(
            "an unknown object stays",
            {"keep": ["host", "risk", "seen"]},
            [{"error": "no such host", "host": "a"}],
            [{"error": "no such host", "host": "a"}],
        ),
        Example(
            "nothing else stays, whatever an object has",
            {"keep": {"names": ["host", "risk", "seen"], "strict": True}},
            [{"error": "no such host", "host": "a"}],
            [{"host": "a"}],
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

    @property
    def targets(self) -> tuple[Target, ...]:
        """The keys or filters."""
        return self.keep.names if isinstance(self.keep, Strict) else self.keep

    def conditions(self) -> Sequence[Expression]:
        return [target.condition for target in self.targets if target.condition is not None]

    @cached_property
    def _may_leave(self) -> bool:
        return not isinstance(self.keep, Strict) and not self.shortens()

    def recognises(self, places: Iterable[Place]) -> bool:
        if not self._may_leave:
            return True
        keys = set[str]()
        for place in places:
            for found in place.objects():
                own = found.keys()
                if not keys.issuperset(own):
                    keys.update(own)
                    present, names = self.present(keys)
                    if present >= min(_ENOUGH, names / 2):
                        return True
        return keys.issubset(self._all_named(keys))

    def _all_named(self, keys: Iterable[str]) -> set[str]:
        """Return the keys that have one of its names."""
        return {key for key in keys for name in self._first_names if is_named(key, name)}

    def present(self, keys: Set[str]) -> tuple[int, int]:
        """Return how many of its names an object with these keys has, and how many names there are.

        A glob is one name, and so are all names that lead below the same key.
        """
        names = self._first_names
        present = len(names & keys)
        for name in self._globs:
            present += name not in keys and has_named(keys, name)
        return present, len(names)

    @cached_property
    def _globs(self) -> tuple[str, ...]:
        return tuple(name for name in self._first_names if "*" in name)

    @cached_property
    def _first_names(self) -> frozenset[str]:
        return frozenset(target.chain[0] for target in self.targets)

    def apply(self, place: Place) -> None:
        conditions = self.conditions()
        if conditions:
            place.keep_items_that(lambda item: any(condition.holds(item) for condition in conditions))
        else:
            _keep(place, [target.chain for target in self.targets])

    def describe(self, place: str) -> str:
        if self.shortens():
            filters = named((target.text for target in self.targets), "or")
            return f"keeps only {items_of(place)} that match {filters}{marked(self.mark)}"
        kept = f"keeps only {named(target.text for target in self.targets)} of {place}"
        return f"{kept}, whatever else it has" if isinstance(self.keep, Strict) else kept

    def leaves_alone(self) -> str:
        return "leaves objects with fewer than half of the keys of a step as they are" if self._may_leave else ""

    def shortens(self) -> Sequence[Chain]:
        return [()] if self.conditions() else []

    def names(self) -> Iterable[Chain]:
        return [target.names for target in self.targets if target.chain]

    def to_keep(self, key: str) -> str:
        return f"add `{key}` to `keep`"

    def takes(self, chain: Chain) -> bool:
        if self.shortens():
            return False
        for target in self.targets:
            # A name without `*` matches only itself.
            if len(target.chain) <= len(chain) and all(map(is_named, chain, target.chain)):
                return False
        return True


def _keep(place: Place, chains: Iterable[Chain]) -> None:
    below = keys_below(place, chains)
    place.keep_keys(frozenset(below))
    nested = {key: rests for key, rests in below.items() if () not in rests}
    for found in place.objects() if nested else ():
        for key, rests in nested.items():
            if found.has(key):
                _keep(found.child(key), rests)
