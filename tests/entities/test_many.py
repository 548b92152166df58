"""Many texts at once: each is read as it is alone, whatever stands before and behind it."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import event, example
from hypothesis import given as over
from hypothesis import strategies as st

from reducer.entities import GROUPS, TYPES, scanner, search
from reducer.entities.search import compiled_for_many
from tests.entities.texts import TEXTS, tempting
from tests.laws.strategies import ENTITIES, WORDS

KINDS = (
    *(frozenset((kind,)) for kind in TYPES),
    *map(frozenset, GROUPS.values()),
    frozenset((*GROUPS["ioc"], "cve", "threat_actor")),
    frozenset(("threat_actor", "malware")),
    frozenset(("mitre_attack", "sha256")),
    frozenset(TYPES),
)
# What would be read otherwise with something else next to it than the end of a text.
OPEN = TEXTS["ends"]
hostile = st.sampled_from(OPEN)
joined = st.lists(hostile, max_size=3).map("".join)
some = st.lists(
    st.one_of(tempting, hostile, joined, st.text(max_size=40), st.sampled_from((*ENTITIES, *WORDS))), max_size=16
)


def check(given: list[str], types: frozenset[str]) -> int:
    """Assert that each text is read as it is alone, and return how many hold something."""
    scan = scanner(types)
    alone = {text: list(found) for text in given if (found := scan(text))}
    assert compiled_for_many(types)(given) == alone
    return len(alone)


@over(some, st.sampled_from(KINDS))
@example([before + after for before in OPEN for after in OPEN], KINDS[-1])
@example([*OPEN, *reversed(OPEN), *OPEN[::3], *OPEN[1::3], *OPEN[::7]], KINDS[-1])
@example(["." * 290 + "evil.com", "x " * 100 + "1.2.3.4", "a" * 256, "evil.com"], KINDS[-1])
def test_each_is_read_as_it_is_alone(given: list[str], types: frozenset[str]) -> None:
    event(f"{min(check(given, types), 5)} texts hold something")


@over(
    st.lists(st.tuples(st.one_of(tempting, joined), st.integers(1, 40), st.one_of(tempting, hostile)), max_size=5),
    st.sampled_from(KINDS),
)
@example([("evil.com ", 10_000, ""), ("x", 1, "APT28"), ("é 1.2.3.4 ", 9_000, ""), ("T1059 ", 1, "ü.de")], KINDS[-1])
def test_long_texts_are_read_as_they_are_alone(given: list[tuple[str, int, str]], types: frozenset[str]) -> None:
    long = [piece * times + end for piece, times, end in given]
    check([*long, "x evil.com", *long], types)


@over(some, st.sampled_from(KINDS), st.integers(1, 200))
@example(["evil.com", "x" * 300, "", "1.2.3.4", "é APT28", "y" * 8], KINDS[-1], 8)
@example(["evil.com"] * 3 + ["", ""] + ["ü"] * 3, KINDS[-1], 1)
def test_how_many_are_read_at_once_changes_nothing(given: list[str], types: frozenset[str], size: int) -> None:
    with patch.object(search, "_JOINED_CHARS", size):
        check(given, types)


def test_texts_without_entities_are_left_out() -> None:
    assert compiled_for_many(KINDS[-1])([]) == {}
    assert compiled_for_many(frozenset())(["evil.com", "APT28"]) == {}
    assert compiled_for_many(KINDS[-1])(["info", "2024-05-01T10:44:22.123Z", "version 4.2 of it", "7"]) == {}
