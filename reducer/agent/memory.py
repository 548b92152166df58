"""What was looked at already, by identity: parts of messages cannot be hashed, and equal ones need not be the same."""

from __future__ import annotations

from functools import partial
from typing import Any, Generic, Protocol, TypeVar
from weakref import ref


class Holder(Protocol):
    """Anything with a content."""

    @property
    def content(self) -> Any: ...


T = TypeVar("T", bound=Holder)


class Memory(Generic[T]):
    """The parts that need no look, and what stands for those that were reduced; it holds none of them alive and forgets those that die.

    `seen` are the ids of the parts that need no look: they are as the model was sent them. An id leaves with its part, before another
    object can take it. Each step is one operation on a set or dict, so that threads need no lock; at worst two of them reduce one part.
    """

    __slots__ = ("_alive", "_instead", "seen")

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self._instead: dict[int, tuple[Any, T]] = {}
        self._alive: dict[int, ref[T]] = {}

    def note(self, part: T, new: T) -> None:
        """Note that `new` stands for `part`, which may be the same."""
        self.seen.add(self._watch(new))
        if new is not part:
            self._instead[self._watch(part)] = (part.content, new)

    def instead(self, part: T) -> T | None:
        """Give what stands for a part with this content; None when that is not known, as for one whose content was replaced since."""
        content, new = self._instead.get(id(part), (None, None))
        return new if content is part.content else None

    def _watch(self, part: T) -> int:
        key = id(part)
        self._alive[key] = ref(part, partial(self._forget, key))
        return key

    def _forget(self, key: int, _: object) -> None:
        self.seen.discard(key)
        self._instead.pop(key, None)
        self._alive.pop(key, None)
