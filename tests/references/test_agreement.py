"""References: the same as the reference definition finds, on all real histories."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

from reducer.histories.stored import events
from reducer.references import references, searched, searcher


def _histories(data: Path) -> list[tuple[str, Any]]:
    return [
        (str(file.relative_to(data)), json.loads(file.read_bytes())) for file in sorted(data.glob("histories/*/*.json"))
    ]


def test_references_are_those_of_the_definition(data: Path, definition: ModuleType) -> None:
    found = 0
    for name, messages in _histories(data):
        history = definition.Hist(messages)
        number = {place: count for count, place in enumerate(history.returns)}
        expected = {
            (value, history.parts[place][0], kind, tuple(number[source] for source in sources), novel)
            for value, place, kind, sources, novel in definition.references(history)
        }
        placed = events(json.dumps(messages).encode())
        own = references([place.event for place in placed])
        kinds = {"text": "text", "arguments": "args"}
        assert {
            (ref.value, placed[ref.event].key[0], kinds[ref.kind], ref.sources, ref.novel) for ref in own
        } == expected, name
        assert len(own) == len(expected), name
        found += len(own)
    assert found > 1000


def test_values_are_kept_where_the_definition_says_so(data: Path, definition: ModuleType) -> None:
    kept = lost = 0
    for name, messages in _histories(data):
        contents = [
            part["content"] for message in messages for part in message["parts"] if part["part_kind"] == "tool-return"
        ]
        short = iter([definition.trunc(2000)(content) for content in contents])
        reduced = [
            {
                **message,
                "parts": [
                    {**part, "content": next(short)} if part["part_kind"] == "tool-return" else part
                    for part in message["parts"]
                ],
            }
            for message in messages
        ]
        expected = definition.evaluate(messages, reduced)["counts"]
        own = [ref for ref in references([place.event for place in events(json.dumps(messages).encode())]) if ref.novel]
        cut = [searched(definition.trunc(2000)(content)) for content in contents]
        still = sum(any(searcher([ref.value])(cut[source]) for source in ref.sources) for ref in own)
        assert (len(own), still) == (expected.get("novel", 0), expected.get("novel_kept", 0)), name
        kept, lost = kept + still, lost + len(own) - still
    assert kept
    assert lost
