"""Reading YAML text into a tree with positions, and the exact messages for invalid texts."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from reducer.errors import Edit
from reducer.rules.diagnostics import Span
from reducer.rules.parser import MappingNode, ScalarNode, locate, parse, part, plain, replaced
from tests.rules.examples import CASES

RULE = """\
version: 1
tool: get_indicator_details   # a name
when: {min_chars: 2000}
steps:
  - path: resolutions
    limit: 20
    keep: [hostname, last-seen, "@timestamp"]
  - path: 'whois."raw text"'
    always_keep: risk == 'high' && note != 'it is #1'
    truncate: |
      first
        second
preserve: []
"""

VALID: list[tuple[str | bytes, Any]] = [
    *map(tuple, CASES["yaml"]),
    ("a: " + "9" * 300, {"a": int("9" * 300)}),
    ("\ufeffa: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
    (b"\xef\xbb\xbfa: \xc3\xa9", {"a": "é"}),
    ("[" * 64 + "]" * 64, json.loads("[" * 64 + "]" * 64)),
]
LARGE = "move samples to separate files, or split the rule"
INVISIBLE = "remove it, or write it as an escape sequence in double quotes"
INVALID: list[tuple[str | bytes, str, str]] = [
    (b"a: 1\nb: f\xfcr", "2:5 E001 the byte 0xfc is not UTF-8 text", "save the file as UTF-8"),
    ("a: 1".encode("utf-16"), "1:1 E001 the byte 0xff is not UTF-8 text", "save the file as UTF-8"),
    ("a: 1\nb: \u2028x", "2:4 E002 invisible character (U+2028)", INVISIBLE),
    ("a: \ud800", "1:4 E002 invisible character (U+D800)", INVISIBLE),
    ('a: "\\ud800"', "1:4 E042 escapes from \\ud800 to \\udfff are valid only in pairs", "remove it"),
    ("a: {b", "1:4 E035 this `{` is not closed", "write a: {b}"),
    ("[" * 100_000, "1:65 E003 nested deeper than 64 levels", LARGE),
    ("- " * 100_000, "1:129 E003 nested deeper than 64 levels", LARGE),
    ("#" * 250_001, "1:1 E003 the rule file has more than 250,000 characters", LARGE),
    ("a: " + "9" * 700, f"1:4 E041 the number `{'9' * 59}…` is too large", "put it in quotes"),
]


@pytest.mark.parametrize(("text", "expected", "advice"), INVALID, ids=[repr(text[:15]) for text, _, _ in INVALID])
def test_invalid_texts(text: str | bytes, expected: str, advice: str) -> None:
    _, report = parse(text, "r")
    found = [
        (f"{one.location.line}:{one.location.column} {one.code} {one.message}", one.help) for one in report.problems
    ]
    assert found == [(expected, advice)]


@pytest.mark.parametrize(("text", "expected"), VALID, ids=[repr(text[:30]) for text, _ in VALID])
def test_valid_texts(text: str | bytes, expected: Any) -> None:
    assert json.dumps(plain(valid(text))) == json.dumps(expected), "types and order too"


def test_reports_are_short_and_printable() -> None:
    _, report = parse("a: \x1b[31m\ud800", "r")
    assert [one.excerpt for one in report.problems] == ["a: \ufffd[31m\ufffd"], "nothing that a terminal cannot print"
    tree, report = parse("a: no\nb: {c: 2024-01-01}\npath: @\nd: 1\nd: 2\n", "r")
    assert tree is None
    assert [(one.location.line, one.code) for one in report.problems] == [(3, "E030")], "a syntax error comes alone"
    assert len(parse("a: [" + "no, " * 1000 + "]", "r")[1].problems) == 100


def valid(text: str | bytes) -> Any:
    """Parse a text without problems."""
    tree, report = parse(text, "r")
    assert report.problems == []
    assert tree is not None
    return tree


def test_nodes_have_positions() -> None:
    tree = valid(RULE)
    assert locate(tree, ("steps", 0, "keep", 2)) == ScalarNode(7, 33, 12, "@timestamp", '"@timestamp"')
    assert locate(tree, ("steps", 1, "truncate")) == ScalarNode(
        10, 15, 1, "first\n  second\n", "|\n      first\n        second"
    )
    entry = ScalarNode(3, 8, 9, "min_chars", "min_chars"), ScalarNode(3, 19, 4, 2000, "2000")
    assert locate(tree, ("when",)) == MappingNode(3, 7, 17, (entry,))


@pytest.mark.parametrize(("path", "key", "place"), CASES["places"])
def test_locates_a_path_or_its_nearest_ancestor(path: list[str | int], key: bool, place: list[int]) -> None:
    node = locate(valid(RULE), path, key=key)
    assert [node.line, node.column] == place


@pytest.mark.parametrize(("text", "offset", "expected"), CASES["characters"])
def test_the_position_of_a_character_of_a_value(text: str, offset: int, expected: list[int]) -> None:
    assert part(locate(valid(text), ("a",)), offset, 1) == Span(*expected, 1)


def test_a_replaced_value_has_the_same_quotes() -> None:
    for text, edit in [("a: bc", Edit(1, 4, 2, "bd")), ("a: 'bc'", Edit(1, 4, 4, "'bd'"))]:
        tree = valid(text)
        assert replaced(locate(tree, ("a",)), "bd") == (edit,)
        assert replaced(tree, "bd") == ()


HOSTILE = {
    "aliases": ("- *a\n" * 20_000, {"E030"}),
    "aliases in one line": ("[" + "*a, " * 20_000 + "]", {"E030"}),
    "tags": ("- !a b\n" * 20_000, {"E030"}),
    "empty values": ("[" + "{a, }," * 20_000 + "]", set()),
    "tabs": ("- [\t\t1]\n" * 20_000 + "- @", {"E036"}),
    "brackets": ("{" * 60 + "a: 1, " * 15_000, {"E049"}),
    "blank lines": ("a:\n" + " \n" * 120_000 + "a: 1\n", {"E012"}),
}


@pytest.mark.parametrize(("text", "codes"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_read_in_linear_time(text: str, codes: set[str]) -> None:
    assert {one.code for one in parse(text, "r.yaml")[1].problems} == codes


_numbers = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
_leaves = st.none() | st.booleans() | _numbers | st.text()
_values = st.recursive(_leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


class Quoting(yaml.SafeDumper):
    """Writes every text in quotes."""


Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


@given(_values, st.booleans(), st.booleans())
def test_quoted_yaml_is_read_back(value: Any, flow: bool, unicode: bool) -> None:
    text = yaml.dump(value, Dumper=Quoting, default_flow_style=flow, allow_unicode=unicode)
    # PyYAML does not escape these line separators, but rule files must.
    assume(not {"\ufeff", "\x85", "\u2028", "\u2029"} & set(text))
    assume("\\b" not in text)  # W040: it is read as a backspace
    assert plain(valid(text)) == value
