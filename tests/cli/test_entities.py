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
    assert result.out.splitlines()[-1] == "4 entities, 5 occurrences"


def test_types_and_refanging(folder: Path, cli: Cli) -> None:
    (folder / "note.txt").write_text(TEXT)
    assert rows(cli("entities", "note.txt", "--type", "ip", "--type", "url", "--refang")) == [
        ["url", "http://evil.com/a", "1", "1:7"],
        ["ipv4", "192.0.2.4", "2", "1:31"],
    ]
    assert cli("entities", "note.txt", "--type", "sha256").out == "no entities\n"


def test_json_gives_paths(folder: Path, cli: Cli) -> None:
    (folder / "a.json").write_text(
        json.dumps({"hits": [{"ip": "192.0.2.1"}], "evil.example.com": {"a b": ["see CVE-2024-3400"]}})
    )
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


def places(result: Result) -> list[tuple[str, str, str]]:
    found = [json.loads(line) for line in result.out.splitlines()]
    return [(line["type"], line["value"], line["place"]) for line in found]


def test_json_lines_give_lines_and_paths(folder: Path, cli: Cli) -> None:
    (folder / "a.jsonl").write_text('{"ip": "192.0.2.1"}\r\n\n["evil.com\\n192.0.2.2"]\n{"a": 1}\n')
    result = cli("entities", "a.jsonl", "--format", "jsonl")
    assert places(result) == [
        ("ipv4", "192.0.2.1", "1:ip"),
        ("domain", "evil.com", "3:[0]"),
        ("ipv4", "192.0.2.2", "3:[0]"),
    ]


def test_lines_of_which_one_is_no_json_are_a_text(folder: Path, cli: Cli) -> None:
    (folder / "a.log").write_text('{"ip": "192.0.2.1"}\nstarted\n')
    assert places(cli("entities", "a.log", "--format", "jsonl")) == [("ipv4", "192.0.2.1", "1:9")]


OWN = "version: 1\nentities:\n  ticket: {words: [INC-7, INC-8]}\n  domain: {ignore: [evil.com]}\n"


def test_types_of_rule_files(folder: Path, cli: Cli) -> None:
    (folder / "own.yaml").write_text(OWN)
    (folder / "note.txt").write_text("INC-7 and INC-9: bad.com, www.evil.com")
    assert places(cli("entities", "note.txt", "--rules", "own.yaml", "--format", "jsonl")) == [
        ("ticket", "INC-7", "1:1"),
        ("domain", "bad.com", "1:18"),
    ]
    assert rows(cli("entities", "note.txt", "--rules", ".", "--type", "ticket")) == [["ticket", "INC-7", "1", "1:1"]]
    assert [row[0] for row in rows(cli("entities", "note.txt"))] == ["domain", "domain"]
    assert cli("entities", "note.txt", "--type", "ticket").err.startswith(
        "reducer: error: unknown entity type ticket; "
    )
    assert cli("entities", "note.txt", "--rules", "own.yaml", "--type", "tickets").err.endswith(
        "did you mean ticket?\n"
    )


def test_rule_files_that_cannot_be_used(folder: Path, cli: Cli) -> None:
    (folder / "own.yaml").write_text(OWN.replace("words", "wrods"))
    result = cli("entities", "h.json", "--rules", "own.yaml")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("own.yaml:3:12: error[E010]: unknown key `wrods`\n")
    assert result.err.endswith("reducer: error: own.yaml: 1 error in the rules; nothing was read\n")
    assert cli("entities", "h.json", "--rules", "gone") == Result(
        2, "", "reducer: error: gone: No such file or directory\n"
    )


def test_a_text_in_utf_16(folder: Path, cli: Cli) -> None:
    (folder / "note.txt").write_bytes(TEXT.encode("utf-16"))
    assert len(rows(cli("entities", "note.txt"))) == 4


def test_nothing_to_read(folder: Path, cli: Cli) -> None:
    (folder / "empty").write_bytes(b"")
    assert cli("entities", "empty") == Result(0, "no entities\n", "")
    assert cli("entities", "empty", "--format", "jsonl") == Result(0, "", "")
    assert cli("entities", ".").err == "reducer: error: .: Is a directory\n"


def test_names_of_other_products_are_known(folder: Path, cli: Cli) -> None:
    assert (
        cli("entities", "h.json", "--type", "ip-src").err
        == "reducer: error: unknown entity type ip-src; did you mean ipv4?\n"
    )


def test_what_cannot_be_done(folder: Path, cli: Cli) -> None:
    assert cli("entities", "gone.txt") == Result(2, "", "reducer: error: gone.txt: No such file or directory\n")
    assert cli("entities", "lookup.yaml", "--type", "ipv5") == Result(
        2, "", "reducer: error: unknown entity type ipv5; did you mean ipv6?\n"
    )
    assert cli("entities").code == 2


def test_hostile_texts(folder: Path, cli: Cli) -> None:
    for number, text in enumerate(
        (
            "[" * 100_000 + "]" * 100_000,
            '{"a": NaN}',
            "\x00\x1b[31m 192.0.2.1",
            '"\\ud800 192.0.2.1"',
            '{"a": "x"}\n' + '{"a":' * 100_000,
        )
    ):
        (folder / f"{number}.txt").write_text(text)
        result = cli("entities", f"{number}.txt")
        assert result.code == 0
        assert "\x1b" not in result.out
