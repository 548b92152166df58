"""`query`: places and values of a path, in samples and in histories."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result, history, process

Cli = Callable[..., Result]
ANSWER = {"total": 3, "hosts": [{"name": "a"}, {"name": "b\nc"}, {"name": "5"}], "raw": "x" * 500}


def test_places_and_values_of_a_sample(folder: Path, cli: Cli) -> None:
    (folder / "a.json").write_text(json.dumps(ANSWER))
    result = cli("query", "hosts[*].name", "a.json", "--max-places", "2")
    assert (result.code, result.err) == (0, "")
    assert (
        result.out
        == 'a.json\n  hosts[0].name  "a"\n  hosts[1].name  "b\\nc"\n  3 places; first 2 shown, `--max-places 3` shows all\n'
    )
    assert cli("query", "raw", "a.json").out == f'a.json\n  raw  "{"x" * 99}…\n  1 place\n'


def test_nothing_is_explained_from_the_data(folder: Path, cli: Cli) -> None:
    (folder / "a.json").write_text(json.dumps(ANSWER))
    result = cli("query", "hosts.name", "a.json")
    assert (result.code, result.out) == (
        1,
        "nothing found: `hosts` is a list, so `.name` finds nothing there; did you mean `hosts[*].name`?\n",
    )


def test_the_returns_of_a_history(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(
        history(("search", ANSWER), ("other", {"total": 9}), ("search", json.dumps({"total": 4})), ids=("c", "d", "c"))
    )
    assert (
        cli("query", "total", "h.json").out
        == "h.json c (search)\n  total  3\n  1 place\nh.json d (other)\n  total  9\n  1 place\nh.json c#2 (search)\n  total  4\n  1 place\n"
    )
    assert cli("query", "total", "h.json", "--call", "c#2").out == "h.json c#2 (search)\n  total  4\n  1 place\n"
    assert cli("query", "hosts", "h.json").out.endswith(
        "\nnothing found in 2 answers: the return has the key `total`\n"
    )
    assert (
        cli("query", "total", "h.json", "--tool", "serch").err
        == "reducer: error: --tool serch: no such tool; did you mean `search`?\n"
    )
    assert cli("query", "total", "h.json", "--call", "x").code == 2


def test_conditions_are_evaluated(folder: Path, cli: Cli) -> None:
    (folder / "a.json").write_text(json.dumps(ANSWER))
    assert cli("query", "length(hosts)", "a.json") == Result(0, "a.json\n  3\n", "")
    assert cli("query", "total > `5`", "a.json") == Result(1, "a.json\n  false\n", "")


def test_json(folder: Path, cli: Cli) -> None:
    (folder / "a.json").write_text(json.dumps(ANSWER))
    told = json.loads(cli("query", "hosts[?name == 'a']", "a.json", "--format", "json").out)
    assert (told["expression"], told["names_places"]) == ("hosts[?name == 'a']", True)
    assert told["answers"] == [
        {"file": "a.json", "tool": None, "call": None, "count": 1, "places": [{"path": "hosts[0]", "value": {"name": "a"}}], "nothing": None, "suggestion": None}
    ]  # fmt: skip
    told = json.loads(cli("query", "host", "a.json", "--format", "json").out)
    assert (told["answers"][0]["nothing"], told["answers"][0]["suggestion"]) == (
        "the return has no key `host`; did you mean `hosts`?",
        "hosts",
    )
    assert json.loads(cli("query", "length(hosts)", "a.json", "--format", "json").out)["answers"] == [
        {"file": "a.json", "tool": None, "call": None, "value": 3}
    ]


def test_a_wrong_path_is_pointed_at(folder: Path, cli: Cli) -> None:
    (folder / "a.json").write_text("{}")
    result = cli("query", "a..b", "a.json")
    assert (result.code, result.out) == (2, "")
    lines = result.err.splitlines()
    assert lines[:2] == ["  a..b", "    ^"]
    assert lines[2].startswith("  help: ")
    assert lines[3].startswith("reducer: error: column 3 of the path: ")


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b"[" * 400 + b"]" * 400,
        b"word",
        b'"\\ud800"',
        b'{"a": 1e999, "b": NaN}',
        b"[" * 130 + b"]" * 130,
    ],
)
def test_hostile_answers(folder: Path, cli: Cli, content: bytes) -> None:
    (folder / "x.json").write_bytes(content)
    for path in ("a", "@", "length(@)"):
        assert cli("query", path, "x.json").code in (0, 1)
        assert cli("query", path, "x.json", "--format", "json").code in (0, 1)


def test_standard_input(folder: Path) -> None:
    result = process("query", "a.b", "-", input=b'{"a": {"b": "\xc3\xa9"}}')
    assert (result.code, result.out) == (0, 'standard input\n  a.b  "é"\n  1 place\n')
