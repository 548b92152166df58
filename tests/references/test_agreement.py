"""References: the same as the reference definition finds, on all real histories."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

from reducer.histories.stored import events
from reducer.references import references

KINDS = {"text": "text", "arguments": "args"}


def test_references_are_those_of_the_definition(data: Path, definition: ModuleType) -> None:
    found = 0
    for file in sorted(data.glob("histories/*/*.json")):
        history = definition.Hist(json.loads(file.read_bytes()))
        number = {place: count for count, place in enumerate(history.returns)}
        expected = {
            (value, history.parts[place][0], kind, tuple(number[source] for source in sources), novel)
            for value, place, kind, sources, novel in definition.references(history)
        }
        placed = events(file.read_bytes())
        own = references([place.event for place in placed])
        assert {
            (ref.value, placed[ref.event].key[0], KINDS[ref.kind], ref.sources, ref.novel) for ref in own
        } == expected, file.name
        assert len(own) == len(expected), file.name
        found += len(own)
    assert found > 1000
