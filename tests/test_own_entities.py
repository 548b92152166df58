"""Own entity types of rule files: what they find, what `preserve` and `extract` do with them, and what is said of wrong ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer import RuleError
from reducer.engine import prepare, reduce_content, trace
from reducer.entities import TYPES, scanner
from reducer.entities.edges import LONGEST
from reducer.entities.own import BUILT_IN, Vocabulary
from reducer.entities.patterns import compile_pattern, finder
from reducer.entities.syntax import PatternError
from reducer.rule import Ruleset, check_rules, compile_rules, read_rules

RULE = "version: 1\ntool: t\nmax_chars: 900\n"


def rules(text: str, *more: str) -> Ruleset:
    ruleset, found = compile_rules((f"r{number}.yaml", body) for number, body in enumerate((text, *more)))
    assert ruleset is not None, [str(problem) for problem in found]
    prepare(ruleset)
    return ruleset


def vocabulary(entities: str) -> Vocabulary:
    return rules(f"{RULE}entities:\n  {entities}\n").rules[0].vocabulary


def problems(text: str) -> list[tuple[str, str, str]]:
    _, found = compile_rules([("r.yaml", text)])
    return [(str(problem.location).removeprefix("r.yaml:"), problem.message, problem.help) for problem in found]


def values(entities: str, text: str) -> list[tuple[str, str]]:
    known = vocabulary(entities)
    return [(entity.type, entity.value) for entity in known.scanner(frozenset(known.own))(text)]


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
        (r"long: {pattern: 'x\w+'}", "x" + "a" * LONGEST, []),
        (r"long: {pattern: 'x\w+'}", "- " * 3000 + "x" + "a" * (LONGEST - 1), ["x" + "a" * (LONGEST - 1)]),
        ("jewel: {words: [web01, crown jewel]}", "WEB01 guards the Crown Jewel; web011 and web01_x do not", ["WEB01", "Crown Jewel"]),
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
        ("domain: {ignore: [github.com]}", "github.com, api.github.com, notgithub.com, Evil-Host.com", ["notgithub.com", "Evil-Host.com"]),
        ("domain: {ignore: ['*.GitHub.com', onion]}", "GITHUB[.]com and abcdefghij234567.onion, evil-host.com", ["evil-host.com"]),
        ("domain: {ignore: [github.com]}", "https://github.com/a and a@github.com", ["https://github.com/a", "a@github.com"]),
        ("ipv4: {ignore: [127.0.0.1]}", "host 127[.]0.0.1 and 192.0.2.7", ["192.0.2.7"]),
        ("threat_actor: {ignore: [Fancy Bear]}", "APT28, fancy bear, Turla", ["APT28", "Turla"]),
    ],
)
def test_ignored_values_are_no_entities(entities: str, text: str, left: list[str]) -> None:
    assert [entity.value for entity in vocabulary(entities).scanner(frozenset(TYPES))(text)] == left


KNOWN = vocabulary(
    r"{ticket: {pattern: ['INC-\d+', '(?:^|key=)([a-z]+)', 'x.*y|x1']}, jewel: {words: [ab, a b, abc, web-01, Größe]}, domain: {ignore: [b.com]}}"
)
_pieces = st.lists(
    st.sampled_from(("INC-1", "7", "key=", "abc", "x1", "x", "y", "web-01", "größe", "a b", "b.com", ", ", "\n", "\\n", "]", "…[", "🙂", "\ud800", " "))
)


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
    content = {"items": ["a", "b" * 80, "INC-123456 " + "c" * 80], "text": "d" * 30 + " x" * 40 + " on the crown jewel " + "e" * 40}
    result = reduce_content(ruleset, "t", content)
    assert result["items"] == ["a", "…[2 more items; mentions INC-123456]"]
    assert "mentions crown jewel]" in result["text"]
    assert reduce_content(ruleset, "t", result) is result
    without = rules("version: 1\ntool: t\nsteps: [{path: items, limit: 1}]\npreserve: [ip]\n")
    assert reduce_content(without, "t", content)["items"] == ["a"]


def test_extract_keeps_only_own_entities() -> None:
    ruleset = rules("version: 1\ntool: t\nentities: {ticket: {pattern: 'INC-\\d{6}'}}\nsteps: [{path: text, extract: [ticket, cve]}]\n")
    content = {"text": "The host was cleaned, see CVE-2024-3400 and INC-123456 for all that was done there by whom."}
    result = reduce_content(ruleset, "t", content)
    assert result == {"text": "…[91 more characters; mentions CVE-2024-3400, INC-123456]"}
    assert reduce_content(ruleset, "t", result) is result
    short = {"text": "see INC-123456"}
    assert reduce_content(ruleset, "t", short) is short


def test_own_types_hold_in_every_file_and_a_file_may_hold_nothing_else() -> None:
    shared = "version: 1\ndescription: What we watch.\nentities: {ticket: {pattern: 'INC-\\d{6}'}}\n"
    user = "version: 1\ntool: t\nsteps: [{limit: 1, preserve: ticket}]\ntests: [{name: x, given: {text: a}, expect: {preserves: [ticket]}}]\n"
    for order in ((shared, user), (user, shared)):
        ruleset = rules(*order)
        assert [rule.name for rule in ruleset.rules] == ["t"]
        assert reduce_content(ruleset, "t", ["a", "see INC-123456 " + "x" * 60]) == ["a", "…[1 more items; mentions INC-123456]"]


def actors(option: str) -> Ruleset:
    return rules(f"version: 1\ntool: t\n{option}steps:\n  - path: items\n    limit: 1\npreserve: [threat_actor]\n")


@pytest.mark.parametrize(
    ("items", "one", "each"),
    [
        (["APT28", "Fancy Bear " + "x" * 80, "y"], ["APT28"], ["APT28", "…[2 more items; mentions Fancy Bear]"]),
        (
            ["a", "Fancy Bear " + "x" * 80, "APT28 " + "y" * 80],
            ["a", "…[2 more items; mentions Fancy Bear]"],
            ["a", "…[2 more items; mentions Fancy Bear, APT28]"],
        ),
        (["a", "Turla " + "x" * 80, "APT28"], ["a", "…[2 more items; mentions Turla, APT28]"], ["a", "…[2 more items; mentions Turla, APT28]"]),
    ],
)
def test_one_of_the_synonyms_is_enough_where_it_is_asked_for(items: list[str], one: list[str], each: list[str]) -> None:
    for ruleset, expected in ((actors("entities: {threat_actor: {synonyms: one}}\n"), one), (actors(""), each)):
        outcome = trace(ruleset, "t", {"items": items})
        assert outcome.fault == ""
        assert outcome.content == {"items": expected}
        assert reduce_content(ruleset, "t", outcome.content) is outcome.content


def test_a_synonym_that_another_type_needs_stays_as_written() -> None:
    ruleset = rules(
        "version: 1\ntool: t\nentities: {threat_actor: {synonyms: one}, watched: {words: [Fancy Bear]}}\n"
        "steps: [{path: items, limit: 1}]\npreserve: [threat_actor, watched]\n"
    )
    content = {"items": ["APT28", "Fancy Bear " + "x" * 80]}
    assert reduce_content(ruleset, "t", content) == {"items": ["APT28", "…[1 more items; mentions Fancy Bear]"]}


@given(
    st.lists(
        st.lists(st.sampled_from(("APT28", "Fancy Bear", "Sofacy", "Turla", "INC-123456", "INC-7", "web01", "x" * 70)), max_size=5).map(" ".join), max_size=5
    )
)
def test_reduced_twice_is_reduced_once(items: list[str]) -> None:
    ruleset = rules(
        "version: 1\ntool: t\nentities: {threat_actor: {synonyms: one}, ticket: {pattern: 'INC-\\d+'}, jewel: {words: [web01]}}\n"
        "steps: [{path: items, limit: 2}, {path: 'items[*]', truncate: 40}]\npreserve: [threat_actor, ticket, jewel]\n"
    )
    outcome = trace(ruleset, "t", {"items": items})
    assert outcome.fault == ""
    assert reduce_content(ruleset, "t", outcome.content) is outcome.content
    stands = "\n".join(outcome.content["items"])
    for value in ("Turla", "INC-123456", "INC-7", "web01"):
        assert (value in "\n".join(items)) == (value in stands)


def test_no_cut_leaves_half_of_an_own_entity() -> None:
    ruleset = rules("version: 1\ntool: t\nentities: {ticket: {pattern: 'INC-\\d+'}}\nsteps: [{path: text, truncate: 100}]\n")
    content = {"text": "-" * 90 + "INC-123456789" + "-" * 200}
    assert reduce_content(ruleset, "t", content)["text"].startswith("-" * 90 + " …[")


# --- wrong definitions

HEAD = RULE + "entities:\n"
CASES: dict[str, tuple[str, tuple[str, str, str]]] = {
    "no entities": (RULE + "entities: {}\n", ("4:11", "expected at least one", "")),
    "a list": (RULE + "entities: [ticket]\n", ("4:11", "expected a mapping of keys to values, not a list", "")),
    "a text for a type": (
        HEAD + "  ticket: 'INC'\n",
        ("5:11", "expected what `ticket` is: a mapping", "such as `{pattern: 'INC-\\d{6}'}` or `{words_file: hosts.txt}`"),
    ),
    "a text for a built-in type": (HEAD + "  domain: github.com\n", ("5:11", "expected what `domain` is: a mapping", "such as `{ignore: [example.org]}`")),
    "an unknown key": (HEAD + "  ticket: {patern: 'INC'}\n", ("5:12", "unknown key `patern`", "did you mean `pattern`?")),
    "nothing said": (HEAD + "  ticket: {case_sensitive: true}\n", ("5:3", "`ticket` needs `pattern`, `words` or `words_file`", "")),
    "nothing said of a built-in type": (HEAD + "  domain: {}\n", ("5:3", "nothing is said of `domain`", "add `ignore`")),
    "a misspelt built-in type": (
        HEAD + "  domian: {ignore: [a.com]}\n",
        ("5:3", "`domian` needs `pattern`, `words` or `words_file`", "did you mean `domain`?"),
    ),
    "MISP's name": (HEAD + "  hostname: {ignore: [a.com]}\n", ("5:3", "`hostname` needs `pattern`, `words` or `words_file`", "did you mean `domain`?")),
    "a group": (HEAD + "  ip: {ignore: [192.0.2.1]}\n", ("5:3", "`ip` is a group of types", "name the type: `ipv4`, `ipv6`")),
    "a name": (
        HEAD + "  Crown-Jewel: {words: [web01]}\npreserve: [Crown-Jewel]\n",
        ("5:3", "`Crown-Jewel` cannot name an entity type", "small letters, digits and `_`, a letter first, 40 characters at most"),
    ),
    "a pattern for a built-in type": (
        HEAD + "  domain: {pattern: 'x-\\d'}\n",
        ("5:12", "`domain` is a built-in type, so `pattern` has no place here", "give a type of your own another name"),
    ),
    "synonyms of tickets": (HEAD + "  ticket: {words: [ab], synonyms: one}\n", ("5:25", "only a `threat_actor` has synonyms", "")),
    "other synonyms": (HEAD + "  threat_actor: {synonyms: all}\n", ("5:28", "expected 'one', not `all`", "")),
    "case of a pattern": (
        HEAD + "  ticket: {pattern: 'INC-\\d', case_sensitive: false}\n",
        ("5:31", "`case_sensitive` is about words", "a pattern without case begins with `(?i)`"),
    ),
    "ignored for nothing": (
        HEAD + "  ipv4: {ignore: [10.0.0.0/8]}\n",
        ("5:19", "`10.0.0.0/8` does not read as `ipv4`, so nothing would be ignored", "write one whole value, as it stands in texts"),
    ),
    "a short word": (HEAD + "  jewel: {words: [web01, a]}\n", ("5:26", "a word of one character would be found everywhere", "")),
    "a word with a comma": (HEAD + "  jewel: {words: ['Acme, Inc']}\n", ("5:19", "a word cannot hold `, `, which separates the values in a mark", "")),
    "a word with blanks": (
        HEAD + "  jewel: {words: ' web01'}\n",
        ("5:18", "a word cannot hold line breaks, control characters, blanks around it, `…[` or many brackets", ""),
    ),
    "look-ahead": (
        HEAD + "  ticket: {pattern: 'INC-\\d+(?=:)'}\n",
        ("5:29", "RE2 has no look-ahead: `(?=`", "match it, and put the value in a group: `(INC-\\d+)(?::|$)`"),
    ),
    "negative look-ahead": (
        HEAD + "  ticket: {pattern: 'INC-\\d{6}(?!\\d)'}\n",
        ("5:31", "RE2 has no look-ahead: `(?!`", "leave it out, as a value stands between what is no letter or digit anyway: `INC-\\d{6}`"),
    ),
    "look-behind": (
        HEAD + "  ticket: {pattern: '(?<=ticket )INC-\\d{6}'}\n",
        ("5:22", "RE2 has no look-behind: `(?<=`", "match it, and put the value in a group: `(?:^|ticket )(INC-\\d{6})`"),
    ),
    "look-arounds": (
        HEAD + "  ticket: {pattern: '(?<!\\d)INC-\\d{6}(?!\\d)'}\n",
        ("5:22", "RE2 has no look-behind: `(?<!`", "leave it out, as a value stands between what is no letter or digit anyway: `INC-\\d{6}`"),
    ),
    "a back-reference": (
        HEAD + "  ticket: {pattern: '(a|b)-\\1'}\n",
        ("5:28", "RE2 has no back-references", "write out what stands there: `(a|b)x\\1` is `axa|bxb`"),
    ),
    "a named back-reference": (
        HEAD + "  ticket: {pattern: '(?P<n>a|b)-(?P=n)'}\n",
        ("5:33", "RE2 has no back-references", "write out what stands there: `(a|b)x\\1` is `axa|bxb`"),
    ),
    "what RE2 refuses": (HEAD + "  ticket: {pattern: ['ok-\\d', 'INC-\\Z']}\n", ("5:36", "RE2 refuses this pattern: invalid escape sequence", "")),
    "a group that is open": (HEAD + "  ticket: {pattern: '(INC'}\n", ("5:22", "RE2 refuses this pattern: missing )", "")),
    "a repeat of thousands": (HEAD + "  ticket: {pattern: 'IN{2000}'}\n", ("5:24", "RE2 refuses this pattern: invalid repetition size", "")),
    "the empty text": (
        HEAD + "  ticket: {pattern: '\\d*'}\n",
        ("5:22", "this pattern matches the empty text", "an entity has characters: use `+` for `*`, or say what it begins with"),
    ),
    "places without characters": (
        HEAD + "  ticket: {pattern: '\\b'}\n",
        ("5:22", "this pattern matches the empty text", "an entity has characters: use `+` for `*`, or say what it begins with"),
    ),
    "everything": (
        HEAD + "  ticket: {pattern: '\\S+'}\n",
        (
            "5:22",
            "this pattern matches everything: 100% of the letters of ordinary prose",
            "say what tells the entity from other text, such as a prefix: `INC-\\d{6}`",
        ),
    ),
    "a character that is not ASCII": (
        HEAD + "  ticket: {pattern: 'Größe-\\d+'}\n",
        ("5:24", "patterns read ASCII, so `ö` never matches", "write `.` in its place, or use `words`"),
    ),
    "a group that needs what stands around it": (
        HEAD + "  ticket: {pattern: 'A=(\\d+);'}\n",
        (
            "5:24",
            "the value alone would not match: what stands around the group must be able to be missing",
            "write `(?:^|A=)(\\d+)(?:;|$)`",
        ),
    ),
    "MISP in preserve": (RULE + "preserve: [ip-src]\n", ("4:12", "unknown entity type `ip-src`", "did you mean `ipv4`?")),
    "a pair of MISP": (RULE + "preserve: ['domain|ip']\n", ("4:12", "unknown entity type `domain|ip`", "did you mean `domain` and `ip`?")),
    "a path of STIX": (RULE + "preserve: ['file:hashes.SHA256']\n", ("4:12", "unknown entity type `file:hashes.SHA256`", "did you mean `sha256`?")),
    "a misspelt own type": (
        HEAD + "  ticket: {words: [ab]}\npreserve: [tickets]\n",
        ("6:12", "unknown entity type `tickets`", "did you mean `ticket`?"),
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_one_mistake_gives_one_finding(text: str, expected: tuple[str, str, str]) -> None:
    assert problems(text) == [expected]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ipv4-addr", "ipv4"),
        ("ipv6-addr:value", "ipv6"),
        ("ip-dst|port", "ipv4"),
        ("hostname", "domain"),
        ("filename|sha256", "sha256"),
        ("file:hashes.'SHA-256'", "sha256"),
        ("vulnerability", "cve"),
        ("attack-pattern", "mitre_attack"),
        ("intrusion-set", "threat_actor"),
        ("email-src", "email"),
        ("malware_family", "malware"),
        ("indicators", "ioc"),
    ],
)
def test_names_of_misp_and_stix(name: str, meant: str) -> None:
    assert problems(f"{RULE}preserve: [{json.dumps(name)}]\n") == [("4:12", f"unknown entity type `{name}`", f"did you mean `{meant}`?")]


def test_a_name_of_misp_may_be_an_own_type() -> None:
    assert problems(HEAD + "  hostname: {words: [web01]}\npreserve: [hostname]\n") == []


def test_one_type_described_twice_names_both_places() -> None:
    text = "version: 1\nentities:\n  ticket: {words: [ab]}\n"
    ruleset, found = compile_rules([("a.yaml", text), ("b.yaml", RULE + "entities: {ticket: {words: [cd]}}\n")])
    assert ruleset is None
    assert [(str(problem.location), problem.message, problem.help) for problem in found] == [
        ("b.yaml:4:12", "the entity type `ticket` is described already, at a.yaml:3:3", "describe it once: it holds for all files of the folder")
    ]


def test_a_file_without_a_tool_holds_entities_and_nothing_else() -> None:
    assert problems("version: 1\nentities: {ticket: {words: [ab]}}\n") == []
    assert problems("version: 1\nentities: {ticket: {words: [ab]}}\npreserve: ip\n") == [("1:1", "`tool` is missing", "")]
    assert problems("entities: {ticket: {words: [ab]}}\n") == [("1:1", "`version` is missing", "")]


def test_a_type_that_is_wrong_is_known_all_the_same() -> None:
    text = HEAD + "  ticket: {pattern: '(INC'}\n  jewel: {words_file: gone.txt}\npreserve: [ticket, jewel]\n"
    assert [place for place, _, _ in problems(text)] == ["5:22", "6:23"]


def test_patterns_without_the_extra_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    assert problems(HEAD + "  ticket: {pattern: 'INC-\\d{6}'}\n") == [
        ("5:22", "patterns need google-re2, which is not installed", "pip install 'reducer[patterns]'")
    ]
    assert problems(HEAD + "  jewel: {words: [web01]}\npreserve: [jewel]\n") == []


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


# --- words files


def with_words(folder: Path, data: bytes | None, name: str = "hosts.txt") -> Any:
    if data is not None:
        (folder / name).write_bytes(data)
    (folder / "r.yaml").write_text(f"{HEAD}  jewel: {{words_file: {name}}}\npreserve: [jewel]\n")
    return check_rules(folder)


def test_a_words_file_stands_beside_the_rules(tmp_path: Path) -> None:
    ruleset, found = with_words(tmp_path, "\ufeff# ours\r\nweb01\r\n\r\n  Crown Jewel \nMüller GmbH\nweb01\n".encode())
    assert found == ()
    scan = ruleset.rules[0].vocabulary.scanner(frozenset({"jewel"}))
    assert [entity.canonical for entity in scan("WEB01, crown jewel, müller gmbh; # ours")] == ["web01", "Crown Jewel", "Müller GmbH"]
    assert read_rules(tmp_path).rules[0].types == {"jewel"}


@pytest.mark.parametrize(
    ("data", "message", "help"),
    [
        (b"", "`hosts.txt` holds no words", "write one word or phrase a line"),
        (b"# only\n\n", "`hosts.txt` holds no words", "write one word or phrase a line"),
        (b"web01\nm\xfcller\n", "`hosts.txt` line 2: the byte 0xfc is not UTF-8 text", "save the file as UTF-8"),
        (b"web01\n\x7fELF\x00\x01", "`hosts.txt` is not a text file (line 2 holds a NUL byte)", "a words file is UTF-8 text with one word a line"),
        ("web01".encode("utf-16"), "`hosts.txt` is UTF-16 text", "save it as UTF-8"),
        (b"web01\nAcme, Inc\n", "`hosts.txt` line 2: a word cannot hold `, `, which separates the values in a mark", "take the line out, or put `#` before it"),
        (b"web01\n\nx\n", "`hosts.txt` line 3: a word of one character would be found everywhere", "take the line out, or put `#` before it"),
        (b"w" * 300, f"`hosts.txt` line 1: a word of 300 characters; at most {LONGEST} are read", "take the line out, or put `#` before it"),
        (b"\n" * 10_000_000, "`hosts.txt` has 10,000,001 lines", "at most 200,000 words are read"),
        (b"web01\n" * 4_000_000, "`hosts.txt` has more than 20 MB", "at most 200,000 words are read"),
        ("".join(f"h{number}\n" for number in range(200_001)).encode(), "`hosts.txt` holds 200,001 words", "at most 200,000 words are read"),
    ],
    ids=["empty", "comments", "not UTF-8", "binary", "UTF-16", "a comma", "one character", "too long", "10 million lines", "24 MB", "too many"],
)
def test_a_words_file_that_cannot_be_used(tmp_path: Path, data: bytes, message: str, help: str) -> None:
    ruleset, found = with_words(tmp_path, data)
    assert ruleset is None
    assert [(str(problem.location), problem.message, problem.help) for problem in found] == [(f"{tmp_path}/r.yaml:5:23", message, help)]


def test_a_words_file_that_is_not_there(tmp_path: Path) -> None:
    _, found = with_words(tmp_path, None)
    assert [(problem.message, problem.help) for problem in found] == [("`hosts.txt` is no file", f"it was looked for as {tmp_path}/hosts.txt")]
    (tmp_path / "hosts.txt").mkdir()
    with pytest.raises(RuleError, match=r"r\.yaml:5:23: error\[E096\]: `hosts\.txt` is a folder"):
        read_rules(tmp_path)
