"""Entity types that rule files define: what they find, and what `preserve` does with them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer.engine import prepare, reduce_content
from reducer.entities import TYPES, scanner
from reducer.entities.entity import MAX_CHARS
from reducer.entities.patterns import PatternError, compile_pattern, finder
from reducer.entities.vocabulary import BUILT_IN, Vocabulary
from reducer.entities.words import MAX_WORDS
from reducer.entities.words import finder as word_finder
from reducer.rules import Ruleset, compile_rules

RULE = "version: 1\ntool: t\nmax_chars: 900\n"


def rules(text: str, *more: str) -> Ruleset:
    ruleset, found = compile_rules((f"r{number}.yaml", body) for number, body in enumerate((text, *more)))
    assert ruleset is not None, [str(problem) for problem in found]
    prepare(ruleset)
    return ruleset


def vocabulary(entities: str) -> Vocabulary:
    return rules(f"{RULE}entities:\n  {entities}\n").rules[0].vocabulary


def values(entities: str, text: str) -> list[tuple[str, str]]:
    known = vocabulary(entities)
    return [(entity.type, entity.value) for entity in known.scanner(frozenset(known.custom))(text)]


# --- what they find


@pytest.mark.parametrize(
    ("entities", "text", "found"),
    [
        (r"ticket: {pattern: 'INC-\d{6}'}", "see INC-123456, INC-12345 and INC-1234567", ["INC-123456"]),
        (r"ticket: {pattern: 'INC-\d{6}'}", "größer 🙂 INC-123456\n\ud800 (INC-000001)", ["INC-123456", "INC-000001"]),
        (r"ticket: {pattern: 'INC-\d{6}'}", r"\nINC-123456 but xINC-123456 äINC-123456", ["INC-123456"]),
        (r"ticket: {pattern: 'INC-\d{6}'}", "inc-123456", []),
        (r"ticket: {pattern: '(?i)INC-\d{6}'}", "inc-123456", ["inc-123456"]),
        (r"ticket: {pattern: ['INC-\d{6}', 'CHG\d+']}", "CHG7 INC-123456", ["CHG7", "INC-123456"]),
        (r"ticket: {pattern: '(?:ticket )?(INC-\d{6})'}", "ticket INC-123456 closed", ["INC-123456"]),
        (r"user: {pattern: '(?:^|user=)(\w+)'}", "login by user=bob now", ["login", "bob"]),
        (r"ticket: {pattern: '\s?INC-\d{6}\s?'}", "a INC-123456 b", ["INC-123456"]),
        ("list: {pattern: 'list: [a-z, ]+'}", "list: a, b", []),  # a mark could not tell it from two values
        ("lines: {pattern: 'begin[^.]*end'}", "begin a\nend; begin a end\nx end", ["begin a end"]),
        (r"long: {pattern: 'x\w+'}", "x" + "a" * MAX_CHARS, []),
        (r"long: {pattern: 'x\w+'}", "- " * 3000 + "x" + "a" * (MAX_CHARS - 1), ["x" + "a" * (MAX_CHARS - 1)]),
        (
            "jewel: {words: [web01, crown jewel]}",
            "WEB01 guards the Crown Jewel; web011 and web01_x do not",
            ["WEB01", "Crown Jewel"],
        ),
        ("jewel: {words: [Web01], case_sensitive: true}", "Web01 web01 WEB01", ["Web01"]),
        ("jewel: {words: [Müller GmbH]}", "der müller gmbh, Möller GmbH", ["müller gmbh"]),
        ("jewel: {words: [alpha, alpha beta]}", "alpha betas, alpha beta", ["alpha", "alpha beta"]),
        ("jewel: {words: [beta, alpha beta]}", "alpha beta", ["alpha beta"]),
        ("jewel: {words: [C++, .NET]}", "C++ and .NET, not C++11", ["C++", ".NET"]),
        (r"jewel: {words: [web01], pattern: 'web01\.\w+'}", "web01.corp and web01", ["web01.corp", "web01"]),
        ("jewel: {words: [web01, web02], ignore: [WEB02]}", "web01 web02", ["web01"]),
    ],
)
def test_what_own_types_find(entities: str, text: str, found: list[str]) -> None:
    assert [value for _, value in values(entities, text)] == found


def test_positions_types_and_canonical_values() -> None:
    known = vocabulary(r"{ticket: {pattern: 'INC-\d{6}'}, jewel: {words: [Web01]}}")
    text = "🙂 web01 at 192.0.2.7 has INC-123456"
    found = known.scanner(known.expand(["ticket", "jewel", "ip"]))(text)
    assert [tuple(entity) for entity in found] == [
        ("jewel", "web01", "Web01", 2, 7),
        ("ipv4", "192.0.2.7", "192.0.2.7", 11, 20),
        ("ticket", "INC-123456", "INC-123456", 25, 35),
    ]
    assert all(text[entity.start : entity.end] == entity.value for entity in found)


def test_groups_and_own_types_expand_and_unknown_ones_raise() -> None:
    known = vocabulary("jewel: {words: [web01]}")
    assert known.expand(["ip", "jewel"]) == {"ipv4", "ipv6", "jewel"}
    with pytest.raises(KeyError, match="ticket"):
        known.expand(["jewel", "ticket"])
    with pytest.raises(KeyError, match="jewel"):
        BUILT_IN.expand(["jewel"])


def test_the_scanner_of_built_in_types_is_the_very_same_where_nothing_of_ones_own_is_asked_for() -> None:
    types = frozenset({"cve", "ipv4"})
    assert BUILT_IN.scanner(types) is scanner(types)
    assert vocabulary("{jewel: {words: [web01]}, domain: {ignore: [example.org]}}").scanner(types) is scanner(types)


@pytest.mark.parametrize(
    ("entities", "text", "left"),
    [
        (
            "domain: {ignore: [github.com]}",
            "github.com, api.github.com, notgithub.com, Evil-Host.com",
            ["notgithub.com", "Evil-Host.com"],
        ),
        (
            "domain: {ignore: ['*.GitHub.com', onion]}",
            "GITHUB[.]com and abcdefghij234567.onion, evil-host.com",
            ["evil-host.com"],
        ),
        (
            "domain: {ignore: [github.com]}",
            "https://github.com/a and a@github.com",
            ["https://github.com/a", "a@github.com"],
        ),
        ("ipv4: {ignore: [127.0.0.1]}", "host 127[.]0.0.1 and 192.0.2.7", ["192.0.2.7"]),
        ("threat_actor: {ignore: [Fancy Bear]}", "APT28, fancy bear, Turla", ["APT28", "Turla"]),
    ],
)
def test_ignored_values_are_no_entities(entities: str, text: str, left: list[str]) -> None:
    assert [entity.value for entity in vocabulary(entities).scanner(frozenset(TYPES))(text)] == left


KNOWN = vocabulary(
    r"{ticket: {pattern: ['INC-\d+', '(?:^|key=)([a-z]+)', 'x.*y|x1']}, jewel: {words: [ab, a b, abc, web-01, Größe]}, domain: {ignore: [b.com]}}"
)
_PIECES = [
    "INC-1",
    "7",
    "key=",
    "abc",
    "x1",
    "x",
    "y",
    "web-01",
    "größe",
    "a b",
    "b.com",
    ", ",
    "\n",
    "\\n",
    "]",
    "…[",
    "🙂",
    " ",
]
_pieces = st.lists(st.sampled_from([*_PIECES, "\ud800"]))


@given(_pieces.map("".join), st.sets(st.sampled_from(("ticket", "jewel", "domain"))))
@example("x" + "a" * 2000 + "y", {"ticket"})
@example("key=abc", {"ticket"})
def test_laws_of_values(text: str, types: set[str]) -> None:
    scan = KNOWN.scanner(frozenset(types))
    found = scan(text)
    assert list(found) == sorted(found, key=lambda entity: entity.start)
    for entity in found:
        assert entity.type in types
        assert text[entity.start : entity.end] == entity.value == entity.value.strip()
        assert ", " not in entity.value
        assert len(entity.value.splitlines()) == 1
        alone = [other for other in scan(entity.value) if other.type == entity.type]
        assert [(other.value, other.start) for other in alone] == [(entity.value, 0)]


def test_windows_hide_nothing() -> None:
    pattern = compile_pattern(r"INC-\d{1,200}\b")
    find = finder([("ticket", pattern)])
    for lead in range(0, 2100, 7):
        text = "." * lead + "INC-" + "5" * 200 + "." * 1500
        assert [entity.start for entity in find(text, text.encode())] == [lead]


def test_many_patterns_are_the_same_as_each_alone() -> None:
    patterns = [(f"t{number}", compile_pattern(rf"K{number}-\d+")) for number in range(20)]
    text = "K3-12 and K17-1, K3-9, K30-1"
    together = finder(patterns)(text, text.encode())
    alone = [entity for pattern in patterns for entity in finder([pattern])(text, text.encode())]
    assert together == alone
    assert [entity.value for entity in together] == ["K3-12", "K3-9", "K17-1"]
    assert finder(patterns)("nothing", b"nothing") == []


def test_a_list_as_large_as_may_be_in_which_words_begin_with_others_is_read() -> None:
    """Without the decoy it would take more than a minute."""
    find = word_finder("host", [f"host{number}" for number in range(MAX_WORDS)], False)
    text = "HOST1, host199999; host200000 and host12x"
    assert [(entity.value, entity.canonical) for entity in find(text, text.encode())] == [
        ("HOST1", "host1"),
        ("host199999", "host199999"),
    ]


def test_the_decoy_is_no_word() -> None:
    text = "\x00" * 20_000 + " ab"
    assert [entity.value for entity in word_finder("x", ["ab"], True)(text, text.encode())] == ["ab"]


# --- what rules do with them


def test_preserve_keeps_own_entities_as_written() -> None:
    ruleset = rules(
        r"""
