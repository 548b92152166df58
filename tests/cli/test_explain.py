"""`explain`: rules in sentences, why one return was reduced as it was, and codes."""

from __future__ import annotations

from pathlib import Path

from reducer.rules.diagnostics import catalogue
from tests.cli.conftest import RECORDS, Cli, history


def test_returns_by_their_id(folder: Path, cli: Cli) -> None:
    returns = ("lookup", {}), ("lookup", {"records": RECORDS}), ("final_result", {"a": 1})
    (folder / "h.json").write_bytes(history(*returns, ids=("c", "c", "d")))

    def explained(call: str) -> str:
        return cli("explain", "h.json", "--call", call, "--rules", "lookup.yaml").out

    assert explained("c#2").startswith("c#2, a return of `lookup`, ")
    assert explained("c").count("What it did") == 2
    assert "\nWhich rule\n  none: " in explained("d")


def test_every_code(cli: Cli) -> None:
    for code, entry in catalogue().items():
        assert cli("explain", code).out.startswith(f"{code} {entry.name}: {entry.cause}\n")
