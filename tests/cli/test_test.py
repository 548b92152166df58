"""`test`: the tests in rule files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import RULE, Result, history, process

Cli = Callable[..., Result]

TESTED = """\
version: 1
tool: lookup
steps:
  - path: records
    limit: 2
  - path: rcords
    drop: raw
tests:
  - name: two stay
    given: {json: {records: [{name: a}, {name: b}, {name: 192.0.2.1}], total: 3}}
    expect:
      EXPECT
  - name: a short list is left alone
    given: {json: {records: [{name: a}]}}
    expect: {unchanged: true}
"""

WORDS = "went on for a long time with its mails and with nothing else"
LAWLESS = f"""\
version: 1
tool: t
steps:
  - path: items
    dedupe: text
  - truncate: 20
tests:
  - name: a
    given: {{json: {{items: [{{text: the same beginning of x {WORDS}}}, {{text: the same beginning of y {WORDS}}}]}}}}
    expect: {{max_chars: 4000}}
"""


def expecting(expect: str) -> str:
    return TESTED.replace("EXPECT", expect)


def test_tests_that_pass(folder: Path, cli: Cli) -> None:
    (folder / "lookup.yaml").write_text(expecting("values: {length(records): 2}"))
    result = cli("test", "lookup.yaml")
    assert (result.code, result.out, result.err) == (0, "2 tests of 1 rule: all passed\n", "")
    assert cli("test", "lookup.yaml", "-v").out == (
        "passed  lookup.yaml: two stay (70 -> 49 characters)\n"
        "passed  lookup.yaml: a short list is left alone (26 characters, unchanged)\n"
        "2 tests of 1 rule: all passed\n"
    )


def test_a_failure_is_told_at_its_line_with_what_was_seen_and_what_the_steps_did(folder: Path) -> None:
    (folder / "lookup.yaml").write_text(expecting('values: {length(records): 2, "records[1].nam": b}'))
    result = process("test", "lookup.yaml")
    assert (result.code, result.err) == (1, "")
    assert result.out == (
        "lookup.yaml:12:54: failed: test `two stay`: `records[1].nam` is not as expected\n"
        '  12 |       values: {length(records): 2, "records[1].nam": b}\n'
        "     |                                                      ^\n"
        '  expected: "b"\n'
        "  found:    null\n"
        "  help: `records[1]` has no key `nam`; did you mean `records[1].name`?\n"
        "  step 1, limit records: 70 -> 49 characters\n"
        "  step 2, drop rcords: the return has no key `rcords`; did you mean `records`?\n"
        "\n"
        "2 tests of 1 rule: 1 failed\n"
    )


@pytest.mark.parametrize(
    ("expect", "place", "words"),
    [
        ("unchanged: true", "12:18", 'expected: at `records` [{"name":"a"},{"name":"b"},{"name":"192.0.2.1"}]\n  found:    at `records` [{'),
        ("equals: {records: [{name: a}, {name: c}], total: 3}", "12:15", 'expected: at `records[1].name` "c"\n  found:    at `records[1].name` "b"'),
        ("contains: [b, 192.0.2.1]", "12:21", "help: step 1, `limit records`, removed it (line 4)"),
        ("contains: [b, zz]", "12:21", "help: it is not in the given content either"),
        ("not_contains: total", "12:21", "expected: no \"total\"\n  found:    total"),
        ("max_chars: 40", "12:18", "9 characters too many\n"),
        ("min_reduction: 80%", "12:22", "expected: at least 80% less\n  found:    30.0% less: 70 -> 49 characters"),
        ("preserves: ip", "12:18", "found:    0 of 1; lost: 192.0.2.1 (ipv4)\n  help: step 1, `limit records`, removed 192.0.2.1 (line 4)"),
        ("values: {total: true}", "12:23", "expected: true\n  found:    3"),
        ('values: {"length(": 1}', "12:27", "`length(`, column 8: the expression ends too early"),
        ("snapshot: two.json", "12:17", "two.json: No such file or directory"),
    ],
)  # fmt: skip
def test_every_expectation_says_what_it_expected_and_saw(
    folder: Path, cli: Cli, expect: str, place: str, words: str
) -> None:
    (folder / "lookup.yaml").write_text(expecting(expect))
    result = cli("test", "lookup.yaml")
    assert result.code == 1
    assert result.out.startswith(f"lookup.yaml:{place}: failed: test `two stay`: ")
    assert words in result.out
    assert result.out.endswith("\n2 tests of 1 rule: 1 failed\n")


def test_what_is_given_in_files(folder: Path, cli: Cli) -> None:
    (folder / "lookup.yaml").write_text(RULE + "tests:\n  - {name: a, given: GIVEN, expect: {unchanged: false}}\n")
    rule = (folder / "lookup.yaml").read_text()
    (folder / "long.txt").write_text("a text")

    def given(what: str) -> Result:
        (folder / "lookup.yaml").write_text(rule.replace("GIVEN", what))
        return cli("test", "lookup.yaml")

    assert given("{history: h.json}").code == 0
    assert given("{history: h.json, call: c1}").code == 0
    assert (
        "9:22: failed: test `a`: h.json: has 0 returns of `lookup` with the call id `c7`; choose one with `call`; there are `c1` of `lookup`"
        in given("{history: h.json, call: c7}").out
    )
    (folder / "two.json").write_bytes(
        history(
            ("lookup", {"records": [1]}),
            ("lookup", {"records": [1, 2, 3, 4, 5, 6]}),
            ("other", {}),
            ids=("a", "a", "b"),
        )
    )
    assert (
        "has 2 returns of `lookup`; choose one with `call`; there are `a` of `lookup`, `a#2` of `lookup`"
        in given("{history: two.json}").out
    )
    assert "nothing changed" in given("{history: two.json, call: a}").out
    assert given('{history: two.json, call: "a#2"}').code == 0
    (folder / "none.json").write_bytes(history(("other", {})))
    assert (
        "has 0 returns of `lookup`; choose one with `call`; there are `c1` of `other`"
        in given("{history: none.json}").out
    )
    assert "long.txt: not JSON" in given("{history: long.txt}").out
    assert "nothing changed" in given("{file: long.txt}").out
    assert "none.yaml: No such file or directory" in given("{file: none.yaml}").out
    (folder / "bad.json").write_text('{"a": NaN}')
    assert "bad.json: not JSON: it contains NaN" in given("{file: bad.json}").out
    (folder / "bad.json").write_text("[" * 100_000)
    assert "bad.json: it is nested too deeply" in given("{file: bad.json}").out
    (folder / "bad.json").write_bytes(b"\xff")
    assert "bad.json: not UTF-8 text: byte 0xff at byte 1" in given("{file: bad.json}").out
    assert given("{file: h.json, call: c1}").code == 2


def test_a_misspelt_key_in_a_test_is_an_error(folder: Path, cli: Cli) -> None:
    (folder / "lookup.yaml").write_text(expecting("max_char: 3"))
    result = cli("test", "lookup.yaml")
    assert (result.code, result.out) == (2, "")
    assert "lookup.yaml:12:7: error" in result.err
    assert "did you mean `max_chars`?" in result.err


def test_snapshots_are_written_and_compared(folder: Path, cli: Cli) -> None:
    (folder / "lookup.yaml").write_text(expecting("snapshot: snapshots/two.json"))
    assert cli("test", "lookup.yaml").code == 1
    assert not (folder / "snapshots").exists()
    result = cli("test", "lookup.yaml", "--update")
    assert result.code == 0
    assert "reducer: wrote snapshots/two.json, 98 bytes" in result.err
    written = (folder / "snapshots" / "two.json").read_text()
    assert json.loads(written) == {"records": [{"name": "a"}, {"name": "b"}], "total": 3}
    again = cli("test", "lookup.yaml", "--update")
    assert (again.code, again.err) == (0, "")
    (folder / "snapshots" / "two.json").write_text(written.replace("3", "4"))
    result = cli("test", "lookup.yaml")
    assert result.code == 1
    assert "expected: at `total` 4\n  found:    at `total` 3\n  help: `--update` writes" in result.out


def test_a_snapshot_is_never_what_is_read(folder: Path, cli: Cli) -> None:
    (folder / "s.json").write_text('{"records": [1, 2, 3]}')
    (folder / "lookup.yaml").write_text(
        RULE + "tests:\n  - {name: a, given: {file: s.json}, expect: {snapshot: ./s.json}}\n"
    )
    (folder / "lookup.yaml").write_text((folder / "lookup.yaml").read_text().replace("limit: 5", "limit: 1"))
    result = cli("test", "lookup.yaml", "--update")
    assert result.code == 1
    assert "s.json is what a test starts from" in result.out
    assert (folder / "s.json").read_text() == '{"records": [1, 2, 3]}'
    for name, expected in (
        ("../s.json", "a file in the folder of the rule file or below"),
        ("/tmp/s.json", "a file in the folder of the rule file or below"),
        ("a\\\\b.json", "a file in the folder of the rule file or below"),
        ("lookup.yaml", "a name that ends in .json or .txt"),
    ):
        (folder / "lookup.yaml").write_text(expecting(f'snapshot: "{name}"'))
        assert f"expected {expected}" in cli("test", "lookup.yaml").err


def test_two_tests_that_differ_cannot_have_one_snapshot(folder: Path, cli: Cli) -> None:
    (folder / "lookup.yaml").write_text(
        expecting("snapshot: s.json").replace("{unchanged: true}", "{snapshot: s.json}")
    )
    assert cli("test", "lookup.yaml", "--update").code == 1


def test_what_tests_leave_out(folder: Path, cli: Cli) -> None:
    (folder / "lookup.yaml").write_text(expecting("max_chars: 60"))
    (folder / "other.yaml").write_text(RULE.replace("lookup", "other"))
    result = cli("test", "lookup.yaml", "other.yaml", "--coverage")
    assert result.code == 0
    assert result.out == (
        "lookup.yaml:7:5: not tested: step 2, `drop rcords`, finds nothing in any test\n"
        "  7 |     drop: raw\n"
        "    |     ^^^^\n\n"
        "other.yaml:2:1: not tested: this rule has no tests\n"
        "  2 | tool: other\n"
        "    | ^^^^\n\n"
        "coverage: 1 of 2 rules have tests, which exercise 1 of 4 steps\n"
        "2 tests of 2 rules: all passed\n"
    )
    required = cli("test", "lookup.yaml", "other.yaml", "--require-tests")
    assert required.code == 1
    assert "other.yaml:2:1: failed: this rule has no tests" in required.out
    assert required.out.endswith("2 tests of 2 rules: all passed; 1 rule without tests\n")
    assert cli("test", "lookup.yaml", "--require-tests").code == 0


def test_no_rules_and_no_tests_are_said(folder: Path, cli: Cli) -> None:
    assert cli("test", "lookup.yaml").out == "1 rule, no tests\n"
    (folder / "none").mkdir()
    result = cli("test", "none")
    assert (result.code, result.err) == (
        2,
        "reducer: error: none: no rule files (.yaml or .yml) in this folder\n",
    )
    assert cli("test", "lookup.yaml", "-k", "x").code == 2


def test_the_bundled_rules_pass(folder: Path, cli: Cli) -> None:
    result = cli("test")
    assert result.code == 0
    assert result.out.endswith(": all passed\n")


def test_a_broken_law_fails_without_an_expectation(folder: Path, cli: Cli) -> None:
    (folder / "lookup.yaml").write_text(LAWLESS)
    result = cli("test", "lookup.yaml")
    assert result.code == 1
    assert (
        "failed: test `a`: law 5, reducing again changes nothing: a second pass would change the result: `dedupe items` is to blame"
        in result.out
    )
    (folder / "lookup.yaml").write_text(LAWLESS.replace("truncate: 20", "truncate: 40"))
    assert cli("test", "lookup.yaml").code == 0


def test_formats_for_programs(folder: Path, cli: Cli) -> None:
    (folder / "lookup.yaml").write_text(expecting("max_chars: 40").replace("two stay", '"two <stay> \\e[2J & \\uffff"'))
    result = cli("test", "lookup.yaml", "--format", "json", "--coverage")
    assert result.code == 1
    told = json.loads(result.out)
    assert (told["passed"], told["failed"], len(told["tests"])) == (1, 1, 2)
    (failure,) = told["tests"][0]["failures"]
    assert (failure["what"], failure["line"], failure["column"], failure["found"]) == (
        "max_chars",
        12,
        18,
        "49 characters",
    )
    assert told["coverage"]["steps"] == {"all": 2, "exercised": 1}
    result = cli("test", "lookup.yaml", "--format", "junit")
    assert result.code == 1
    root = ElementTree.fromstring(result.out)
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    first, second = root.findall("testsuite/testcase")
    assert (first.get("name"), first.get("line")) == ("two <stay> \\x1b[2J & \\uffff", "9")
    text = first.findtext("failure")
    assert text is not None
    assert "expected: at most 40 characters" in text
    assert second.find("failure") is None


def test_some_tests_are_run(folder: Path, cli: Cli) -> None:
    (folder / "lookup.yaml").write_text(expecting("max_chars: 1"))
    for text in ("short", "A short LIST"):
        assert cli("test", "lookup.yaml", "-k", text).out == "1 test of 1 rule: passed\n"
    result = cli("test", "lookup.yaml", "-k", "short", "--coverage")
    assert (result.code, result.out) == (2, "")
