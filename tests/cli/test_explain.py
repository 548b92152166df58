"""`explain`: rules in sentences, why one return was reduced as it was, and codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reducer.rules.diagnostics import catalogue
from tests.cli.conftest import RECORDS, RULE, Result, history, process

Cli = Callable[..., Result]
DESCRIPTION = "  - line 4: keeps the first 5 `records`, each with `name` and `seen`\n"


def explain(cli: Cli, call: str = "c1", *rules: str) -> str:
    result = cli("explain", "h.json", "--call", call, *(part for rule in rules for part in ("--rules", rule)))
    assert (result.code, result.err) == (0, "")
    return result.out


def test_rules(folder: Path) -> None:
    (folder / "any.yaml").write_text("version: 1\ntool: [a, b]\ndescription: Any of them.\nmax_chars: 500\n")
    assert process("explain", "lookup.yaml", "any.yaml").out == (
        f"lookup.yaml, for `lookup`\n{DESCRIPTION}\n"
        "any.yaml, for `a`, `b`\n"
        "  Any of them.\n"
        "  - cuts lists and texts evenly where more than 500 characters are left\n"
    )


def test_one_return(folder: Path, cli: Cli) -> None:
    (folder / "rules").mkdir()
    for name, tool in (("lookup", "lookup"), ("glob", '"look*"'), ("all", '"*"')):
        (folder / f"rules/{name}.yaml").write_text(RULE.replace("tool: lookup", f"tool: {tool}"))
    out = explain(cli)
    assert out.startswith("c1, a return of `lookup`, 2,913 characters\n")
    assert (
        "\nWhich rule\n"
        "  rules/lookup.yaml: `lookup` is the name of the tool\n"
        "  not rules/glob.yaml: `look*` matches too, but has lower precedence\n"
        "  not rules/all.yaml: `*` matches too, but has lower precedence\n"
        "  An exact name comes first, then the glob with the most literal characters, then `*`.\n"
        f"\nWhat the rule does\n{DESCRIPTION}"
        "\nWhat it did\n"
    ) in out
    assert "step 1, limit records: " in out
    assert "- records[5..29]: 25 of 30 items, " in out
    assert "step 2, keep records: " in out


def test_returns_that_stay(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(history(("lokup", {"records": RECORDS}), ("final_result", {}), ("lookup", "x")))
    (folder / "lookup.yaml").write_text(RULE.replace("steps:", "when: {min_chars: 90000}\nsteps:"))
    out = explain(cli, "c1", "lookup.yaml")
    assert "\nWhich rule\n  none matches; did you mean `lookup`?\n" in out
    assert "What the rule does" not in out
    assert "\nWhich rule\n  none: " in explain(cli, "c2", "lookup.yaml")
    assert "1 characters, unchanged: the rule's `when` does not hold\n" in explain(cli, "c3", "lookup.yaml")


def test_several_returns_with_one_id(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(history(("lookup", {}), ("lookup", {"records": RECORDS}), ids=("c", "c")))
    assert explain(cli, "c#2", "lookup.yaml").startswith("c#2, a return of `lookup`, ")
    assert explain(cli, "c", "lookup.yaml").count("What it did") == 2


def test_codes(cli: Cli) -> None:
    result = cli("explain", "e010")
    assert result == cli("explain", "unknown-key")
    assert result == Result(
        0,
        "E010 unknown-key: The rule language has no such key at this place.\n"
        "\nwrong:\n  - path: items\n    limt: 20\n\nright:\n  - path: items\n    limit: 20\n",
        "",
    )
    assert cli("explain", "V030").out.startswith("V030 error: A tool call has no tool return before the next response.")
    for code, entry in catalogue().items():
        assert cli("explain", code).out.startswith(f"{code} {entry.name}: {entry.cause}\n")
