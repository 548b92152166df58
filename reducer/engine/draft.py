"""A return while steps work on it: takes away what operations choose, keeps the laws, remembers what went."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from reducer import marks
from reducer.engine.cut import cut, uncut
from reducer.engine.extract import extracted
from reducer.engine.leaves import LEAVES
from reducer.engine.nested import unwrapped
from reducer.engine.notation import Notation
from reducer.engine.protection import Protection
from reducer.engine.reading import Reading
from reducer.engine.record import NOTHING, Cut, Kept
from reducer.engine.thin import emptied
from reducer.rule import Rule
from reducer.values import MAX_DEPTH, PLAIN, Unreducible, is_media, shown

_SIMPLE = LEAVES | {str, list}
_TEXT = frozenset({str})
_is = operator.is_


class Draft:
    """One return between arrival and result. Made anew for each pass and used by one thread.

    `policies` says for each step which entity types in what it takes away are owed; `reading` is what was
    read in texts, kept from the first pass to the check after it, which else takes as long as the scan itself.
    """

    # fmt: off
    __slots__ = (
        "_depth", "_opened", "_step", "alike", "all_keys", "heads", "lists", "lost", "marked", "notation", "objects",
        "owed_at_all", "policies", "preserved", "protection", "reading", "referred", "repeats", "root", "texts", "traced", "vocabulary",
    )
    # fmt: on

    def __init__(self, root: Any, rule: Rule, reading: Reading, notation: Notation | None = None, protection: Protection | None = None) -> None:
        self.root = root
        # None where all of it is written as JSON, as most returns are: nothing is looked up then.
        self.notation = notation or None
        self.heads = [root]
        self.all_keys = rule.all_keys
        self.policies = rule.policies
        self.traced = rule.traced
        # Where all steps owe the same it does not matter which of them took something first.
        self.alike = len({*rule.policies[1 : -1 if rule.max_chars is None else None]}) == 1
        self.owed_at_all = NOTHING.union(*rule.policies) if rule.traced else NOTHING
        self.lists: dict[int, Kept] = {}
        self.objects: dict[int, tuple[Any, Any, int]] = {}
        self.texts: dict[int, Cut] = {}
        self.lost: tuple[str, ...] = ()
        self.preserved = 0
        self.referred: frozenset[str] = NOTHING
        self.marked = False
        self.repeats = False
        self.protection = protection
        self.reading = reading
        self.vocabulary = rule.vocabulary
        self._step = 0
        self._opened: dict[int, tuple[Any, Any]] = {}
        self._depth = 0

    def start(self, step: int, root: Any) -> None:
        """Begin a step on `root`."""
        self._step = step
        self.continue_with(root)

    def continue_with(self, root: Any) -> None:
        """Go on with the same step on `root`, which it made."""
        self.root = root
        self.heads = [root]

    def opened(self, value: Any) -> Any:
        """Give `value` as it is stored, always as the same object: what did not change is known by that."""
        kind = type(value)
        if kind in PLAIN and kind is not dict:
            return value
        known = self._opened.get(id(value))
        if known is None:
            stored = shown(value)
            if stored is value:
                return value
            known = self._opened[id(value)] = (value, stored)
        return known[1]

    # --- what operations ask for

    def take_items(self, items: Any, indexes: Sequence[int]) -> Any:
        """Keep the items at `indexes`, in order; media always, and of a root list at least one item."""
        opened = self.opened(items)
        if not LEAVES.issuperset(map(type, opened)):
            # Asked in line: a call for each of 200 items costs a third of all that limiting them does.
            media = [i for i, item in enumerate(opened) if (("kind" in item) if type(item) is dict else type(item) not in PLAIN) and is_media(item)]
            if media:
                indexes = sorted({*indexes, *media})
        if not indexes and opened and self._is_root(items):
            indexes = (0,)
        if self.notation is not None:
            indexes = self.notation.enough(items, indexes, len(opened))
        return items if len(indexes) == len(opened) else self.taken(items, indexes)

    def taken(self, items: Any, indexes: Sequence[int], prior: marks.Mark | None = None) -> list[Any]:
        """Make the list of the items at `indexes` and remember which they are."""
        opened = self.opened(items)
        if prior is not None:
            self.alike = False  # what its mark mentions is owed by it alone
        new = [opened[index] for index in indexes]
        parent = self.lists.get(id(items))
        composed = indexes if parent is None else [parent.indexes[index] for index in indexes]
        self.lists[id(new)] = Kept(new, composed, parent.prior if parent else prior, self._step, parent)
        if opened and type(self.opened(opened[0])) is str:
            self.marked = True
        self.stands_for(new, items)
        return new

    def note(self, new: Any, old: Any) -> None:
        """Remember that `new` stands for `old`, key by key or item by item."""
        if type(new) is list:
            kept = self.lists.get(id(old))
            self.lists[id(new)] = Kept(new, kept.indexes if kept else range(len(new)), kept.prior if kept else None, self._step, kept)
        elif self.traced:
            self.objects[id(new)] = (new, old, self._step)
        self.stands_for(new, old)

    def take_keys(self, value: Any, names: Collection[str]) -> Any:
        """Keep the keys in `names` and those of media; at the root, and with `keys: all`, the others with an empty value."""
        opened = self.opened(value)
        if self.all_keys or self._is_root(value):
            new = {key: item if key in names else self._emptied(item) for key, item in opened.items()}
            if all(item is new[key] for key, item in opened.items()):
                return value
        else:
            new = {key: item for key, item in opened.items() if key in names or (type(item) not in _SIMPLE and is_media(item))}
            if len(new) == len(opened):
                return value
        self.note(new, value)
        return new

    def _emptied(self, value: Any) -> Any:
        """Give the empty value of the same type, remembered: what was in it is owed for by this step and no other."""
        left = self.emptied(value)
        if left is value or type(left) is str:
            return left
        if type(left) is list:
            return self.taken(value, ())
        self.note(left, value)
        return left

    def take_keys_of_each(self, items: Any, names: Collection[str]) -> Any:
        """Keep the keys in `names` of each object in a list; the same list if nothing changes."""
        opened = self.opened(items)
        if self.all_keys or self.traced or self.notation is not None or not {dict}.issuperset(map(type, opened)):
            return self.replace(items, lambda item: self.take_keys(item, names) if type(item) is dict and not is_media(item) else item)
        new = []
        for item in opened:
            # Plain objects in one loop: 0.8 µs for twelve keys, half of what a call of `take_keys` takes.
            if "kind" in item or not _TEXT.issuperset(map(type, item)):
                stored = self.opened(item)
                left = stored if is_media(stored) else self.take_keys(stored, names)
                left = item if left is stored else left
            elif item.keys() <= names:
                left = item
            else:
                left = {k: v for k, v in item.items() if k in names or (type(v) not in _SIMPLE and is_media(v))}
                if len(left) == len(item):
                    left = item
            new.append(left)
        if all(map(_is, new, opened)):
            return items
        self.note(new, items)
        return new

    def put(self, value: Any, name: str, item: Any) -> Any:
        """Put `item` in the place of what stands at key `name`."""
        new = {**self.opened(value), name: item}
        self.note(new, value)
        return new

    def replace(self, value: Any, change: Callable[[Any], Any]) -> Any:
        """Put `change` of every value of an object, or of every item of a list, in its place; numbers and the like are not asked about."""
        kind = type(value)
        if kind in LEAVES or kind is str:
            return value
        opened = self.opened(value)
        kind = type(opened)
        if kind not in (dict, list) or is_media(opened):
            return value
        if self._depth >= MAX_DEPTH:
            raise Unreducible(f"deeper than {MAX_DEPTH} levels")
        self._depth += 1
        pairs: Iterable[tuple[Any, Any]] = opened.items() if kind is dict else enumerate(opened)
        new: Any = None
        for key, item in pairs:
            if type(item) in LEAVES:
                continue
            stored = self.opened(item)
            changed = change(stored)
            if changed is not stored:
                if new is None:
                    new = opened.copy()
                new[key] = changed
        self._depth -= 1
        if new is None:
            return value
        self.note(new, value)
        return new

    def cut(self, text: str, head: int, tail: int) -> str:
        """Keep at most `head` characters at the start and `tail` at the end with a mark between; the same text if that would not be shorter."""
        made = self.texts.get(id(text))
        if made is None and marks.read(text, head, tail, self.reading.reads) is not None:
            return text
        new = cut(made or uncut(text, tail, self.reading.reads), head, tail, self.vocabulary.everything)
        return text if new is None else self._noted(text, new)

    def cut_out(self, text: str, mentions: tuple[str, ...], always: frozenset[str]) -> str:
        """Put a mark with `mentions`, entities of the types `always`, in the place of a text; the same text if that would not be shorter."""
        made = self.texts.get(id(text))
        whole = made or uncut(text, 0, self.reading.reads)
        return self._noted(text, Cut(whole.old, (), whole.earlier, always=always), mentions)

    def _noted(self, text: str, cut: Cut, mentions: tuple[str, ...] = ()) -> str:
        new = cut.written((mentions,))
        if len(new) >= len(text):
            return text
        cut.new, cut.step = new, self._step
        self.texts[id(new)] = cut
        self.marked = True
        return new

    def extract(self, value: Any, names: Iterable[str]) -> Any:
        """Keep only what holds entities of the types and groups in `names`; of a text without any a mark, if that is shorter."""
        return extracted(value, self.vocabulary.expand(names), self)

    def unwrap(self, value: Any) -> Any:
        """Let everything in `value` that stood in a text of JSON stand for itself, if that is no longer."""
        return value if self.notation is None else unwrapped(value, self.notation, self.replace, self.note)

    # --- what the engine asks for

    @property
    def is_plain(self) -> bool:
        """Tell whether all that was opened so far is as it is stored, and what is put back is not written in other ways than JSON or with other keys."""
        return not self._opened and self.notation is None and not self.all_keys

    def stands_for(self, new: Any, old: Any) -> None:
        """Hear that `new` stands where `old` stood: it is written alike, and is the root if that was."""
        if self.notation is not None:
            self.notation.inherit(new, old)
        if self._is_root(old):
            self.heads.append(new)

    def emptied(self, value: Any) -> Any:
        """Give the empty value of the same type: of what stood in a text the empty text."""
        left = emptied(value)
        return left if self.notation is None else self.notation.emptied(value, left)

    def _is_root(self, value: Any) -> bool:
        return any(value is head for head in self.heads)
