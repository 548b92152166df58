"""Entity types in rule files: exact messages for wrong definitions and word lists, and warnings for unused types."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from reducer import RuleError
from reducer.entities.entity import MAX_CHARS
from reducer.rules import check_rules, compile_rules, read_rules

RULE = "version: 1\ntool: t\nmax_chars: 900\n"
GROUP = "match what is around the value, and put the value in a group: `(?:^|before)(value)(?:after|$)`"


def problems(text: str) -> list[tuple[str, str, str]]:
    _, found = compile_rules([("r.yaml", text)])
    return [(str(one.location).removeprefix("r.yaml:"), one.message, one.help) for one in found]


HEAD = RULE + "entities:\n"
CASES: dict[str, tuple[str, tuple[str, str, str]]] = {
    "no entities": (RULE + "entities: {}\n", ("4:11", "expected at least one", "")),
    "a list": (RULE + "entities: [ticket]\n", ("4:11", "expected a mapping of keys to values, not a list", "")),
    "a text for a type": (
        HEAD + "  ticket: 'INC'\n",
        (
            "5:11",
            "expected the definition of `ticket`: a mapping",
            "for example `{pattern: 'INC-\\d{6}'}` or `{words_file: hosts.txt}`",
        ),
    ),
    "a text for a built-in type": (
        HEAD + "  domain: github.com\n",
        ("5:11", "expected the definition of `domain`: a mapping", "for example `{ignore: [example.org]}`"),
    ),
    "an unknown key": (
        HEAD + "  ticket: {patern: 'INC'}\n",
        ("5:12", "unknown key `patern`", "did you mean `pattern`?"),
    ),
    "nothing said": (
        HEAD + "  ticket: {case_sensitive: true}\n",
        ("5:3", "`ticket` needs `pattern`, `words` or `words_file`", ""),
    ),
    "nothing said of a built-in type": (
        HEAD + "  domain: {}\n",
        ("5:3", "the definition of `domain` is empty", "add `ignore`"),
    ),
    "a misspelt built-in type": (
        HEAD + "  domian: {ignore: [a.com]}\n",
        ("5:3", "`domian` needs `pattern`, `words` or `words_file`", "did you mean `domain`?"),
    ),
    "MISP's name": (
        HEAD + "  hostname: {ignore: [a.com]}\n",
        ("5:3", "`hostname` needs `pattern`, `words` or `words_file`", "did you mean `domain`?"),
    ),
    "a group": (
        HEAD + "  ip: {ignore: [192.0.2.1]}\n",
        ("5:3", "`ip` is a group of types", "name one of its types: `ipv4`, `ipv6`"),
    ),
    "a name": (
        HEAD + "  Crown-Jewel: {words: [web01]}\npreserve: [Crown-Jewel]\n",
        (
            "5:3",
            "`Crown-Jewel` cannot name an entity type",
            "use at most 40 small letters, digits and `_`, and start with a letter",
        ),
    ),
    "a pattern for a built-in type": (
        HEAD + "  domain: {pattern: 'x-\\d'}\n",
        ("5:12", "`domain` is a built-in type and cannot have `pattern`", "give your own type another name"),
    ),
    "case of a pattern": (
        HEAD + "  ticket: {pattern: 'INC-\\d', case_sensitive: false}\n",
        ("5:31", "`case_sensitive` applies to words only", "start the pattern with `(?i)` to ignore case"),
    ),
    "ignored for nothing": (
        HEAD + "  ipv4: {ignore: [10.0.0.0/8]}\n",
        (
            "5:19",
            "`10.0.0.0/8` does not read as `ipv4`, so nothing would be ignored",
            "write one complete value, as it appears in texts",
        ),
    ),
    "a short word": (HEAD + "  jewel: {words: [web01, a]}\n", ("5:26", "a word needs at least two characters", "")),
    "a word with a comma": (
        HEAD + "  jewel: {words: ['Acme, Inc']}\n",
        ("5:19", "a word cannot contain `, `, which separates the values in a marker", ""),
    ),
    "a word with blanks": (
        HEAD + "  jewel: {words: ' web01'}\n",
        (
            "5:18",
            "a word cannot contain line breaks, control characters, `…[` or many brackets, or start or end with a space",
            "",
        ),
    ),
    "look-ahead": (HEAD + "  ticket: {pattern: 'INC-\\d+(?=:)'}\n", ("5:29", "RE2 has no look-ahead: `(?=`", GROUP)),
    "look-behind": (
        HEAD + "  ticket: {pattern: '(?<!\\d)INC-\\d{6}'}\n",
        ("5:22", "RE2 has no look-behind: `(?<!`", GROUP),
    ),
    "a back-reference": (
        HEAD + "  ticket: {pattern: '(a|b)-\\1'}\n",
        ("5:28", "RE2 has no back-references", "write out what the group matches"),
    ),
    "a named back-reference": (
        HEAD + "  ticket: {pattern: '(?P<n>a|b)-(?P=n)'}\n",
        ("5:33", "RE2 has no back-references", "write out what the group matches"),
    ),
    "what RE2 refuses": (
        HEAD + "  ticket: {pattern: ['ok-\\d', 'INC-\\Z']}\n",
        ("5:36", "RE2 refuses this pattern: invalid escape sequence", ""),
    ),
    "a group that is open": (
        HEAD + "  ticket: {pattern: '(INC'}\n",
        ("5:22", "RE2 refuses this pattern: missing )", ""),
    ),
    "a repeat of thousands": (
        HEAD + "  ticket: {pattern: 'IN{2000}'}\n",
        ("5:24", "RE2 refuses this pattern: invalid repetition size", ""),
    ),
    "the empty text": (
        HEAD + "  ticket: {pattern: '\\d*'}\n",
        ("5:22", "this pattern matches the empty text", "use `+` for `*`, or add how the entity starts"),
    ),
    "places without characters": (
        HEAD + "  ticket: {pattern: '\\b'}\n",
        ("5:22", "this pattern matches the empty text", "use `+` for `*`, or add how the entity starts"),
    ),
    "everything": (
        HEAD + "  ticket: {pattern: '\\S+'}\n",
        (
            "5:22",
            "this pattern matches everything: 100% of the letters of ordinary prose",
            "add what distinguishes the entity from other text, such as a prefix: `INC-\\d{6}`",
        ),
    ),
    "a character that is not ASCII": (
        HEAD + "  ticket: {pattern: 'Größe-\\d+'}\n",
        ("5:24", "patterns read ASCII, so `ö` never matches", "write `.` in its place, or use `words`"),
    ),
    "a group that needs its surroundings": (
        HEAD + "  ticket: {pattern: 'A=(\\d+);'}\n",
        (
            "5:24",
            "the value alone must match too: what is around the group must be optional",
            "let it match the start or end of a text: `(?:^|before)(value)(?:after|$)`",
        ),
    ),
    "MISP in preserve": (
        RULE + "preserve: [ip-src]\n",
        ("4:12", "unknown entity type `ip-src`", "did you mean `ipv4`?"),
    ),
    "a pair of MISP": (
        RULE + "preserve: ['domain|ip']\n",
        ("4:12", "unknown entity type `domain|ip`", "did you mean `domain` and `ip`?"),
    ),
    "a path of STIX": (
        RULE + "preserve: ['file:hashes.SHA256']\n",
        ("4:12", "unknown entity type `file:hashes.SHA256`", "did you mean `sha256`?"),
    ),
    "a misspelt own type": (
        HEAD + "  ticket: {words: [ab]}\npreserve: [tickets]\n",
        ("6:12", "unknown entity type `tickets`", "did you mean `ticket`?"),
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_one_mistake_gives_one_problem(text: str, expected: tuple[str, str, str]) -> None:
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
    assert problems(f"{RULE}preserve: [{json.dumps(name)}]\n") == [
        ("4:12", f"unknown entity type `{name}`", f"did you mean `{meant}`?")
    ]


def test_a_name_of_misp_may_be_an_own_type() -> None:
    assert problems(HEAD + "  hostname: {words: [web01]}\npreserve: [hostname]\n") == []


def test_one_type_defined_twice_names_both_places() -> None:
    text = "version: 1\nentities:\n  ticket: {words: [ab]}\n"
    ruleset, found = compile_rules([("a.yaml", text), ("b.yaml", RULE + "entities: {ticket: {words: [cd]}}\n")])
    assert ruleset is None
    assert [(str(problem.location), problem.message, problem.help) for problem in found] == [
        (
            "b.yaml:4:12",
            "the entity type `ticket` is already defined at a.yaml:3:3",
            "define it once for all files of the folder",
        )
    ]


def test_a_file_without_a_tool_holds_entities_and_nothing_else() -> None:
    assert problems("version: 1\nentities: {ticket: {words: [ab]}}\n") == []
    assert problems("version: 1\nentities: {ticket: {words: [ab]}}\npreserve: ip\n") == [
        ("1:1", "`tool` is missing", "")
    ]
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
    assert [entity.canonical for entity in scan("WEB01, crown jewel, müller gmbh; # ours")] == [
        "web01",
        "Crown Jewel",
        "Müller GmbH",
    ]
    assert read_rules(tmp_path).rules[0].types == {"jewel"}


@pytest.mark.parametrize(
    ("data", "message", "help"),
    [
        (b"", "`hosts.txt` contains no words", "write one word or phrase on each line"),
        (b"# only\n\n", "`hosts.txt` contains no words", "write one word or phrase on each line"),
        (b"web01\nm\xfcller\n", "`hosts.txt` line 2: the byte 0xfc is not UTF-8 text", "save the file as UTF-8"),
        (
            b"web01\n\x7fELF\x00\x01",
            "`hosts.txt` line 2: a word cannot contain line breaks, control characters, `…[` or many brackets, or start or end with a space",
            "remove the line, or put `#` before it",
        ),
        (
            "web01".encode("utf-16"),
            "`hosts.txt` line 1: the byte 0xff is not UTF-8 text",
            "save the file as UTF-8",
        ),
        (
            b"web01\nAcme, Inc\n",
            "`hosts.txt` line 2: a word cannot contain `, `, which separates the values in a marker",
            "remove the line, or put `#` before it",
        ),
        (
            b"web01\n\nx\n",
            "`hosts.txt` line 3: a word needs at least two characters",
            "remove the line, or put `#` before it",
        ),
        (
            b"w" * 300,
            f"`hosts.txt` line 1: the word has 300 characters; at most {MAX_CHARS} are allowed",
            "remove the line, or put `#` before it",
        ),
        (b"\n" * 10_000_000, "`hosts.txt` has 10,000,001 lines", "at most 200,000 words are allowed"),
        (b"web01\n" * 4_000_000, "`hosts.txt` has more than 20 MB", "at most 200,000 words are allowed"),
        (
            "".join(f"h{number}\n" for number in range(200_001)).encode(),
            "`hosts.txt` has 200,001 words",
            "at most 200,000 words are allowed",
        ),
    ],
    ids=[
        "empty",
        "comments",
        "not UTF-8",
        "binary",
        "UTF-16",
        "a comma",
        "one character",
        "too long",
        "10 million lines",
        "24 MB",
        "too many",
    ],
)
def test_a_words_file_that_cannot_be_used(tmp_path: Path, data: bytes, message: str, help: str) -> None:
    ruleset, found = with_words(tmp_path, data)
    assert ruleset is None
    assert [(str(problem.location), problem.message, problem.help) for problem in found] == [
        (f"{tmp_path}/r.yaml:5:23", message, help)
    ]


def test_a_words_file_that_is_not_there(tmp_path: Path) -> None:
    _, found = with_words(tmp_path, None)
    assert [(problem.message, problem.help) for problem in found] == [
        ("`hosts.txt` is not a file", f"the path is {tmp_path}/hosts.txt")
    ]
    (tmp_path / "hosts.txt").mkdir()
    with pytest.raises(RuleError, match=r"r\.yaml:5:23: error\[E096\]: `hosts\.txt` is a folder"):
        read_rules(tmp_path)


# --- unused types

OWN = "version: 1\nentities:\n  ticket: {words: [INC-7]}\n  jewel: {words: [vault01]}\n"
LOOKUP = "version: 1\ntool: lookup\nsteps:\n  - limit: 5\n"


def warnings(*texts: str) -> list[str]:
    ruleset, problems = compile_rules((f"{number}.yaml", text) for number, text in enumerate(texts, 1))
    assert ruleset is not None
    assert all(problem.severity == "warning" for problem in problems)
    assert ruleset.warnings == problems
    return [str(problem) for problem in problems]


def test_a_type_that_no_rule_uses_is_a_warning() -> None:
    assert warnings(LOOKUP + "preserve: [ioc, jewel]\n", OWN) == [
        "2.yaml:3:3: warning[W030]: no rule preserves or extracts `ticket`\n"
        "  3 |   ticket: {words: [INC-7]}\n"
        "    |   ^^^^^^\n"
        "  help: name it in `preserve` or `extract`, or remove it"
    ]


@pytest.mark.parametrize(
    "rule",
    [
        LOOKUP + "preserve: [ticket, jewel]\n",
        LOOKUP + "preserve: {ticket: 20, jewel: 1}\n",
        LOOKUP + "    preserve: [ticket, jewel]\n",
        "version: 1\ntool: lookup\nsteps:\n  - extract: [ticket]\n  - path: a\n    limit: 3\n    preserve: [jewel]\n",
    ],
)
def test_a_type_that_a_rule_uses_is_used(rule: str) -> None:
    assert warnings(rule, OWN) == []
    assert len(warnings(LOOKUP, OWN)) == 2


def test_a_built_in_type_that_is_changed_needs_no_rule_that_names_it() -> None:
    assert warnings(LOOKUP, "version: 1\nentities:\n  domain: {ignore: [evil.com]}\n") == []


def test_types_without_rules_are_no_mistake() -> None:
    assert warnings(OWN) == []


def test_errors_may_hide_who_asks() -> None:
    _, problems = compile_rules([("1.yaml", LOOKUP + "preserve: [ticket, jewel]\nlimt: 3\n"), ("2.yaml", OWN)])
    assert [problem.severity for problem in problems] == ["error"]
