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


def problems(text: str) -> list[tuple[str, str, str]]:
    _, found = compile_rules([("r.yaml", text)])
    return [(str(one.location).removeprefix("r.yaml:"), one.message, one.help) for one in found]


HEAD = RULE + "entities:\n"


@pytest.mark.parametrize(
    "pair",
    [
        "ipv4-addr ipv4",
        "ipv6-addr:value ipv6",
        "ip-dst|port ipv4",
        "hostname domain",
        "filename|sha256 sha256",
        "email-src email",
        "file:hashes.'SHA-256' sha256",
        "vulnerability cve",
        "attack-pattern mitre_attack",
        "intrusion-set threat_actor",
        "malware_family malware",
        "indicators ioc",
    ],
)
def test_names_of_misp_and_stix(pair: str) -> None:
    name, meant = pair.split()
    assert problems(f"{RULE}preserve: [{json.dumps(name)}]\n") == [
        ("4:12", f"unknown entity type `{name}`", f"did you mean `{meant}`?")
    ]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "  hostname: {words: [web01]}\npreserve: [hostname]\n",
        "version: 1\nentities: {ticket: {words: [ab]}}\n",
        HEAD + "  domain: {ignore: [evil.com]}\n",
    ],
    ids=["a name of MISP", "a file without a tool", "a built-in type that no rule names"],
)
def test_definitions_that_are_right(text: str) -> None:
    assert problems(text) == []


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
            "`hosts.txt` is not a text file (line 2 contains a NUL byte)",
            "a words file is UTF-8 text with one word on each line",
        ),
        ("web01".encode("utf-16"), "`hosts.txt` is UTF-16 text", "save it as UTF-8"),
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


@pytest.mark.parametrize(
    "rule",
    [
        "preserve: [ticket, jewel]\n",
        "preserve: {ticket: 20, jewel: 1}\n",
        "steps:\n  - {limit: 3, preserve: [ticket, jewel]}\n",
        "steps:\n  - extract: [ticket]\n  - {path: a, limit: 3, preserve: [jewel]}\n",
    ],
)
def test_a_type_that_a_rule_uses_is_used(rule: str) -> None:
    own = "entities: {ticket: {words: [INC-7]}, jewel: {words: [vault01]}}\n"
    assert problems(RULE + own + rule) == []
    assert [message for _, message, _ in problems(RULE + own)] == [
        "no rule preserves or extracts `ticket`",
        "no rule preserves or extracts `jewel`",
    ]
