"""Thin items: plans that keep only the needed parts of removed values, and the keys that lead there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from msgspec.structs import replace

from reducer import markers
from reducer.engine.gather import Plans, Removal, preserved_by
from reducer.engine.needs import Needed, Needs, Types
from reducer.formats import Atom
from reducer.plan.cuts import Cut
from reducer.plan.nodes import (
    LEAVES,
    Emptied,
    Node,
    Omission,
    Opened,
    Version,
    at_least,
    build,
    empty_of,
    has_structure,
    is_text,
    keys_of,
    open_live,
    text_of,
)
from reducer.rules import Rule
from reducer.values import chars, is_media

_SHORT = len(markers.written(1, "characters", ("",)))
"""Characters of a marker without its mentions: a text that is not longer is restored as a whole."""


_Found: TypeAlias = tuple[Node | None] | None
"""The plan that keeps what is needed of a removed value (None: all of it), or None if nothing in it is needed."""


@dataclass(frozen=True, slots=True, eq=False)
class ThinItems:
    """Adds the plans of thin items. A child of which nothing is needed gets no plan."""

    rule: Rule
    needs: Needs
    reads: frozenset[str]
    """The keys that thin items keep; `*` stands for all keys."""

    def restore(self, removal: Removal) -> bool:
        """Add the needed parts of what a list or object lost to its plan, and return whether there are any.

        What is needed of the texts in a list of texts is added to `found` instead, for the marker of the list.
        """
        value, node, texts = removal.value, removal.node, removal.texts
        plans: Plans = {}
        for key in removal.keys:
            # The plans of an object are read for each key, because the keys of a removal depend on what was opened.
            child = node.inside.get(key)
            if texts is None or not is_text(value[key], child):
                self._add_if_it_fits(plans, value, key, child, removal.types)
                continue
            needed = self.needs.pop(value[key], removal.types)
            if any(needed):
                texts.found[key] = needed
        if plans:
            node.restored = {**(node.restored or {}), **plans}
        return bool(plans)

    def of_text(self, text: str, needed: Needed) -> Cut | None:
        """Return a plan that keeps only excerpts of a removed text and a marker, or None to keep all of it."""
        scans, references = self.needs.scans, self.needs.references
        if needed.referenced:
            removed = Cut(text, (), markers.read_all(text, 0, scans.is_entity))
            wider = references.widened(removed, needed.referenced, scans.any_entities)
            entities = scans.entities(text) if needed.entities else ()
            return Cut(text, (), restored=wider.pieces_with_mentions(entities, needed.entities))
        marker = markers.written(len(text), "characters", needed.entities)
        if len(marker) >= len(text) or markers.read_alone(text, scans.is_entity):
            return None
        return Cut(text, (), restored=(marker,))

    def _add_if_it_fits(self, plans: Plans, value: Any, key: Any, node: Node | None, types: Types) -> None:
        """Add the plan of a removed child, unless it is only preserved by default and there is no space for it."""
        required, taken = self.needs.required, len(self.needs.taken)
        self._add_child(plans, value, key, node, types)
        if key not in plans or self.needs.space == float("inf"):
            return
        fits = self.needs.use_space(chars([key, build(value[key], plans[key])]))
        if not fits and self.needs.required == required:
            del plans[key]
            self.needs.lose(taken)

    def _add_child(self, plans: Plans, value: Any, key: Any, node: Node | None, types: Types) -> None:
        """Add the plan of a removed child, in which entities of `types` are preserved."""
        needs, item = self.needs, value[key]
        if not needs.are_left():
            return
        may_name = type(value) is dict and (needs.missing or key in needs.texts)
        if may_name and any(needs.pop(key, types)):
            plans[key] = _plan_for_key(item)
        # Most leaves contain nothing needed, and this check costs less than a call.
        if node is not None or type(item) not in LEAVES or needs.missing or item in needs.texts:
            found = self._found_in(item, node, types)
            if found is not None:
                [plans[key]] = found

    def _found_in(self, value: Any, node: Node | None, types: Types) -> _Found:
        if type(node) is Emptied:
            return self._found_in(value, node.before, preserved_by(self.rule, node.step, types))
        if _is_leaf(value, node):
            needed = self.needs.pop(value, types)
            if not any(needed):
                return None
            return (self.of_text(value, needed) if type(value) is str else None,)
        if node is None and has_structure(value):
            node = open_live(value)
        if type(node) is Opened:
            return self._found_in_opened(node, types)
        return self._found_in_structure(value, node if type(node) is Omission else Omission(), types)

    def _found_in_opened(self, node: Opened, types: Types) -> _Found:
        found = self._found_in(node.value, node.plan, types)
        if found is None:
            return None
        [plan] = found
        kept = plan.kept() if type(plan) is Omission else None
        if type(plan) is Omission and kept is not None and len(kept) < node.least:
            plan.keep(at_least(node.least, kept, len(node.value)), 0)
        return (replace(node, inside={0: plan}),)

    def _found_in_structure(self, value: Any, node: Omission, types: Types) -> _Found:
        removed, inside = node.removed(value), node.separate(value)
        children: Plans = {}
        for name in keys_of(value):
            step = removed.get(name)
            types_below = types if step is None else preserved_by(self.rule, step, types)
            self._add_child(children, value, name, inside.get(name), types_below)
        if not children:
            return None
        if type(value) is dict:
            left = value.keys() - removed
            for name in left if "*" in self.reads else self.reads & left:
                child = inside.get(name)
                if name not in children or build(value[name], child) is value[name]:
                    children[name] = child
        return (self._thin(value, children),)

    def _thin(self, value: Any, plans: Plans) -> Node | None:
        """Return the plan of a list or an object that keeps only children with plans, or None for all of it."""
        inside: Plans = {key: plan for key, plan in plans.items() if plan is not None}
        if not inside and len(plans) == len(value):
            return None
        if type(value) is dict and self.rule.settings.all_keys:
            for key in value.keys() - plans.keys():
                empty = empty_of(value[key])
                if empty is not None:
                    inside[key] = Emptied(0, empty)
            return Omission(inside=inside)
        kept = dict.fromkeys(plans)
        for key in keys_of(value):
            if type(value[key]) not in LEAVES and is_media(value[key]):
                kept[key] = None
        return Omission((Version(0, kept if type(value) is dict else sorted(kept)),), inside)


def _is_leaf(value: Any, node: Node | None) -> bool:
    """Return whether a value is a scalar, an atom, a media item or a text that was not opened."""
    kind, is_closed = type(value), node is None or type(node) is Cut
    return is_closed and (kind in LEAVES or kind is Atom or (kind is not list and is_media(value)))


def _plan_for_key(item: Any) -> Emptied | None:
    """Return a plan that empties a value of which only the key is restored, or None for a short text or a number.

    A short text stays because `compact` would remove a key with an empty value.
    """
    empty = empty_of(item)
    is_short = type(empty) is str and len(text_of(item)) <= _SHORT
    return None if empty is None or is_short else Emptied(0, empty)
