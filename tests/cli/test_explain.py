"""`explain`: rules in plain words, and why one return was reduced as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import RECORDS, RULE, Result, history, process

Cli = Callable[..., Result]


def test_rules_in_descriptions(folder: Path, cli: Cli) -> None:
    (folder / "any.yaml").write_text("version: 1\ntool: [a, b, c, d]\ndescription: Any of them.\nmax_chars: 500\n")
    assert cli("explain", "lookup.yaml", "any.yaml") == Result(
        0,
        "lookup.yaml, for `lookup`\n"
        "  - line 4: keeps the first 5 `records`, each with `name` and `seen`\n"
        "\n"
        "any.yaml, for `a`, `b`, `c` and 1 more\n"
        "  Any of them.\n"
        "  - shortens lists and texts further if more than 500 characters are left\n",
        "",
    )


def test_one_return(folder: Path, cli: Cli) -> None:
    (folder / "rules").mkdir()
    for name, tool in (("lookup", "lookup"), ("glob", '"look*"'), ("all", '"*"')):
        (folder / f"rules/{name}.yaml").write_text(RULE.replace("tool: lookup", f"tool: {tool}"))
    result = cli("explain", "h.json", "--call", "c1")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("c1, a return of `lookup`, 2,913 ")
    assert (
        "\nWhich rule\n"
        "  rules/lookup.yaml: `lookup` is the name of the tool\n"
        "  not rules/glob.yaml: `look*` matches too, but an exact name has precedence over globs\n"
        "  not rules/all.yaml: `*` matches too, but an exact name has precedence over globs\n"
        "\nWhat the rule does\n"
        "  - line 4: keeps the first 5 `records`, each with `name` and `seen`\n"
        "\nWhat it did\n"
    ) in result.out
    assert "step 1, limit records: " in result.out
    assert "- records[5..29]: 25 of 30 items, " in result.out
    assert "step 2, keep records: " in result.out


def test_globs_are_weighed(folder: Path, cli: Cli) -> None:
    for name, tool in (("a", '["look*", "lo*"]'), ("b", '"l*p"'), ("c", '"*"')):
        (folder / f"{name}.yaml").write_text(RULE.replace("tool: lookup", f"tool: {tool}"))
    out = cli("explain", "h.json", "--call", "c1", "--rules", "a.yaml", "--rules", "b.yaml", "--rules", "c.yaml").out
    assert (
        "  a.yaml: `look*` matches it\n  also in this file: `lo*` matches too, but it has 2 literal characters and `look*` has 4\n"
        in out
    )
    assert (
        "  not b.yaml: `l*p` matches too, but it has 2 literal characters and `look*` has 4\n  not c.yaml: `*` matches too, but `*` comes last\n"
        in out
    )


def test_a_return_without_a_rule(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(history(("lokup", {"records": RECORDS}), ("final_result", {"a": 1})))
    out = cli("explain", "h.json", "--call", "c1", "--rules", "lookup.yaml").out
    assert "  none: none of the 1 names and globs of 1 rule matches; the most similar name is `lookup`\n" in out
    assert "What the rule does" not in out
    assert "  none: " in cli("explain", "h.json", "--call", "c2", "--rules", "lookup.yaml").out


def test_a_closed_gate(folder: Path, cli: Cli) -> None:
    (folder / "lookup.yaml").write_text(RULE.replace("steps:", "when: {min_chars: 90000}\nsteps:"))
    out = cli("explain", "h.json", "--call", "c1", "--rules", "lookup.yaml").out
    assert "characters, unchanged: it has 2,913 " in out
    assert ", and `min_chars` is 90,000\n" in out
    (folder / "lookup.yaml").write_text(RULE.replace("steps:", "when: {where: nothing}\nsteps:"))
    assert (
        "unchanged: `nothing` does not hold\n" in cli("explain", "h.json", "--call", "c1", "--rules", "lookup.yaml").out
    )


def test_the_second_return_with_an_id(folder: Path, cli: Cli) -> None:
    (folder / "h.json").write_bytes(
        history(("lookup", {"records": []}), ("lookup", {"records": RECORDS}), ids=("c", "c"))
    )
    assert cli("explain", "h.json", "--call", "c#2", "--rules", "lookup.yaml").out.startswith(
        "c#2, a return of `lookup`, "
    )
    assert cli("explain", "h.json", "--call", "c", "--rules", "lookup.yaml").out.count("What it did") == 2


def test_codes(folder: Path, cli: Cli) -> None:
    result = cli("explain", "e010")
    assert result.code == 0
    assert result.out.startswith("E010 ")
    assert "\nwrong:\n" in result.out
    assert "\nright:\n" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("h.json",), "h.json: to explain a return of a history, add --call ID"),
        (
            ("h.json", "--call", "c9", "--rules", "lookup.yaml"),
            "--call c9: no tool return has this call id; available: `c1`",
        ),
        (("h.json", "h.json", "--call", "c1"), "--call selects a return of one history; name one HISTORY"),
        (
            ("lookup.yaml", "--rules", "lookup.yaml"),
            "--rules needs a HISTORY and --call ID; to explain rules, use `explain RULES`",
        ),
        (("none.yaml",), "none.yaml: No such file or directory"),
        (("lookup.yaml", "--call", "c1", "--rules", "lookup.yaml"), None),
        (("E999",), None),
    ],
)
def test_what_cannot_be_explained(folder: Path, cli: Cli, arguments: tuple[str, ...], message: str | None) -> None:
    result = cli("explain", *arguments)
    assert (result.code, result.out) == (2, "")
    assert (
        result.err.startswith("reducer: error: ") if message is None else result.err == f"reducer: error: {message}\n"
    )


def test_as_a_process(folder: Path) -> None:
    assert (
        process("explain", "lookup.yaml").out
        == "lookup.yaml, for `lookup`\n  - line 4: keeps the first 5 `records`, each with `name` and `seen`\n"
    )
