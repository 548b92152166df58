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

    `seen` gives, by the id of a part that needs no look, the content with which it was seen. An id leaves with its part, before another
    object can take it. Each step is one operation on a dict, so that threads need no lock; at worst two of them reduce one part.
    """

    __slots__ = ("_alive", "_instead", "seen")

    def __init__(self) -> None:
        self.seen: dict[int, Any] = {}
        self._instead: dict[int, tuple[Any, T]] = {}
        self._alive: dict[int, ref[T]] = {}

    def note(self, part: T, new: T) -> None:
        """Note that `new` stands for `part`, which may be the same."""
        self.seen[self._watch(new)] = new.content
        if new is not part:
            self._instead[self._watch(part)] = (part.content, new)

    def instead(self, part: T) -> T | None:
        """Give what stands for a part with its content; None when that is not known."""
        content, new = self._instead.get(id(part), (None, None))
        return new if content is part.content else None

    def _watch(self, part: T) -> int:
        key = id(part)
        self._alive[key] = ref(part, partial(self._forget, key))
        return key

    def _forget(self, key: int, _: object) -> None:
        self.seen.pop(key, None)
        self._instead.pop(key, None)
        self._alive.pop(key, None)
