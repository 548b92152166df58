"""`query`: places and values of a path, in samples and in histories."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result, history, process

Cli = Callable[..., Result]
ANSWER = {"total": 3, "hosts": [{"name": "a"}, {"name": "b\nc"}, {"name": "5"}], "raw": "x" * 500}


def test_the_returns_of_a_history(folder: Path, cli: Cli) -> None:
    returns = ("search", ANSWER), ("other", {"total": 9}), ("search", json.dumps({"total": 4}))
    (folder / "h.json").write_bytes(history(*returns, ids=("c", "d", "c")))
    first, second, third = (
        f"h.json {call} ({tool})\n  total  {total}\n  1 place\n"
        for call, tool, total in (("c", "search", 3), ("d", "other", 9), ("c#2", "search", 4))
    )
    assert cli("query", "total", "h.json").out == first + second + third
    assert cli("query", "total", "h.json", "--call", "c#2").out == third
    nothing = "\nnothing found in 2 answers: the return has the key `total`\n"
    assert cli("query", "hosts", "h.json").out.endswith(nothing)


def test_json(folder: Path, cli: Cli) -> None:
    (folder / "a.json").write_text(json.dumps(ANSWER))

    def answers(path: str) -> list[dict[str, object]]:
        written = json.loads(cli("query", path, "a.json", "--format", "json").out)
        assert written["expression"] == path
        found: list[dict[str, object]] = written["answers"]
        return found

    sample = {"file": "a.json", "tool": None, "call": None}
    place = {"path": "hosts[0]", "value": {"name": "a"}}
    nothing = {"nothing": "the return has no key `host`; did you mean `hosts`?", "suggestion": "hosts"}
    assert answers("hosts[?name == 'a']") == [
        {**sample, "count": 1, "places": [place], "nothing": None, "suggestion": None}
    ]
    assert answers("host") == [{**sample, "count": 0, "places": [], **nothing}]
    assert answers("length(hosts)") == [{**sample, "value": 3}]


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
