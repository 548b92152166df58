"""`keep`: keep only the listed keys of objects."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from reducer.op import Draft, Example, Op
from reducer.op.fields import Keys
from reducer.op.words import enumerated, listed
from reducer.path import Chain
from reducer.values import is_media, shown

Tree = dict[str, "Tree | None"]
"""The keys that stay, and below each what stays of its value: None is all of it."""


class Keep(Op):
    """Keep only the listed keys of an object, or of each object in a list; a key with dots is a path to a key further in."""

    accepts = frozenset({dict, list})
    examples = (
        Example(
            "two keys of each object",
            {"keep": ["host", "risk"]},
            [{"host": "a", "risk": "low", "ttl": 60}, "no object"],
            [{"host": "a", "risk": "low"}, "no object"],
        ),
        Example(
            "a key further in",
            {"path": "event", "keep": ["@timestamp", "source.ip"]},
            {"event": {"@timestamp": "2024-05-01", "source": {"ip": "192.0.2.1", "port": 4}, "agent": {}}},
            {"event": {"@timestamp": "2024-05-01", "source": {"ip": "192.0.2.1"}}},
        ),
        Example("the return keeps its own keys", {"keep": ["a"]}, {"a": 1, "b": "text", "c": [1], "d": 4}, {"a": 1, "b": "", "c": [], "d": 4}),
    )

    keep: Keys

    @cached_property
    def tree(self) -> Tree:
        """The listed chains as one tree."""
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

    @cached_property
    def is_flat(self) -> bool:
        """Tell whether no key further in is listed."""
        return not any(self.tree.values())

    def apply(self, value: Any, draft: Draft) -> Any:
        if type(value) is list and self.is_flat:
            return draft.take_keys_of_each(value, self.tree.keys())
        return _keep(value, self.tree, draft)

    def tells(self, place: str) -> str:
        return f"{place} shows only {listed(key.text for key in self.keep)}"

    def says(self, place: str) -> str:
        return f"keeps of {place} only {enumerated(f'`{key.text}`' for key in self.keep)}"

    def adds(self) -> str:
        return f"each with {enumerated(f'`{key.text}`' for key in self.keep)}"

    def names(self) -> Iterable[Chain]:
        return [key.chain for key in self.keep]

    def takes(self, chain: Chain) -> bool:
        node = self.tree
        for name in chain:
            if name not in node:
                return True
            below = node[name]
            if below is None:
                return False
            node = below
        return True


def _keep(value: Any, tree: Tree, draft: Draft) -> Any:
    opened = value if type(value) is dict else shown(value)
    if type(opened) is list:
        return draft.replace(value, lambda item: _keep(item, tree, draft) if type(item) is not list else item)
    if type(opened) is not dict or is_media(opened):
        return value
    if not opened.keys() <= tree.keys():
        value = draft.take_keys(value, tree.keys())
    for name, below in tree.items():
        if below is not None and name in opened:
            old = opened[name]
            new = _keep(old, below, draft)
            if new is not old:
                value = draft.put(value, name, new)
    return value
