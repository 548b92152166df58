from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.entities import TYPES, Entity, scan, scanner
from tests.entities.texts import FAMILIES, tempting

find = scanner(frozenset(TYPES))


def check(text: str) -> int:
    """Assert what holds for the entities of any text, and return their number."""
    found = find(text)
    ends: dict[str, int] = {}
    for entity in found:
        assert text[entity.start : entity.end] == entity.value
        assert entity.start >= ends.get(entity.type, 0), "entities of one type overlap"
        ends[entity.type] = entity.end
        assert entity.value == entity.value.strip()
        assert not set("\r\n") & set(entity.value)
        assert ", " not in entity.value
        bounded(text, entity)
        alone(entity)
    assert [e.start for e in found] == sorted(e.start for e in found)
    return len(found)


def alone(entity: Entity) -> None:
    """Assert that the value of an entity, scanned alone, is that entity."""
    same = [e for e in find(entity.value) if e.type == entity.type]
    assert [(e.start, e.end, e.canonical) for e in same] == [(0, len(entity.value), entity.canonical)]


def bounded(text: str, entity: Entity) -> None:
    """Assert that no letter or digit stands beside an entity, other than that of an escape."""
    before, after = text[: entity.start], text[entity.end :]
    assert not re.match("[A-Za-z0-9]", after)
    assert not re.search(r"[A-Za-z0-9]\Z", before) or re.search(r"(?s)\\([nrt]|u.{0,4}|x.{0,2})\Z", before)


@given(tempting)
@example("http://a.co/++")
@example("'.001:[://]?x=1")
@example("wss://a.co")
@example("\\n[.com]co.uk")
@example("CVE-2021-44228\u200b2")
@example("münchen.de")
@example("www..001:[]:///a.php")
@example("\\n-(at)fe80co.uk")
def test_an_entity_reads_alone_as_it_read_in_its_text(text: str) -> None:
    event(f"{min(check(text), 3)} entities")


@given(st.text() | st.text(st.characters(categories=["Cs", "Cc", "Cf", "Po", "Nd", "Zs"])))
def test_any_text_is_read(text: str) -> None:
    check(text)


@given(tempting, st.sets(st.sampled_from(TYPES)))
def test_asking_for_less_gives_a_part_of_all(text: str, types: set[str]) -> None:
    assert scan(text, types) == [e for e in find(text) if e.type in types]


@given(tempting, tempting)
def test_texts_with_blanks_between_read_as_each_for_itself(one: str, two: str) -> None:
    both = [e.value for e in find(f"{one}\n\n{two}")]
    assert both == [e.value for e in find(one)] + [e.value for e in find(two)]


@pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES.keys())
def test_hostile_texts_are_read(make: Callable[[int], str]) -> None:
    """A quadratic finder would need minutes for one of these."""
    assert len(find(make(60_000))) <= 60_000
