from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.entities import TYPES, Entity, scan, scanner
from tests.entities.texts import FAMILIES, tempting
from tests.helpers import texts

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
    whole = [e for e in find(entity.value) if (e.start, e.end) == (0, len(entity.value))]
    assert [(e.type, e.canonical) for e in whole] == [(entity.type, entity.canonical)]
    assert [e for e in find(entity.value) if e.type == entity.type] == whole


def bounded(text: str, entity: Entity) -> None:
    before, after = text[: entity.start], text[entity.end :]
    assert not (after[:1].isascii() and after[:1].isalnum())
    assert (
        not (before[-1:].isascii() and before[-1:].isalnum())
        or before.endswith(("\\n", "\\r", "\\t"))
        or "\\u" in before[-6:]
        or "\\x" in before[-4:]
    )


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


@pytest.mark.data
def test_the_laws_hold_on_real_texts(data: Path) -> None:
    count = 0
    for line in (data / "entities" / "labelled.jsonl").open(encoding="utf-8"):
        count += check(json.loads(line)["text"])
    for path in sorted((data / "tool_outputs").glob("*.json"))[::9]:
        count += sum(check(text) for text in set(texts(json.loads(path.read_text(encoding="utf-8")))))
    assert count > 5000
