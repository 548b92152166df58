"""The laws of entities: each is bounded and reads alike alone, and many texts at once read as one after the other."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from unittest.mock import patch

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.entities import GROUPS, TYPES, defang, names, refang, scan, scanner, search
from reducer.entities.entity import Scan, under_key
from reducer.entities.search import compiled_for_many
from tests.entities.texts import FAMILIES, TEXTS, observable, tempting
from tests.laws.strategies import ENTITIES, WORDS

find = scanner(frozenset(TYPES))
observe = scanner(frozenset(GROUPS["observable"]))


def check(text: str, find: Scan = find) -> int:
    """Assert what holds for the entities of any text, and return their number."""
    found = find(text)
    ends: dict[str, int] = {}
    for entity in found:
        assert text[entity.start : entity.end] == entity.value
        assert entity.start >= ends.get(entity.type, 0), "entities of one type overlap"
        ends[entity.type] = entity.end
        assert entity.value == entity.value.strip()
        assert not set("\r\n") & set(entity.value)
        assert ", " not in entity.value or entity.type == "user_agent"
        # No letter or digit stands beside an entity, other than that of an escape.
        before, after = text[: entity.start], text[entity.end :]
        assert not re.match("[A-Za-z0-9]", after)
        assert not re.search(r"[A-Za-z0-9]\Z", before) or re.search(r"(?s)\\([nrt]|u.{0,4}|x.{0,2})\Z", before)
        # Its value, scanned as a mention in a marker, is that entity.
        same = [e for e in under_key(find, "mentions", entity.value) if e.type == entity.type]
        assert [(e.start, e.end, e.canonical) for e in same] == [(0, len(entity.value), entity.canonical)]
    assert [e.start for e in found] == sorted(e.start for e in found)
    return len(found)


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


@given(observable)
@example("\\n0x52908400098527886E0F7030069857D2E4169EE7")
def test_an_observable_reads_alone_as_it_read_in_its_text(text: str) -> None:
    event(f"{min(check(text, observe), 3)} entities")


@given(st.text() | st.text(st.characters(categories=["Cs", "Cc", "Cf", "Po", "Nd", "Zs"])))
def test_any_text_is_read(text: str) -> None:
    check(text)
    check(text, observe)


@given(tempting, st.sets(st.sampled_from(TYPES)))
def test_asking_for_less_gives_a_part_of_all(text: str, types: set[str]) -> None:
    assert scan(text, types) == [e for e in find(text) if e.type in types]


@pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES.keys())
def test_hostile_texts_are_read(make: Callable[[int], str]) -> None:
    """A quadratic finder would need minutes for one of these."""
    assert len(find(make(15_000))) <= 15_000
    assert len(observe(make(15_000))) <= 15_000


# --- defanged

HOSTS = ("ipv4", "ipv6", "domain", "url", "email")


@given(tempting)
@example("evil[.com][.com]")
@example("evil[.com] [.] com")
@example(r"evil[.com]\.com")
@example("evil[.com].]com")
@example(r"\\::1")
@example("::1.com")
@example("http://a.co/1,1.2.3.4 or")
@example("http://a.co(at)xn--p1ai")
def test_to_defang_and_to_refang_twice_is_to_do_it_once(text: str) -> None:
    assert defang(defang(text)) == defang(text)
    assert refang(refang(text)) == refang(text)


@given(st.lists(st.sampled_from((*ENTITIES, *WORDS))).map(" ".join))
@example("C2: HTTPS://User:Pw@Evil.com:443/a.php?x=b.c")
@example("2001:db8::1, ::ffff:203.0.113.7, [2001:db8::1]:443")
@example("bob.s@evil.co.uk and bob[@]evil[.]com")
@example("例え.jp http://例え.テスト/ münchen.de")
@example(r"\u0440aypal.com evil(dot)com h**ps://evil.com hxxps ://a.com http[s]://a.com")
@example("file.name, f.g(x), 10.2.9")
def test_what_is_defanged_reads_as_before_and_is_refanged(text: str) -> None:
    hidden = defang(text)
    assert refang(hidden) == refang(text)
    found = [(e.type, e.canonical) for e in scan(text, HOSTS)]
    assert [(e.type, e.canonical) for e in scan(hidden, HOSTS)] == found
    event(f"{min(len(found), 3)} entities")


@pytest.mark.parametrize(
    ("plain", "hidden"),
    [
        ("https://evil.com/a.php", "hxxps://evil[.]com/a.php"),
        ("HTTP://u:p.w@Evil.com:8080/A.b", "HXXP://u:p.w@Evil[.]com:8080/A.b"),
        ("ldap://evil.com", "ldap://evil[.]com"),
        ("203.0.113.7", "203[.]0[.]113[.]7"),
        ("2001:db8::1", "2001[:]db8[:][:]1"),
        ("::1", ":[:]1"),
        ("bob.s@evil.co.uk", "bob.s[@]evil[.]co[.]uk"),
        ("例え.jp", "例え[.]jp"),
        ("main.rs, f.g(x), CVE-2024-3400", "main.rs, f.g(x), CVE-2024-3400"),
    ],
)
def test_an_entity_is_defanged_and_refanged(plain: str, hidden: str) -> None:
    assert defang(f"see {plain} now") == f"see {hidden} now"
    assert refang(f"see {hidden} now") == f"see {plain} now"


# --- many texts at once

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
long = st.builds(
    lambda piece, times, end: piece * times + end, st.one_of(tempting, joined), st.integers(1, 40), tempting
)
some = st.lists(
    st.one_of(tempting, hostile, joined, long, st.text(max_size=40), st.sampled_from((*ENTITIES, *WORDS))), max_size=16
)


@given(some, st.sampled_from(KINDS), st.one_of(st.integers(1, 200), st.just(1 << 16)))
@example([before + after for before in OPEN for after in OPEN], KINDS[-1], 1 << 16)
@example([*OPEN, *reversed(OPEN), *OPEN[::3], *OPEN[1::3], *OPEN[::7]], KINDS[-1], 1 << 16)
@example(["." * 290 + "evil.com", "x " * 100 + "1.2.3.4", "a" * 256, "evil.com"], KINDS[-1], 1 << 16)
@example(["evil.com", "x" * 300, "", "1.2.3.4", "é APT28", "y" * 8], KINDS[-1], 8)
@example(["evil.com"] * 3 + ["", ""] + ["ü"] * 3, KINDS[-1], 1)
@example(["info", "2024-05-01T10:44:22.123Z", "version 4.2 of it", "7"], KINDS[-1], 1)
@example([r"caf\u00e9.net", r"\ud835", r"\udc1evil.com", "ü.de", r"x\u000ay APT28", "evil.com"], KINDS[-1], 1 << 16)
@example(["evil.com " * 10_000, "xAPT28", "é 1.2.3.4 " * 9_000, "x evil.com", "T1059 ü.de"] * 2, KINDS[-1], 1 << 16)
def test_each_of_many_is_read_as_it_is_alone(texts: list[str], types: frozenset[str], size: int) -> None:
    scan = scanner(types)
    expected = {text: tuple(found) for text in texts if (found := scan(text))}
    event(f"{min(len(expected), 5)} texts hold something")
    with patch.object(search, "_JOINED_CHARS", size):
        assert compiled_for_many(types)(texts) == expected


# --- dense texts


@given(st.lists(tempting, max_size=30).map(" ".join), st.integers(1, 99))
@example("x Fancy Bear, Play and Medusa; TA505, APT 28 used Cobalt Strike\n" * 4, 7)
def test_a_text_that_is_searched_part_by_part_has_the_same_names(text: str, size: int) -> None:
    kinds = ["threat_actor", "malware", "tool"]
    text += " " * 300  # longer texts are not cached
    expected = scan(text, kinds)
    event(f"{min(len(expected), 3)} names")
    with patch.object(names, "_PART", size):
        assert scan(text, kinds) == expected


@pytest.mark.parametrize("piece", ["x.co ", "x[.]co ", "a@b[.]co ", "1.1.1.1 ", "::1 ", "TA505 ", "APT 28 ", "t1059 "])
def test_a_dense_text_needs_less_than_50_bytes_per_character(piece: str) -> None:
    """10 MB need less than 500 MB. A first scan loads the lists."""
    text = piece * 4000
    find(piece)
    with patch.object(names, "_PART", 1000):
        tracemalloc.start()
        found = find(text)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert len(found) == 4000
    assert peak < 50 * len(text)


# --- adjacent URLs


@pytest.mark.parametrize("filler", ["x", "(a)", ",a", "+", "_", "%20", "[a]=", "'a'", ".x"])
@pytest.mark.parametrize("end", ["", ",", ",http://b.co", "')", "&lt;", ")", "**", "[b", ";", "'"])
def test_a_path_ends_alike_however_long_it_is(filler: str, end: str) -> None:
    def read(path: str) -> list[str]:
        return [e.value for e in scan(f"http://a.co/{path}{end} x", ["url"])]

    # The same with a path so brief that it is read at once, and then drawn out.
    brief = read(filler * 3)
    for length in (400, 431, 432, 433, 500, 511, 512, 513, 600, 2000, 2048, 5000):
        path = filler * (length // len(filler))
        assert read(path) == [value.replace(filler * 3, path, 1) for value in brief], length