version: 1
tool: t
entities: {ticket: {pattern: 'INC-\d{6}'}, jewel: {words: [Crown Jewel]}}
steps:
  - path: items
    limit: 1
  - path: text
    truncate: 20
preserve: [ticket, jewel]
"""
    )
    content = {
        "items": ["a", "b" * 80, "INC-123456 " + "c" * 80],
        "text": "d" * 30 + " x" * 40 + " on the crown jewel " + "e" * 40,
    }
    result = reduce_content(ruleset, "t", content)
    assert result["items"] == ["a", "…[2 more items; mentions INC-123456]"]
    assert "mentions crown jewel]" in result["text"]
    assert reduce_content(ruleset, "t", result) is result
    without = rules("version: 1\ntool: t\nsteps: [{path: items, limit: 1}]\npreserve: [ip]\n")
    assert reduce_content(without, "t", content)["items"] == ["a"]


def test_no_cut_leaves_half_of_an_own_entity() -> None:
    ruleset = rules(
        "version: 1\ntool: t\nentities: {ticket: {pattern: 'INC-\\d+'}}\nsteps: [{path: text, truncate: 100}]\n"
    )
    content = {"text": "-" * 90 + "INC-123456789" + "-" * 200}
    assert reduce_content(ruleset, "t", content)["text"].startswith("-" * 90 + " …[")


@given(st.text(st.sampled_from("(?=!<P:)[]{}|*+\\Q1\\Ed,9x^$é-"), max_size=30))
@example("(?<=" * 40)
@example("[" * 999)
@example("(?:" * 300)
@example("(((((((((x{9}){9}){9}){9}){9}){9}){9}){9}){9})")
@example("[[:a:]" * 150)
def test_any_text_is_a_pattern_or_refused_at_a_column(text: str) -> None:
    refusal = None
    try:
        found = finder([("a", compile_pattern(text))])("x1, d9 Q", b"x1, d9 Q")
    except PatternError as error:
        refusal = error
    if refusal is None:
        assert all(entity.value for entity in found)
    else:
        assert refusal.message
        assert 1 <= refusal.column <= max(1, len(text))
