"""`entities`: the scanner as a tool of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Result, process

TEXT = "C2 at hxxp://evil[.]com/a and 192.0[.]2[.]4\nAPT28 uses CVE-2024-3400; 192.0.2.4 again\n"
OWN = "version: 1\nentities:\n  ticket: {words: [INC-7, INC-8]}\n  domain: {ignore: [evil.com]}\n"


def rows(result: Result) -> list[list[str]]:
    return [line.split() for line in result.out.splitlines()[1:-1]]


def places(result: Result) -> list[tuple[str, str, str]]:
    found = [json.loads(line) for line in result.out.splitlines()]
    return [(line["type"], line["value"], line["place"]) for line in found]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_text_gives_each_entity_once_with_its_first_place(folder: Path, cli: Cli, encoding: str) -> None:
    (folder / "note.txt").write_bytes(TEXT.encode(encoding))
    result = cli("entities", "note.txt")
    assert (result.code, result.err) == (0, "")
    assert rows(result) == [
        ["url", "hxxp://evil[.]com/a", "1", "1:7"],
        ["ipv4", "192.0[.]2[.]4", "2", "1:31"],
        ["threat_actor", "APT28", "1", "2:1"],
        ["cve", "CVE-2024-3400", "1", "2:12"],
    ]
    assert result.out.splitlines()[-1] == "4 entities, 5 occurrences"
    (folder / "other.txt").write_text("192.0.2.4")
    assert rows(cli("entities", "other.txt", "note.txt"))[0] == ["ipv4", "192.0.2.4", "3", "other.txt", "1:1"]


def test_types_and_refanging(folder: Path, cli: Cli) -> None:
    (folder / "note.txt").write_text(TEXT)
    assert rows(cli("entities", "note.txt", "--type", "ip", "--type", "url", "--refang")) == [
        ["url", "http://evil.com/a", "1", "1:7"],
        ["ipv4", "192.0.2.4", "2", "1:31"],
    ]
    assert cli("entities", "note.txt", "--type", "sha256").out == "no entities\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"hits": [{"ip": "192.0.2.1"}], "evil.example.com": {"a b": ["see CVE-2024-3400"]}}',
            [
                ("ipv4", "192.0.2.1", "hits[0].ip"),
                ("domain", "evil.example.com", '"evil.example.com"'),
                ("cve", "CVE-2024-3400", '"evil.example.com"."a b"[0]'),
            ],
        ),
        (
            '{"ip": "192.0.2.1"}\r\n\n["evil.com\\n192.0.2.2"]\n{"a": 1}\n',
            [("ipv4", "192.0.2.1", "1:ip"), ("domain", "evil.com", "3:[0]"), ("ipv4", "192.0.2.2", "3:[0]")],
        ),
        ('{"ip": "192.0.2.1"}\nstarted\n', [("ipv4", "192.0.2.1", "1:9")]),
        ("", []),
    ],
    ids=["JSON", "JSON lines", "text", "nothing"],
)
def test_places(folder: Path, cli: Cli, text: str, expected: list[tuple[str, str, str]]) -> None:
    (folder / "a.log").write_text(text)
    assert places(cli("entities", "a.log", "--format", "jsonl")) == expected


def test_standard_input() -> None:
    result = process("entities", "-", "--format", "jsonl", input=b"\xff 192.0.2.1\n")
    assert result.code == 0
    found = {"type": "ipv4", "value": "192.0.2.1", "canonical": "192.0.2.1", "start": 2, "end": 11}
    assert result.json == {**found, "file": "standard input", "place": "1:3"}


def test_types_of_rule_files(folder: Path, cli: Cli) -> None:
    (folder / "own.yaml").write_text(OWN)
    (folder / "note.txt").write_text("INC-7 and INC-9: bad.com, www.evil.com")
    own = cli("entities", "note.txt", "--rules", "own.yaml", "--format", "jsonl")
    assert places(own) == [("ticket", "INC-7", "1:1"), ("domain", "bad.com", "1:18")]
    assert rows(cli("entities", "note.txt", "--rules", ".", "--type", "ticket")) == [["ticket", "INC-7", "1", "1:1"]]
    assert [row[0] for row in rows(cli("entities", "note.txt"))] == ["domain", "domain"]
    assert cli("entities", "note.txt", "--rules", "own.yaml", "--type", "tickets").err.endswith(
        "did you mean `ticket`?\n"
    )
