"""`entities`: the scanner as a tool of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Result, process

Cli = Callable[..., Result]
TEXT = "C2 at hxxp://evil[.]com/a and 192.0[.]2[.]4\nAPT28 uses CVE-2024-3400; 192.0.2.4 again\n"


def rows(result: Result) -> list[list[str]]:
    return [line.split() for line in result.out.splitlines()[1:-1]]


def test_a_text_gives_each_entity_once_with_its_first_place(folder: Path, cli: Cli) -> None:
    (folder / "note.txt").write_text(TEXT)
    result = cli("entities", "note.txt")
    assert (result.code, result.err) == (0, "")
    assert rows(result) == [
        ["url", "hxxp://evil[.]com/a", "1", "1:7"],
        ["ipv4", "192.0[.]2[.]4", "2", "1:31"],
        ["threat_actor", "APT28", "1", "2:1"],
        ["cve", "CVE-2024-3400", "1", "2:12"],
    ]
    assert result.out.splitlines()[-1] == "4 entities, 5 times"


def test_types_and_refanging(folder: Path, cli: Cli) -> None:
    (folder / "note.txt").write_text(TEXT)
    assert rows(cli("entities", "note.txt", "--type", "ip", "--type", "url", "--refang")) == [
        ["url", "http://evil.com/a", "1", "1:7"],
        ["ipv4", "192.0.2.4", "2", "1:31"],
    ]
    assert cli("entities", "note.txt", "--type", "sha256").out == "no entities\n"


def test_json_gives_paths(folder: Path, cli: Cli) -> None:
    (folder / "a.json").write_text(json.dumps({"hits": [{"ip": "192.0.2.1"}], "evil.example.com": {"a b": ["see CVE-2024-3400"]}}))
    lines = [json.loads(line) for line in cli("entities", "a.json", "--format", "jsonl").out.splitlines()]
    assert [(line["type"], line["place"], line["start"]) for line in lines] == [
        ("ipv4", "hits[0].ip", 0),
        ("domain", '"evil.example.com"', 0),
        ("cve", '"evil.example.com"."a b"[0]', 4),
    ]


def test_standard_input(folder: Path) -> None:
    result = process("entities", "-", "--format", "jsonl", input=b"\xff 192.0.2.1\n")
    assert result.code == 0
    assert json.loads(result.out)["place"] == "1:3"


def test_what_cannot_be_done(folder: Path, cli: Cli) -> None:
    assert cli("entities", "gone.txt") == Result(2, "", "reducer: error: gone.txt: No such file or directory\n")
    assert cli("entities", "lookup.yaml", "--type", "ipv5") == Result(2, "", "reducer: error: unknown entity type ipv5: did you mean ipv6?\n")
    assert cli("entities").code == 2


def test_hostile_texts(folder: Path, cli: Cli) -> None:
    for number, text in enumerate(("[" * 100_000 + "]" * 100_000, '{"a": NaN}', "\x00\x1b[31m 192.0.2.1", '"\\ud800 192.0.2.1"')):
        (folder / f"{number}.txt").write_text(text)
        result = cli("entities", f"{number}.txt")
        assert result.code == 0
        assert "\x1b" not in result.out
