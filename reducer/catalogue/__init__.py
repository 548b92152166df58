"""Every kind of mistake that can be found in rule files, with its code: `E` for errors, `W` for warnings."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from reducer.catalogue import doubts, expressions, keys, rules, texts
from reducer.catalogue.entry import Entry, files

__all__ = ["CATALOGUE", "Entry", "files"]

CATALOGUE: Mapping[str, Entry] = MappingProxyType(
    {entry.code: entry for entry in (*texts.ENTRIES, *keys.ENTRIES, *expressions.ENTRIES, *rules.ENTRIES, *doubts.ENTRIES)}
)
"""Every entry by its code. A code keeps its meaning; new ones are added."""
