"""What is scanned before texts are cut."""

from __future__ import annotations

import pytest

from reducer.entities import Entity
from reducer.entities.vocabulary import BUILT_IN
from reducer.plan.cuts import Cut, scanned_to_shorten, shortened


@pytest.mark.parametrize(("head", "tail"), [(50, 0), (30, 20), (0, 50)])
@pytest.mark.parametrize("text", ["9f" * 32 * 200, "/var/log/" * 30, "a long text " * 30, "größer" * 2000])
def test_parts_that_can_be_scanned_in_advance(text: str, head: int, tail: int) -> None:
    scanned = []

    def scan(part: str) -> tuple[Entity, ...]:
        scanned.append(part)
        return tuple(BUILT_IN.everything()(part))

    shortened(Cut(text, ((0, len(text)),)), head, tail, scan)
    assert scanned == scanned_to_shorten(text, head, tail)
