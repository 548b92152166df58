"""Every row of the tables of evidence decides its own example, and an entity says what shows it."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from reducer.entities import evidence, scan
from reducer.entities.evidence import CUES, NAMES, TAILS, UNCLEAR, VERSIONS, Row


def table_rows() -> Iterator[tuple[str, Row]]:
    """Yield each row with the name of its table."""
    for name, rows in (("TAILS", TAILS), ("NAMES", NAMES), ("UNCLEAR", UNCLEAR), ("VERSIONS", VERSIONS)):
        yield from ((name, row) for row in rows)
    for kind, rows in CUES.items():
        yield from ((kind, row) for row in rows)


def hosts(text: str) -> list[str]:
    """Return the addresses and domains of a text, without those that an example has beside its host."""
    evidence.points.cache_clear()
    longer = f"{text}\n{' ' * 300}"  # the entities of short texts are cached
    return [entity.canonical for entity in scan(longer, ["ipv4", "domain"]) if entity.canonical != "evil.com"]


@pytest.mark.parametrize(("name", "row"), [pytest.param(*each, id=each[1].shows) for each in table_rows()])
def test_each_row_decides_its_example(name: str, row: Row) -> None:
    """What is found with its points is not found without them, or the other way round."""
    without = row._replace(points=0)
    found = hosts(row.example)
    if name in CUES:
        cues = {kind: tuple(without if each is row else each for each in rows) for kind, rows in CUES.items()}
        change = patch.object(evidence, "CUES", cues)
    else:
        rows = tuple(without if each is row else each for each in getattr(evidence, name))
        change = patch.object(evidence, name, rows)
    with change:
        assert len(hosts(row.example)) == 1 - len(found)
    evidence.points.cache_clear()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("we saw evil[.]shop", "defanged"),
        ("x = evil.com(y)", "name"),
        ('content:"evil.shop"; nocase;', "alone"),
        ("| evil.shop |", "alone"),
        ("C2 is evil.shop today", "host"),
        ("we saw evil.shop today", "prose"),
        ("f(x, evil.ru x)", "code"),
        ("we saw 45.1.2[.]3", "defanged"),
        ("we saw 45.1.2.3", ""),
        ("we saw hxxp://evil[.]com/a", "defanged"),
    ],
)
def test_an_entity_says_what_shows_it(text: str, shown: str) -> None:
    assert [entity.evidence for entity in scan(text, ["ioc"])] == [shown]
