"""YAML text to a tree with positions: exact messages for what is wrong, and any text gives a tree or an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from reducer.errors import Edit
from reducer.rules.parser import parse
from reducer.rules.tree import Mapping, Scalar, Sequence, Tree, locate, plain, position, replaced

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

# text, location with code and message, help
WRONG: list[tuple[str, str, str]] = [
    ("path: @", "1:7 E030 a value cannot start with `@` without quotes", 'write path: "@"'),
    ("steps:\n  - path: *.name", "2:11 E030 a value cannot start with `*` without quotes", 'write path: "*.name"'),
    ("path: %x", "1:7 E030 a value cannot start with `%` without quotes", 'write path: "%x"'),
    ("where: `true`", "1:8 E030 a value cannot start with ``` without quotes", 'write where: "`true`"'),
    (
        "where: !active && risk",
        "1:8 E030 a value cannot start with `!` without quotes",
        'write where: "!active && risk"',
    ),
    ("a: &x 1", "1:4 E030 a value cannot start with `&` without quotes", 'write a: "&x 1"'),
    ("where: | b", "1:8 E030 a value cannot start with `|` without quotes", 'write where: "| b"'),
    ("keep: [a, @timestamp]", "1:11 E030 a value cannot start with `@` without quotes", 'write "@timestamp"'),
    (
        "path: [?risk=='high'].name",
        "1:7 E031 a value that starts with `[` needs quotes, unless it is a list",
        "write path: \"[?risk=='high'].name\"",
    ),
    (
        "path: [?risk=='high']",
        "1:7 E031 a value that starts with `[` needs quotes, unless it is a list",
        "write path: \"[?risk=='high']\"",
    ),
    (
        "path: [*].name",
        "1:7 E031 a value that starts with `[` needs quotes, unless it is a list",
        'write path: "[*].name"',
    ),
    (
        "path: {a: b}.c",
        "1:7 E031 a value that starts with `{` needs quotes, unless it is an object",
        'write path: "{a: b}.c"',
    ),
    (
        "description: note: it is",
        "1:14 E032 a value that contains `: ` needs quotes",
        'write description: "note: it is"',
    ),
    ("path: 'a[?b=='c']'", "1:7 E033 there is more text after the closing quote", "write path: \"a[?b=='c']\""),
    ("where: 'a' == b", "1:8 E033 there is more text after the closing quote", "write where: \"'a' == b\""),
    ("@timestamp: 1", "1:1 E030 a key cannot start with `@` without quotes", 'write "@timestamp":'),
    ('a: "b', "1:4 E034 this quote is not closed", "add the closing quote"),
    ('a: "b\nc: "d"\n', "1:4 E034 this quote is not closed", "add the closing quote"),
    ("keep: [a, b\nlimit: 3", "1:7 E035 this `[` is not closed", "add the closing `]`"),
    ("when: {min_chars: 3\n", "1:7 E035 this `{` is not closed", "add the closing `}`"),
    ("limit: {head: 2 tail: 3}", "1:21 E035 a `,` or `}` is missing before this", ""),
    ("a: [1]]", "1:7 E035 this `]` has no opening bracket", ""),
    (
        'pattern: "\\d+"',
        "1:11 E042 `\\d` is not an escape in double quotes",
        "use single quotes, or write two backslashes",
    ),
    ("steps:\n\t- path: a", "2:1 E036 YAML does not allow a tab here", "replace the tab with spaces"),
    ("a:\n  b: 1\n \tc: 2", "3:2 E036 YAML does not allow a tab here", "replace the tab with spaces"),
    (
        "a: 1\n b: 2",
        "2:2 E038 the indentation of this line does not fit the lines above it",
        "align this line with the lines at its level",
    ),
    (
        "a:\n  b: 1\n c: 2",
        "3:2 E038 the indentation of this line does not fit the lines above it",
        "align this line with the lines at its level",
    ),
    ("- a\nb: 1", "2:1 E046 this line lacks the dash of a list item", "put `- ` before the first key of each item"),
    ("path: x\nlimit:20\norder: asc", "2:1 E037 a space is missing after the colon", "write limit: 20"),
    ("limit: {head:2, tail: 3}", "1:9 E037 a space is missing after the colon", "write head: 2"),
    ("- a\n-b\n- c", "2:1 E037 a space is missing after the dash", "write - b"),
    ("path: x\nlimit 20\norder: asc", "2:1 E039 the colon after the key is missing", "write `key: value`"),
    ("keep: - a", "1:7 E038 a list starts on a line of its own", "put `- a` on the next line"),
    ("a: {b, c: 1}", "1:5 E035 the key `b` has no value", "write a list with [ ], an object with { }"),
    (
        "a: 1\n---\nb: 2",
        "2:1 E008 a second document starts here; a rule file has one",
        "put the second document in a file of its own",
    ),
    (
        "a: 1\n...\nb: 2",
        "3:1 E008 the document ends above; a rule file has one document",
        "put the second document in a file of its own",
    ),
    ("%YAML 1.1\n---\na: 1", "1:1 E008 rule files have no lines that start with `%`", "remove the line"),
    ("", "1:1 E004 the file is empty", "start with `version: 1`, `tool:` and `steps:`"),
    ("# only\n\n# comments\n", "1:1 E004 the file is empty", "start with `version: 1`, `tool:` and `steps:`"),
    ("a: 1\nb: 2\na: 3", "3:1 E012 duplicate key `a`, first used in line 1", "remove one of them"),
    ("1: a", "1:1 E016 a key must be a text, and `1` without quotes is not", 'write "1":'),
    ("~: a", "1:1 E016 a key must be a text, and `~` without quotes is not", 'write "~":'),
    (": a", "1:1 E016 a key is missing", "write one before the colon"),
    ("? [a]\n: b", "1:3 E016 a key must be a text, not a list", "put the key in quotes"),
    ("<<: {b: 1}", "1:1 E043 rule files cannot copy keys with `<<`", "write the keys out"),
    ("a: no", "1:4 E040 `no` without quotes can be the text or false", 'write "no" for the text, or false'),
    ("a: [x, Yes]", "1:8 E040 `Yes` without quotes can be the text or true", 'write "Yes" for the text, or true'),
    ("a: 2024-01-01", "1:4 E040 `2024-01-01` without quotes can be a text or a date", 'write "2024-01-01"'),
    ("a: 0x1F", "1:4 E041 `0x1F` is not a decimal number", 'write "0x1F" for the text'),
    ("a: 1_000", "1:4 E041 `1_000` is not a decimal number", 'write "1_000" for the text'),
    ("a: 1:30", "1:4 E040 `1:30` without quotes can be a text or a number in base 60", 'write "1:30"'),
    ("a: .inf", "1:4 E041 `.inf` is a number that JSON does not have", 'write ".inf" for the text'),
    ("a: 1e999", "1:4 E041 `1e999` is too large for a number", 'write "1e999" for the text'),
    ("a: " + "9" * 700, "1:4 E041 the number has 700 digits", "put it in quotes"),
    ("a: 1\nb: \u2028x", "2:4 E002 invisible character (U+2028)", 'remove it, or write \\u2028 inside "…"'),
    ("a: \ud800", "1:4 E002 invisible character (U+D800)", "remove it"),
    ('a: "\\U99999999"', "1:1 E042 an escape names no character", "use single quotes, or write two backslashes"),
    ("[" * 100_000, "1:65 E003 nested deeper than 64 levels", "put samples in files of their own"),
    ("- " * 100_000, "1:129 E003 nested deeper than 64 levels", "put samples in files of their own"),
    ("#" * 250_001, "1:1 E003 the rule file has more than 250,000 characters", "put samples in files of their own"),
    ("path: items[?b == 1 #x]", "1:21 E044 this `#` starts a comment and cuts the value", 'write "items[?b == 1 #x]"'),
    (
        'description: a: b\npath: @\nlimit: "x\nkeep: no\nkeep: [a]\n',
        "1:14 E032 a value that contains `: ` needs quotes",
        'write description: "a: b"',
    ),
    (
        "steps:\n  - path: a\n    limit: 3\n  path: b\n",
        "4:3 E046 this line lacks the dash of a list item",
        "put `- ` before the first key of each item",
    ),
    ("path: “items”", "1:7 E045 curly quotes do not quote a text", "use straight quotes"),
    ("preserve: [, ip]", "1:12 E035 a value is missing before this `,`", ""),
    ("tool: *_file", "1:7 E030 a value cannot start with `*` without quotes", 'write tool: "*_file"'),
    ("keep: [a, b\n", "1:7 E035 this `[` is not closed", "add the closing `]`"),
    ("a: 'x\nb: 'y'\n", "1:4 E034 this quote is not closed", "add the closing quote"),
]

RIGHT: list[tuple[str | bytes, Any]] = [
    ("a: '@'", {"a": "@"}),
    ("a: x@y.z*", {"a": "x@y.z*"}),
    ("path: items[?risk=='high'].name", {"path": "items[?risk=='high'].name"}),
    ("where: risk == `1` || !(a) && b", {"where": "risk == `1` || !(a) && b"}),
    ("a: [b, 'c', 1, [], {}]", {"a": ["b", "c", 1, [], {}]}),
    ("a: b # c ]", {"a": "b"}),
    ("a: foo (bar) # baz)", {"a": "foo (bar)"}),
    ("a: b[0]#c", {"a": "b[0]#c"}),
    ("a: don't # it's", {"a": "don't"}),
    ("a: 'no'\nb: \"on\"\n'1': x", {"a": "no", "b": "on", "1": "x"}),
    (
        "a: [null, ~, true, False, TRUE, nothing, none, yesterday]",
        {"a": [None, None, True, False, True, "nothing", "none", "yesterday"]},
    ),
    ("a:\nb: 1", {"a": None, "b": 1}),
    (
        "a: [0, -1, +2, 1.5, -.5, 1e3, 2.5e-3, 80%, 1.2.3, 1-2]",
        {"a": [0, -1, 2, 1.5, -0.5, 1000.0, 0.0025, "80%", "1.2.3", "1-2"]},
    ),
    ("a: " + "9" * 300, {"a": int("9" * 300)}),
    ("a: |\n  x\n   y\nb: >-\n  c\n  d", {"a": "x\n y\n", "b": "c d"}),
    ("a: b\n  c", {"a": "b c"}),
    ("a:\tb\n", {"a": "b"}),
    ("\ufeffa: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
    (b"\xef\xbb\xbfa: \xc3\xa9", {"a": "é"}),
    (r'a: "\ud83d\ude00 \u00e9 \x41 \/"', {"a": "😀 é A /"}),
    ('{"a": {"b": [1, 2.5, null, "no"]}, "c":"d"}', {"a": {"b": [1, 2.5, None, "no"]}, "c": "d"}),
    ("--- \na: 1\n...\n", {"a": 1}),
    ("- a\n-   - b\n    - c", ["a", ["b", "c"]]),
    ("a: <<", {"a": "<<"}),
    ("'<<': 1", {"<<": 1}),
    ("[" * 64 + "]" * 64, json.loads("[" * 64 + "]" * 64)),
    ("text", "text"),
]


@pytest.mark.parametrize(("text", "expected", "help"), WRONG, ids=[repr(text[:30]) for text, _, _ in WRONG])
def test_a_wrong_text_has_one_problem(text: str, expected: str, help: str) -> None:
    _, report = parse(text, "r")
    found = [f"{one.location.line}:{one.location.column} {one.code} {one.message}" for one in report.found]
    assert (found, report.found[0].help) == ([expected], help)


@pytest.mark.parametrize(("text", "expected"), RIGHT, ids=[repr(text[:30]) for text, _ in RIGHT])
def test_a_right_text_has_none(text: str | bytes, expected: Any) -> None:
    tree, report = parse(text, "r")
    assert report.found == []
    assert tree is not None
    assert json.dumps(plain(tree)) == json.dumps(expected), "types and order too"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a: 1\nb: f\xfcr", "r:2:5: error[E001]: the byte 0xfc is not UTF-8 text"),
        ("a: 1".encode("utf-16"), "r:1:1: error[E001]: the file is UTF-16 text"),
    ],
)
def test_bytes_that_are_not_utf_8(text: bytes, expected: str) -> None:
    _, report = parse(text, "r")
    assert [str(one).split("\n")[0] for one in report.found] == [expected]
    assert report.found[0].help == "save the file as UTF-8"


def test_the_excerpt_has_a_caret_under_the_value() -> None:
    _, report = parse("steps:\n  - path: [?risk=='high'].name  # the risky\n", "rules/a.yaml")
    assert str(report.found[0]).splitlines() == [
        "rules/a.yaml:2:11: error[E031]: a value that starts with `[` needs quotes, unless it is a list",
        "  2 |   - path: [?risk=='high'].name  # the risky",
        "    |           ^^^^^^^^^^^^^^^^^^^^",
        "  help: write path: \"[?risk=='high'].name\"",
    ]


def test_an_excerpt_has_nothing_that_a_terminal_cannot_print() -> None:
    _, report = parse("a: \x1b[31m\ud800", "r")
    assert [one.excerpt for one in report.found] == ["a: \ufffd[31m\ufffd"]


def test_a_syntax_error_is_the_only_problem_of_a_file() -> None:
    tree, report = parse("a: no\nb: {c: 2024-01-01}\npath: @\nd: 1\nd: 2\n", "r")
    assert tree is None
    assert [(one.location.line, one.code) for one in report.found] == [(3, "E030")]


def test_other_problems_come_together() -> None:
    tree, report = parse("a: no\nb: {c: 2024-01-01}\nd: 1\nd: 2\n", "r")
    assert tree is not None
    assert [(one.location.line, one.code) for one in report.found] == [(1, "E040"), (2, "E040"), (4, "E012")]
    assert plain(tree) == {"a": "no", "b": {"c": "2024-01-01"}, "d": 1}


def test_a_hundred_problems_are_enough() -> None:
    assert len(parse("a: [" + "no, " * 1000 + "]", "r")[1].found) == 100


def test_help_for_a_value_is_right_when_applied() -> None:
    keys = ((text.partition(":")[0], help) for text, _, help in WRONG if "\n" not in text)
    applied = [help.removeprefix("write ") for key, help in keys if help.startswith(f"write {key}:")]
    assert len(applied) > 5
    for text in applied:
        assert parse(text, "r")[1].found == [], text


def test_an_alias_of_an_anchor_is_not_corrected() -> None:
    assert parse("a: *b", "r")[1].found[0].fix == (Edit(1, 4, 2, '"*b"'),)
    assert [one.fix for one in parse("a: &b 1\nc: *b", "r")[1].found] == [(), ()]


def spans(tree: Tree) -> Iterator[Tree]:
    yield tree
    if isinstance(tree, Mapping):
        for key, value in tree.entries:
            yield key
            yield from spans(value)
    elif isinstance(tree, Sequence):
        for item in tree.items:
            yield from spans(item)


def test_every_node_stands_where_it_is_written() -> None:
    tree, report = parse(RULE, "r")
    assert report.found == []
    assert tree is not None
    lines = RULE.split("\n")
    for node in spans(tree):
        if isinstance(node, Scalar):
            assert lines[node.line - 1][node.column - 1 :][: node.width] == node.raw.split("\n")[0]
    node = locate(tree, ("steps", 0, "keep", 2))
    assert node == Scalar("@timestamp", 7, 33, 12, "double", '"@timestamp"')
    assert locate(tree, ("when",)) == Mapping(
        ((Scalar("min_chars", 3, 8, 9, "plain", "min_chars"), Scalar(2000, 3, 19, 4, "plain", "2000")),), 3, 7, 17
    )


@pytest.mark.parametrize(
    ("path", "key", "place"),
    [
        ((), False, (1, 1)),
        (("version",), False, (1, 10)),
        (("version",), True, (1, 1)),
        (("steps", 1, "path"), True, (8, 5)),
        (("steps", 1, "path"), False, (8, 11)),
        (("steps", 1), True, (8, 5)),
        (("steps", 1, "missing"), True, (8, 5)),
        (("steps", 9, "path"), False, (5, 3)),
        (("missing", 0, "x"), False, (1, 1)),
        (("version", "x", 3), False, (1, 10)),
        (("steps", "path"), False, (5, 3)),
    ],
)
def test_locates_a_path_or_its_nearest_ancestor(path: tuple[str | int, ...], key: bool, place: tuple[int, int]) -> None:
    tree, _ = parse(RULE, "r")
    assert tree is not None
    node = locate(tree, path, key=key)
    assert (node.line, node.column) == place


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        ("a: b.cd", 2, (1, 6)),
        ("a: 'it''s x'", 3, (1, 9)),
        (r'a: "\"b\" \u00e9x"', 5, (1, 17)),
        ("a: |\n  bc\n   de\n", 5, (3, 5)),
        ("a: |2\n   bc\n", 1, (1, 4)),
        ("a: >\n  bc\n", 1, (1, 4)),
        ("a: b\n  c", 2, (1, 4)),
        ("a: b", 99, (1, 5)),
    ],
)
def test_the_position_of_a_character_of_a_value(text: str, offset: int, expected: tuple[int, int]) -> None:
    tree, _ = parse(text, "r")
    node = locate(tree, ("a",)) if tree else None
    assert isinstance(node, Scalar)
    assert position(node, offset) == expected


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("a: bc", "bd", Edit(1, 4, 2, "bd")),
        ("a: bc", "on", Edit(1, 4, 2, '"on"')),
        ("a: 'bc'", "b'd", Edit(1, 4, 4, "'b''d'")),
        ('a: "bc"', 'b"d', Edit(1, 4, 4, '"b\\"d"')),
    ],
)
def test_a_replaced_value_has_the_same_quotes(text: str, value: str, expected: Edit) -> None:
    tree, _ = parse(text, "r")
    assert tree is not None
    assert replaced(locate(tree, ("a",)), value) == (expected,)
    assert replaced(tree, value) == ()


PIECES = [
    *(
        "a",
        "b",
        "- ",
        "-",
        ": ",
        ":",
        "\n",
        "\n  ",
        "\n    ",
        " ",
        "\t",
        "[",
        "]",
        "{",
        "}",
        ",",
        '"',
        "'",
        "#",
        " #",
        "|",
        ">",
    ),
    *(
        "|-\n",
        ">+\n",
        "&a",
        "*a",
        "!x",
        "!",
        "? ",
        "?",
        "@",
        "`",
        "%",
        "\n---\n",
        "\n...\n",
        "1",
        "no",
        "~",
        "é",
        "😀",
        "\\",
        "\\x41",
    ),
    *(
        "\\ud83d",
        "\xa0",
        "\u3000",
        "<<",
        "\r\n",
        "2024-01-01",
        "%YAML 1.1\n",
        "|2\n",
        "\x85",
        "\ud800",
        "\0",
        "key: value\n",
        "- x: 1\n",
    ),
]
TEXTS = st.one_of(
    st.text(), st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.sampled_from([RULE, RULE[:100]])
)
BYTES = st.one_of(st.binary(), TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")))


@given(TEXTS | BYTES)
@example("[😀? -   >]")
@example("|\t#x")
@example("a\n\t\n- b")
@example("- [\t\t1]\n" * 200 + "- @")
@example('a: "' + "\\d" * 400)
@example("a: [" * 63 + "@")
@example('"\\U99999999"')
def test_any_text_gives_problems_that_point_into_it(text: str | bytes) -> None:
    tree, report = parse(text, "r")
    decoded = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
    lines = decoded.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert tree is not None or len(report.found) == 1
    for one in report.found:
        assert one.location.file == "r"
        assert 1 <= one.location.line <= len(lines)
        line = lines[one.location.line - 1]
        assert 1 <= one.location.column <= len(line) + 1
        assert 1 <= one.width <= max(1, len(line) - one.location.column + 1)
        str(one).encode()
    if tree is not None:
        json.dumps(plain(tree), ensure_ascii=False, allow_nan=False).encode()


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)


def nested(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
    )


DATA = nested(st.text())


class Quoting(yaml.SafeDumper):
    """Writes every text in quotes, as rule files must where YAML would read something else."""


class SingleQuoting(yaml.SafeDumper):
    """The same with single quotes, wherever a text can stand in them."""


Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))
SingleQuoting.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'")
)


@given(DATA, st.sampled_from([Quoting, SingleQuoting]), st.booleans(), st.booleans())
def test_reads_back_what_a_yaml_writer_wrote_in_quotes(
    value: Any, dumper: type[yaml.SafeDumper], flow: bool, unicode: bool
) -> None:
    text = yaml.dump(value, Dumper=dumper, default_flow_style=flow, allow_unicode=unicode)
    # PyYAML writes these line separators as they stand; rule files have them as escapes.
    assume(not {"\ufeff", "\x85", "\u2028", "\u2029"} & set(text))
    tree, report = parse(text, "r")
    assert report.found == []
    assert tree is not None
    assert plain(tree) == value


# YAML takes no more than 1,024 characters for a key, escapes counted.
@given(nested(st.text(max_size=80)), st.sampled_from([None, 2]))
def test_reads_json(value: Any, indent: int | None) -> None:
    tree, report = parse(json.dumps(value, indent=indent), "r")
    assert report.found == []
    assert tree is not None
    assert plain(tree) == value
