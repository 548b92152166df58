"""Entity types that rule files define: what they find, and what `preserve` does with them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import astuple

from reducer.entities import TYPES, scanner
from reducer.entities.custom import MAX_WORDS, CustomTypeError, compile_pattern, word_finder
from reducer.entities.entity import MAX_CHARS
from reducer.entities.vocabulary import BUILT_IN, Vocabulary
from tests.helpers import reduced, rules, table

CASES = table(__file__, "own_types.yaml")


def vocabulary(entities: Any) -> Vocabulary:
    return rules(max_chars=900, entities=entities).rules[0].vocabulary


def values(entities: Any, text: str) -> list[str]:
    known = vocabulary(entities)
    types = frozenset(entities) if known.custom else frozenset(TYPES)
    return [entity.value for entity in known.scanner(types)(text)]


# --- what they find


@pytest.mark.parametrize("case", CASES)
def test_what_types_of_rule_files_find(case: dict[str, Any]) -> None:
    assert values(case["entities"], case["text"]) == case["found"]


def test_values_have_a_longest_length() -> None:
    long = {"long": {"pattern": r"x\w+"}}
    assert values(long, "x" + "a" * MAX_CHARS) == []
    assert values(long, "- " * 3000 + "x" + "a" * (MAX_CHARS - 1)) == ["x" + "a" * (MAX_CHARS - 1)]


def test_positions_types_and_canonical_values() -> None:
    known = vocabulary({"ticket": {"pattern": r"INC-\d{6}"}, "jewel": {"words": ["Web01"]}})
    text = "🙂 web01 at 192.0.2.7 has INC-123456"
    found = known.scanner(["ticket", "jewel", "ip"])(text)
    assert [astuple(entity) for entity in found] == [
        ("jewel", "web01", "Web01", 2, 7, ""),
        ("ipv4", "192.0.2.7", "192.0.2.7", 11, 20, ""),
        ("ticket", "INC-123456", "INC-123456", 25, 35, ""),
    ]
    assert all(text[entity.start : entity.end] == entity.value for entity in found)


def test_groups_and_own_types_expand_and_unknown_ones_raise() -> None:
    known = vocabulary({"jewel": {"words": ["web01"]}, "domain": {"ignore": ["example.org"]}})
    assert known.expand(["ip", "jewel"]) == {"ipv4", "ipv6", "jewel"}
    with pytest.raises(ValueError, match=r"^unknown entity type ticket; expected one of "):
        known.expand(["jewel", "ticket"])
    types = frozenset({"cve", "ipv4"})
    assert BUILT_IN.scanner(types) is known.scanner(types) is scanner(types)


TICKET = {"pattern": [r"INC-\d+", "(?:^|key=)(?P<value>[a-z]+)", "x.*y|x1"]}
JEWEL = {"words": ["ab", "a b", "abc", "web-01", "Größe"]}
KNOWN = vocabulary({"ticket": TICKET, "jewel": JEWEL, "domain": {"ignore": ["b.com"]}})
_PIECES = ["INC-1", "7", "key=", "abc", "x1", "web-01", "größe", "a b", "b.com", ", ", "\\n", "…[", *"xy\n]🙂 \ud800"]
_pieces = st.lists(st.sampled_from(_PIECES))


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
    find = compile_pattern("ticket", r"INC-\d{1,200}\b")
    for lead in range(0, 2100, 7):
        text = "." * lead + "INC-" + "5" * 200 + "." * 1500
        assert [start for start, *_ in find(text, text.encode())] == [lead]


def test_a_list_as_large_as_may_be_in_which_words_begin_with_others_is_read() -> None:
    """Without the decoy it would take more than a minute."""
    find = word_finder("host", [f"host{number}" for number in range(MAX_WORDS)], False)
    text = "HOST1, host199999; host200000 and host12x" + "\x00" * 20_000  # the decoy is no word
    assert find(text, text.encode()) == [(0, 5, "host", "host1"), (7, 17, "host", "host199999")]


# --- what rules do with them


def test_preserve_keeps_own_entities_as_written() -> None:
    own = {"ticket": {"pattern": r"INC-\d{6}"}, "jewel": {"words": ["Crown Jewel"]}}
    steps = [{"path": "items", "limit": 1}, {"path": "text", "truncate": 20}]
    rule = {"entities": own, "steps": steps, "preserve": ["ticket", "jewel"]}
    text = "d" * 30 + " x" * 40 + " on the crown jewel " + "e" * 40
    content = {"items": ["a", "b" * 80, "INC-123456 " + "c" * 80], "text": text}
    result = reduced(rule, content)
    assert result["items"] == ["a", "…[2 more items; mentions INC-123456]"]
    assert "mentions crown jewel]" in result["text"]
    assert reduced(rule, result) is result
    assert reduced({"steps": steps, "preserve": ["ip"]}, content)["items"] == ["a", "…[2 more items]"]


def test_no_cut_leaves_half_of_an_own_entity() -> None:
    rule = {"entities": {"ticket": {"pattern": r"INC-\d+"}}, "steps": [{"path": "text", "truncate": 100}]}
    content = {"text": "-" * 90 + "INC-123456789" + "-" * 200}
    assert reduced(rule, content)["text"].startswith("-" * 90 + " …[")


@given(st.text(st.sampled_from("(?=!<P:)[]{}|*+\\Q1\\Ed,9x^$é-"), max_size=30))
@example("(?<=" * 40)
@example("[" * 999)
@example("(?:" * 300)
@example("(((((((((x{9}){9}){9}){9}){9}){9}){9}){9}){9})")
@example("[[:a:]" * 150)
def test_any_text_is_a_pattern_or_refused_at_a_column(text: str) -> None:
    refusal = None
    try:
        found = compile_pattern("a", text)("x1, d9 Q", b"x1, d9 Q")
    except CustomTypeError as error:
        refusal = error
    if refusal is None:
        assert all(start < end for start, end, *_ in found)
    else:
        assert refusal.message
        assert 1 <= refusal.column <= max(1, len(text))


@pytest.mark.parametrize(
    "pattern", [r"(?:imei[ :=]{1,3}(?P<value>[0-9]{15})|serial=[0-9]{8})", r"(?:imei=(?P<value>[0-9]{15}))+"]
)
def test_a_pattern_whose_values_no_marker_can_mention_is_refused(pattern: str) -> None:
    """Without the refusal, its values would never be found, or `truncate` would keep every text that contains one."""
    with pytest.raises(CustomTypeError, match="the group of the value must not be"):
        compile_pattern("imei", pattern)
