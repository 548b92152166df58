"""Restore what must not vanish: preserved entities and values that later messages reference.

Restoring is an overlay on the plan. `gather` collects the texts and keys that remain and those that were removed, and
`needs` decides which values do not remain. Each is mentioned or restored at the first place in document order that
contains it: in the marker of a text or list (`counts`), or as a thin item (`thin`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reducer.engine.counts import write_marker
from reducer.engine.gather import Gathered, ShortenedList
from reducer.engine.needs import Needs
from reducer.engine.thin import ThinItems
from reducer.plan.cuts import Cut
from reducer.plan.nodes import Omission, shortened_lists
from reducer.plan.place import Work
from reducer.rules import Rule
from reducer.values import MAX_DEPTH


@dataclass(slots=True)
class Restored:
    """The effect of an overlay."""

    lost: tuple[str, ...] = ()
    """The preserved entities that are not restored because there are more than their bound."""
    preserved: int = 0
    """The number of entities that are restored or mentioned."""
    referenced: frozenset[str] = frozenset()
    """The referenced values that are restored."""
    nodes: list[Omission | Cut] = field(default_factory=list)
    """The plans that it changed."""

    def undo(self) -> None:
        """Remove the overlay from the plan."""
        for node in self.nodes:
            node.restored = None
            if type(node) is Omission:
                node.marker = ""


def restore(work: Work, rule: Rule, reads: frozenset[str], space: float | None = float("inf")) -> Restored:
    """Restore everything in a return that its rule preserves or later messages reference.

    Thin items keep the keys in `reads`; `*` stands for all keys. Entities that are preserved only by default get at
    most `space` characters, and are not even searched if it is None.
    """
    preserves = bool(rule.named) or (space is not None and any(rule.preserved))
    restores = work.edits > 0 and (preserves or bool(work.references.values))
    root = work.top.plan
    may_mark = work.shortened and (rule.settings.marked != () or type(work.top.value) is list)
    if not may_mark and not restores:
        return Restored()
    lists = {node: ShortenedList(value, node) for value, node in shortened_lists(work.top.value, root)}
    restored = _restored(work, rule, reads, lists, space or 0) if restores else Restored()
    for shortened in lists.values():
        write_marker(shortened, rule.marks, is_root=shortened.node is root)
        restored.nodes.append(shortened.node)
    return restored


def _restored(
    work: Work, rule: Rule, reads: frozenset[str], lists: dict[Omission, ShortenedList], space: float
) -> Restored:
    """Restore everything that must not vanish, except what the markers of `lists` can mention."""
    gathered = Gathered(work, rule, lists)
    gathered.add(work.top.value, work.top.plan, None, MAX_DEPTH + 1)
    referenced = work.references.missing(gathered.remaining, gathered.cuts)
    needs = Needs(
        work.scans, work.references, rule.preserved, dict(rule.bounds), set(referenced), named=rule.named, space=space
    )
    widened = [needs.widened(cut) for cut in gathered.cuts]
    needs.find(gathered.removed, gathered.remaining, widened)
    # Texts that were cut come before removed items and keys in any part of the return: a mention is shorter.
    nodes: list[Omission | Cut] = []
    for cut, wider in zip(gathered.cuts, widened, strict=True):
        if _mention(cut, wider, needs):
            nodes.append(cut)
    needs.find_texts()
    items = ThinItems(rule, needs, reads)
    for removal in gathered.removals:
        if needs.are_left() and items.restore(removal):
            nodes.append(removal.node)
    for shortened in lists.values():
        _restore_texts(shortened, items)
    return Restored(tuple(needs.lost), len(needs.taken), referenced=referenced, nodes=nodes)


def _mention(cut: Cut, wider: Cut, needs: Needs) -> bool:
    """Mention needed entities in the markers of a cut text, and return whether it changes.

    `wider` is the cut that also keeps the sentences around referenced values.
    """
    types = needs.preserved[cut.step]
    entities = needs.scans.entities(cut.text) if cut.always or (types and needs.entities) else ()
    _, removed = wider.split(entities)
    taken = needs.take(removed, types)
    values = dict.fromkeys(entity.value for entity in removed if entity.type in cut.always or entity.value in taken)
    needs.taken |= values
    if not values and wider is cut:
        return False
    cut.restored = wider.pieces_with_mentions(entities, values)
    return True


def _restore_texts(shortened: ShortenedList, items: ThinItems) -> None:
    """Restore the needed texts of a list in which an object is restored, so that it is no longer a list of texts."""
    if not shortened.are_texts or not shortened.node.restored:
        return
    for index, needed in shortened.found.items():
        shortened.node.restored[index] = items.of_text(shortened.value[index], needed)
    shortened.are_texts, shortened.found = False, {}
