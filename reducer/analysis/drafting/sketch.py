"""What a draft may remove of answers, whatever it saves: keys that say nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reducer.analysis.drafting.fields import (
    NEVER_COUNTED,
    Field,
    copies,
    fields,
    reason_of_value,
)
from reducer.analysis.drafting.profiles import Path, Profile, profile
from reducer.analysis.texts import entities, opened
from reducer.entities import scan
from reducer.formats import read_as, unwrapped
from reducer.paths.written import path_text

Entities = Set[tuple[str, str]]
LITTLE = 0.01
"""A place with a smaller share of the characters is not worth a step."""


@dataclass(frozen=True)
class Sketch:
    """What a draft needs to know of answers.

    notation: the notation of answers that are plain texts
    find: returns the values of a content that later messages of the agent mention
    """

    answers: Sequence[Any]
    notation: str
    find: Callable[[Any], Set[str]]

    @cached_property
    def root(self) -> Profile:
        """The profile of the answers."""
        if not self.notation:
            return profile(self.answers)
        found = []
        for answer in self.answers:
            one = read_as(unwrapped(answer), [self.notation])
            if one is not None:
                found.append(one[0])
        return profile(found)

    @cached_property
    def fields(self) -> Mapping[Path, Field]:
        """The fields that a step can name."""
        return fields(self.root)

    def is_little(self, size: int) -> bool:
        """Return whether a number of characters is not worth a step."""
        return size < LITTLE * self.root.chars

    @cached_property
    def _copies(self) -> Mapping[Path, Path]:
        return copies(self.root)

    @cached_property
    def used(self) -> Set[Path]:
        """The fields with values that the agent used later."""
        found = set()
        for path, field in self.fields.items():
            if self.find(field.place.scalars):
                found.add(path)
        return found

    @cached_property
    def redundant(self) -> Mapping[Path, str]:
        """The places that say nothing, each with the reason."""
        found = {}
        for path, original in self._copies.items():
            if path not in self.used:
                found[path] = f"copy of `{path_text(original)}`"
        for path, field in self.fields.items():
            reason = reason_of_value(field)
            is_needed = path in self.used or path in self._copies.values()
            if not is_needed:
                reason = reason or self._reason(field)
            if reason and path not in self.used:
                found.setdefault(path, reason)
        return found

    def _reason(self, field: Field) -> str:
        """Return the reason that follows from the values beside a field, or an empty text."""
        is_redundant = field.is_constant and not self._holds_alone(field)
        return "equal in all items" if is_redundant else ""

    @cached_property
    def _holders(self) -> Counter[tuple[str, str]]:
        """The number of fields that contain each entity."""
        holders = Counter[tuple[str, str]]()
        for field in self.fields.values():
            if reason_of_value(field) not in NEVER_COUNTED:
                holders.update(field.place.entities)
        return holders

    def _holds_alone(self, field: Field) -> bool:
        """Return whether a field contains entities that no other field contains."""
        return any(self._holders[one] < 2 for one in field.place.entities)

    @cached_property
    def uncounted(self) -> Entities:
        """The entities that only links of an API, pictures, encoded bytes and fingerprints of files contain."""
        program = set[tuple[str, str]]()
        for path, reason in self.redundant.items():
            if reason in NEVER_COUNTED:
                program |= self.fields[path].place.entities
        return program - self._holders.keys()

    @cached_property
    def found(self) -> Sequence[Entities]:
        """The entities of each answer."""
        return [*map(found_in, self.answers)]


def found_in(content: Any) -> Entities:
    """Return the type and canonical value of each entity in a content."""
    return entities(opened(content), scan).keys()
