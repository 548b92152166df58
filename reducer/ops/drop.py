"""`drop`: take keys away, or the items that a filter finds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reducer.op import Draft, Example, Op
from reducer.op.fields import Target, Targets
from reducer.op.words import enumerated, listed
from reducer.path import Chain, names_of
from reducer.values import is_media, shown


class Drop(Op):
    """Take the listed keys from an object, or from each object in a list; with a filter (`[?risk == 'low']`) the items that it finds."""

    accepts = frozenset({dict, list})
    examples = (
        Example("a key of each object", {"drop": "raw"}, [{"id": 1, "raw": "..."}, {"id": 2}], [{"id": 1}, {"id": 2}]),
        Example(
            "a key further in",
            {"path": "whois", "drop": ["registrar.raw"]},
            {"whois": {"registrar": {"name": "R", "raw": "..."}}},
            {"whois": {"registrar": {"name": "R"}}},
        ),
        Example("items", {"drop": "[?risk == 'low']"}, [{"risk": "low"}, {"risk": "high"}], [{"risk": "high"}]),
        Example("the return keeps its own keys", {"drop": ["raw"]}, {"id": 1, "raw": "..."}, {"id": 1, "raw": ""}),
    )

    drop: Targets

    def apply(self, value: Any, draft: Draft) -> Any:
        for target in self.drop:
            value = _drop(value, target, draft)
        return value

    def tells(self, place: str) -> str:
        return f"{place} leaves out {listed(target.text for target in self.drop)}"

    def says(self, place: str) -> str:
        return f"takes {enumerated(f'`{target.text}`' for target in self.drop)} out of {place}"

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
        for target in self.drop:
            if target.key is not None:
                gone = (*(names_of(target.lists.shape) if target.lists else ()), *target.key.chain)
                if gone[: len(chain)] == chain or chain[: len(gone)] == gone:
                    return True
        return False


def _drop(value: Any, target: Target, draft: Draft) -> Any:
    if target.lists is None or target.condition is None:
        return value if target.key is None else _drop_key(value, target.key.chain, draft)
    holds, key = target.condition.holds, target.key

    def from_list(items: Any) -> Any:
        opened = shown(items)
        if type(opened) is not list:
            return items
        if key is not None:
            return draft.replace(items, lambda item: _drop_key(item, key.chain, draft) if holds(item) else item)
        indexes = [index for index, item in enumerate(opened) if not holds(item)]
        return items if len(indexes) == len(opened) else draft.take_items(items, indexes)

    return target.lists.update(value, from_list, draft.note)


def _drop_key(value: Any, chain: Chain, draft: Draft) -> Any:
    opened = value if type(value) is dict else shown(value)
    if type(opened) is list:
        return draft.replace(value, lambda item: _drop_key(item, chain, draft) if type(item) is not list else item)
    name, *rest = chain
    if type(opened) is not dict or is_media(opened) or name not in opened:
        return value
    if not rest:
        return draft.take_keys(value, opened.keys() - {name})
    old = opened[name]
    new = _drop_key(old, tuple(rest), draft)
    return value if new is old else draft.put(value, name, new)
