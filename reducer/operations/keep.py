"""`keep`: keep only the listed keys of objects."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from reducer.operations.fields import Keys
from reducer.operations.op import Example, Op, Place, named
from reducer.paths import Chain

Tree = dict[str, "Tree | None"]
"""The kept keys, each with the kept keys of its value, or None to keep the whole value."""


class Keep(Op):
    """Keep only the listed keys of an object, or of each object in a list. A dot leads to a nested key."""

    accepts = frozenset({dict, list})
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
            "the return keeps its own keys",
            {"keep": ["a"]},
            {"a": 1, "b": "text", "c": [1], "d": 4},
            {"a": 1, "b": "", "c": [], "d": 4},
        ),
    )

    keep: Keys

    @cached_property
    def tree(self) -> Tree:
        """The listed keys as one tree."""
        root: Tree = {}
        for key in self.keep:
            node, chain = root, key.chain
            for name in chain[:-1]:
                below = node.setdefault(name, {})
                if below is None:
                    break
                node = below
            else:
                node[chain[-1]] = None
        return root

    def apply(self, place: Place, root: Place) -> None:
        _keep(place, self.tree)

    def describe(self, place: str) -> str:
        return f"keeps only {named(key.text for key in self.keep)} of {place}"

    def names(self) -> Iterable[Chain]:
        return [key.chain for key in self.keep]

    def takes(self, chain: Chain) -> bool:
        return not any(chain[: len(key.chain)] == key.chain for key in self.keep)


def _keep(place: Place, tree: Tree) -> None:
    place.keep_keys(frozenset(tree))
    deeper = [(name, below) for name, below in tree.items() if below is not None]
    for found in place.objects() if deeper else ():
        for name, below in deeper:
            if found.has(name):
                _keep(found.child(name), below)
