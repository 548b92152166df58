from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from reducer import source
from reducer.source import Mapping, Scalar, Sequence, locate, parse, place, plain, problem_at

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

QUOTES = "a value cannot start with `{}` without quotes"
LIST = "a value that starts with `[` must be in quotes, unless it is a list"
INDENT = "the indentation of this line does not fit the lines above it"
BESIDE = "indent it as much as the line that it belongs beside"

# text, first line of each problem without the file, help of the first
WRONG: list[tuple[str, list[str], str]] = [
    # values that need quotes
    ("path: @", ["1:7: error: " + QUOTES.format("@")], 'write path: "@"'),
    ("a: 1\npath: @timestamp # the time", ["2:7: error: " + QUOTES.format("@")], """write path: '"@timestamp"'"""),
    ("steps:\n  - path: *.name", ["2:11: error: " + QUOTES.format("*")], 'write path: "*.name"'),
    ("path: *name", ["1:7: error: " + QUOTES.format("*")], 'write path: "*name"'),
    ("path: %x", ["1:7: error: " + QUOTES.format("%")], 'write path: "%x"'),
    ("where: `true`", ["1:8: error: " + QUOTES.format("`")], 'write where: "`true`"'),
    ("where: !active && risk", ["1:8: error: " + QUOTES.format("!")], 'write where: "!active && risk"'),
    ("a: !!str 1", ["1:4: error: " + QUOTES.format("!")], 'write a: "!!str 1"'),
    ("a: &x 1", ["1:4: error: " + QUOTES.format("&")], 'write a: "&x 1"'),
    ("where: > 5", ["1:8: error: " + QUOTES.format(">")], 'write where: "> 5"'),
    ("where: | b", ["1:8: error: " + QUOTES.format("|")], 'write where: "| b"'),
    ("keep: [a, @timestamp]", ["1:11: error: " + QUOTES.format("@")], 'write "@timestamp"'),
    ("path: [?risk=='high'].name", ["1:7: error: " + LIST], "write path: \"[?risk=='high'].name\""),
    ("path: [?risk=='high']", ["1:7: error: " + LIST], "write path: \"[?risk=='high']\""),
    ('path: [?risk=="high"].name', ["1:7: error: " + LIST], "write path: '[?risk==\"high\"].name'"),
    ("path: [*].name", ["1:7: error: " + LIST], 'write path: "[*].name"'),
    ("path: [0].name", ["1:7: error: " + LIST], 'write path: "[0].name"'),
    (
        "path: {a: b}.c",
        ["1:7: error: a value that starts with `{` must be in quotes, unless it is an object"],
        'write path: "{a: b}.c"',
    ),
    ("description: note: it is", ["1:14: error: a value that holds `: ` must be in quotes"], 'write description: "note: it is"'),
    ("path: 'a[?b=='c']'", ["1:7: error: there is more text after the closing quote"], "write path: \"a[?b=='c']\""),
    ("where: 'a' == b", ["1:8: error: there is more text after the closing quote"], "write where: \"'a' == b\""),
    ("@timestamp: 1", ["1:1: error: a key cannot start with `@` without quotes"], 'write "@timestamp":'),
    # what is open and stays open
    ('a: "b', ["1:4: error: the quote that opens here is never closed"], 'write a: "b"'),
    ('a: "b\nc: "d"\n', ["1:4: error: the quote that opens here is never closed"], 'write a: "b"'),
    ("keep: [a, b\nlimit: 3", ["1:7: error: the `[` that opens here is never closed"], "write keep: [a, b]"),
    ("when: {min_chars: 3\n", ["1:7: error: the `{` that opens here is never closed"], "write when: {min_chars: 3}"),
    ("limit: {head: 2 tail: 3}", ["1:21: error: a `,` or `}` is missing before this"], ""),
    ("a: [1]]", ["1:7: error: this `]` has no opening bracket"], ""),
    (r'pattern: "\d+"', [r"1:11: error: `\d` means nothing in double quotes"], r"write pattern: '\d+'"),
    # structure
    ("steps:\n\t- path: a", ["2:1: error: a tab cannot indent a line in YAML"], "use spaces"),
    ("a:\n  b: 1\n \tc: 2", ["3:2: error: a tab cannot indent a line in YAML"], "use spaces"),
    ("a: 1\n b: 2", ["2:2: error: " + INDENT], BESIDE),
    ("a:\n  b: 1\n c: 2", ["3:2: error: " + INDENT], BESIDE),
    ("- a\nb: 1", ["2:1: error: " + INDENT], BESIDE),
    ("limit:20\npath: x", ["1:1: error: a space is missing after the colon"], "write limit: 20"),
    ("path: x\nlimit:20\norder: asc", ["2:1: error: a space is missing after the colon"], "write limit: 20"),
    ("limit: {head:2, tail: 3}", ["1:9: error: a space is missing after the colon"], "write head: 2"),
    ("- a\n-b\n- c", ["2:1: error: a space is missing after the dash"], "write - b"),
    ("path: x\nlimit 20\norder: asc", ["2:1: error: expected `key: value`; the colon is missing here"], ""),
    ("keep: - a", ["1:7: error: a list starts on a line of its own"], "put `- a` on the next line"),
    ("a: {b, c: 1}", ["1:5: error: the key `b` has no value"], "write a list with [ ], an object with { }"),
    (
        "a: 1\n---\nb: 2",
        ["2:1: error: a second document starts here; a rule file holds one"],
        "put the other in a file of its own",
    ),
    ("a: 1\n...\nb: 2", ["3:1: error: the document ended above; a rule file holds one document"], ""),
    ("%YAML 1.1\n---\na: 1", ["1:1: error: a line that starts with `%` is not for rule files"], "take it out"),
    ("", ["1:1: error: the file is empty"], "a rule starts with version: 1, then tool: and steps:"),
    ("# only\n\n# comments\n", ["1:1: error: the file is empty"], "a rule starts with version: 1, then tool: and steps:"),
    ("---\n", ["1:1: error: the file is empty"], "a rule starts with version: 1, then tool: and steps:"),
    # keys
    ("a: 1\nb: 2\na: 3", ["3:1: error: the key `a` stands here twice; first on line 1"], ""),
    ("a: {b: 1, 'b': 2}", ["1:11: error: the key `b` stands here twice; first on line 1"], ""),
    ("1: a", ["1:1: error: a key must be a text; `1` without quotes is none"], 'write "1":'),
    ("true: a", ["1:1: error: a key must be a text; `true` without quotes is none"], 'write "true":'),
    ("~: a", ["1:1: error: a key must be a text; `~` without quotes is none"], 'write "~":'),
    (": a", ["1:1: error: a key is missing here"], "write one before the colon"),
    ("? [a]\n: b", ["1:3: error: a key must be a text, not a list"], "put it in quotes"),
    ("a: {{b: 1}: c}", ["1:5: error: a key must be a text, not an object"], "put it in quotes"),
    ("<<: {b: 1}", ["1:1: error: `<<` takes over keys from elsewhere, which rule files cannot"], "write the keys out"),
    # words that YAML 1.1 and 1.2 read differently
    ("a: no", ["1:4: error: `no` without quotes can mean the text or false"], 'write "no" in quotes, or false'),
    ("a: [x, Yes]", ["1:8: error: `Yes` without quotes can mean the text or true"], 'write "Yes" in quotes, or true'),
    ("on: 1", ["1:1: error: `on` without quotes can mean the text or true"], 'write "on" in quotes, or true'),
    ("off: 1", ["1:1: error: `off` without quotes can mean the text or false"], 'write "off" in quotes, or false'),
    ("a: 2024-01-01", ["1:4: error: `2024-01-01` without quotes can mean a text or a date"], 'write "2024-01-01"'),
    ("2024-01-01: a", ["1:1: error: `2024-01-01` without quotes can mean a text or a date"], 'write "2024-01-01"'),
    (
        "a: 2024-01-01T10:00:00Z",
        ["1:4: error: `2024-01-01T10:00:00Z` without quotes can mean a text or a date"],
        'write "2024-01-01T10:00:00Z"',
    ),
    ("a: 010", ["1:4: error: `010` is not a decimal number"], 'write "010" for the text, 10 for the number'),
    ("a: 0x1F", ["1:4: error: `0x1F` is not a decimal number"], 'write "0x1F" for the text, 31 for the number'),
    ("a: 0b11", ["1:4: error: `0b11` is not a decimal number"], 'write "0b11" for the text, 3 for the number'),
    ("a: 1_000", ["1:4: error: `1_000` is not a decimal number"], 'write "1_000" for the text, 1000 for the number'),
    ("a: 1:30", ["1:4: error: `1:30` without quotes can mean a text or a number in base 60"], 'write "1:30"'),
    ("a: .inf", ["1:4: error: `.inf` is a number that JSON does not have"], 'write ".inf" for the text'),
    ("a: .nan", ["1:4: error: `.nan` is a number that JSON does not have"], 'write ".nan" for the text'),
    ("a: 1e999", ["1:4: error: `1e999` is too large for a number"], 'write "1e999" for the text'),
    ("a: " + "9" * 700, ["1:4: error: a number of 700 digits is too long"], "put it in quotes"),
    # characters
    ("a: x\x00y", ["1:5: error: an invisible character (U+0000) stands here"], 'take it out, or write \\x00 inside "…"'),
    ("a: 1\nb: \u2028x", ["2:4: error: an invisible character (U+2028) stands here"], 'take it out, or write \\u2028 inside "…"'),
    ("a: \ud800", ["1:4: error: an invisible character (U+D800) stands here"], "take it out"),
    (r'a: "\ud800"', [r"1:4: error: an escape from \ud800 to \udfff stands without its other half"], ""),
    (r'a: "\U99999999"', [r"1:5: error: `\U` means nothing in double quotes"], r"write a: '\U99999999'"),
    ("\0" * 10, ["1:1: error: this is not a text file"], "rule files are UTF-8 text"),
    # size and depth
    ("[" * 100_000, ["1:65: error: nested deeper than 64 levels"], ""),
    ("- " * 100_000, ["1:129: error: nested deeper than 64 levels"], ""),
    ("{a: " * 60_000, ["1:257: error: nested deeper than 64 levels"], ""),
    ("#" * 250_001, ["1:1: error: a rule file of more than 250,000 characters"], "put samples in files of their own"),
    # a comment that cuts an expression
    (
        "path: items[?b == 1 #x]",
        ["1:21: error: this `#` cuts the value: what follows is a comment"],
        'write "items[?b == 1 #x]"',
    ),
    # one run finds all
    (
        'description: a: b\npath: @\nlimit: "x\nkeep: no\nkeep: [a]\n',
        [
            "1:14: error: a value that holds `: ` must be in quotes",
            "2:7: error: " + QUOTES.format("@"),
            "3:8: error: the quote that opens here is never closed",
            "4:7: error: `no` without quotes can mean the text or false",
            "5:1: error: the key `keep` stands here twice; first on line 4",
        ],
        'write description: "a: b"',
    ),
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
    ("a:\tb\nc: [\n\t1,\n\t2\n]\n\t\n", {"a": "b", "c": [1, 2]}),
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


@pytest.fixture(params=["as installed", "pure"], autouse=True, scope="module")
def loader(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "pure":
            patch.setattr(source, "_Fast", yaml.SafeLoader)
        yield


def first_lines(problems: tuple[Any, ...]) -> list[str]:
    return [str(problem).split("\n")[0].replace(f"[{problem.code}]", "") for problem in problems]


@pytest.mark.parametrize(("text", "expected", "help"), WRONG, ids=[repr(text[:30]) for text, _, _ in WRONG])
def test_says_what_is_wrong_and_where(text: str, expected: list[str], help: str) -> None:
    _, problems = parse(text, "rule.yaml")
    assert first_lines(problems) == [f"rule.yaml:{line}" for line in expected]
    assert problems[0].help == help


@pytest.mark.parametrize(("text", "expected"), RIGHT, ids=[repr(text[:30]) for text, _ in RIGHT])
def test_finds_nothing_wrong(text: str | bytes, expected: Any) -> None:
    tree, problems = parse(text, "rule.yaml")
    assert problems == ()
    assert tree is not None
    assert plain(tree) == expected
    assert json.dumps(plain(tree)) == json.dumps(expected), "types and order too"


@pytest.mark.parametrize(
    ("text", "line", "help"),
    [
        (b"a: 1\nb: f\xfcr", "r:2:5: error: the byte 0xfc is not UTF-8 text", "save the file as UTF-8"),
        ("ä: öüäöüäöü".encode("latin-1"), "r:1:1: error: the byte 0xe4 is not UTF-8 text", "save the file as UTF-8"),
        ("a: 1".encode("utf-16"), "r:1:1: error: this file is UTF-16 text", "save it as UTF-8"),
    ],
)
def test_says_that_bytes_are_not_utf_8(text: bytes, line: str, help: str) -> None:
    _, problems = parse(text, "r")
    assert first_lines(problems) == [line]
    assert problems[0].help == help


def test_shows_the_line_with_a_caret_under_the_value() -> None:
    _, problems = parse("steps:\n  - path: [?risk=='high'].name  # the risky\n", "rules/a.yaml")
    assert str(problems[0]).splitlines() == [
        "rules/a.yaml:2:11: error[E031]: a value that starts with `[` must be in quotes, unless it is a list",
        "  2 |   - path: [?risk=='high'].name  # the risky",
        "    |           ^^^^^^^^^^^^^^^^^^^^",
        "  help: write path: \"[?risk=='high'].name\"",
    ]


def test_a_snippet_holds_nothing_that_a_terminal_cannot_print() -> None:
    _, problems = parse("a: \x1b[31m\ud800", "r")
    assert [problem.snippet for problem in problems] == ["a: \ufffd[31m\ufffd"] * 2


def test_help_for_a_value_is_right_when_applied() -> None:
    applied = [help.removeprefix("write ") for text, _, help in WRONG if "\n" not in text and help.startswith(f"write {text.partition(':')[0]}:")]
    assert len(applied) > 5
    for text in applied:
        assert parse(text, "r")[1] == (), text


def test_reads_on_behind_faults_with_the_likeliest_meaning() -> None:
    tree, problems = parse("path: @.a\nwhere: [?b == 'c'].d\nlimit: 'x\norder: asc\n", "r")
    assert len(problems) == 3
    assert tree is not None
    assert plain(tree) == {"path": "@.a", "where": "[?b == 'c'].d", "limit": "x", "order": "asc"}


def test_findings_before_a_fault_that_ends_the_reading_are_kept() -> None:
    tree, problems = parse("a: no\nb: {c: 2024-01-01}\nd: {e: 1 f: 2}", "r")
    assert tree is None
    assert [(p.location.line, p.location.column) for p in problems] == [(1, 4), (2, 8), (3, 11)]


def test_a_hundred_problems_are_enough() -> None:
    _, problems = parse("a: [" + "no, " * 1000 + "]", "r")
    assert len(problems) == 100


def spans(tree: source.Tree) -> Iterator[source.Tree]:
    yield tree
    if isinstance(tree, Mapping):
        for key, value in tree.entries:
            yield key
            yield from spans(value)
    elif isinstance(tree, Sequence):
        for item in tree.items:
            yield from spans(item)


def test_every_node_stands_where_it_is_written() -> None:
    tree, problems = parse(RULE, "r")
    assert problems == ()
    assert tree is not None
    lines = RULE.split("\n")
    for node in spans(tree):
        if isinstance(node, Scalar):
            assert lines[node.line - 1][node.column - 1 :][: node.width] == node.raw.split("\n")[0]
    node = locate(tree, ("steps", 0, "keep", 2))
    assert node == Scalar("@timestamp", 7, 33, 12, "double", '"@timestamp"')
    assert locate(tree, ("when",)) == Mapping(
        ((Scalar("min_chars", 3, 8, 9, "plain", "min_chars"), Scalar(2000, 3, 19, 4, "plain", "2000")),), 3, 7, 17, "flow"
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
def test_places_a_character_of_a_value(text: str, offset: int, expected: tuple[int, int]) -> None:
    tree, _ = parse(text, "r")
    node = locate(tree, ("a",)) if tree else None
    assert isinstance(node, Scalar)
    assert place(node, offset) == expected


def test_makes_a_problem_inside_a_value() -> None:
    tree, _ = parse(RULE, "r")
    assert tree is not None
    problem = problem_at(RULE, "r", locate(tree, ("steps", 1, "path")), "W010", "no such key", offset=6, width=10)
    assert str(problem).splitlines() == [
        "r:8:18: warning[W010]: no such key",
        "  8 |   - path: 'whois.\"raw text\"'",
        "    |                  ^^^^^^^^^^",
    ]
    whole = problem_at(RULE, "r", locate(tree, ("steps", 1, "path"), key=True), "E010", "here", "help")
    assert (whole.location.line, whole.location.column, whole.width, whole.help) == (8, 5, 4, "help")


PIECES = [
    *("a", "b", "- ", "-", ": ", ":", "\n", "\n  ", "\n    ", " ", "\t", "[", "]", "{", "}", ",", '"', "'", "#", " #", "|", ">"),
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
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.sampled_from([RULE, RULE[:100]]))
BYTES = st.one_of(st.binary(), TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")))


@given(TEXTS | BYTES)
@example("[😀? -   >]")
@example("|\t#x")
@example("a\n\t\n- b")
@example("  \xa0\n\t")
@example("- [\t\t1]\n" * 200 + "- @")
@example('a: "' + "\\d" * 400)
@example("a: [" * 63 + "@")
def test_any_text_gives_problems_that_point_into_it(text: str | bytes) -> None:
    tree, problems = parse(text, "r")
    decoded = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
    lines = decoded.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert tree is not None or problems
    for problem in problems:
        assert problem.location.file == "r"
        assert 1 <= problem.location.line <= len(lines)
        line = lines[problem.location.line - 1]
        assert 1 <= problem.location.column <= len(line) + 1
        assert 1 <= problem.width <= max(1, len(line) - problem.location.column + 1)
        str(problem).encode()
    if tree is not None:
        json.dumps(plain(tree), ensure_ascii=False, allow_nan=False).encode()


@given(TEXTS)
@example("?")
@example("a: x\ty\n\tz")
@example("...!,\\x41  \t<<>+\n@")
@example("!:key: value\n\t!x")
@example("{?  #>+")
@example("|#x")
@example("keep: [a?b]")
@pytest.mark.skipif(source._Fast is yaml.SafeLoader, reason="PyYAML was built without libyaml")
def test_both_parsers_give_the_same(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "_Fast", yaml.CSafeLoader)
        fast = parse(text, "r")
        patch.setattr(source, "_Fast", yaml.SafeLoader)
        assert parse(text, "r") == fast


LEAVES = st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False) | st.text()


def nested(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12)


DATA = nested(st.text())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"K": 1}', [(1, 2, "`k…` is too long for a key: YAML takes at most 1,024 characters for one"), (1, 1029, "what …")]),
        ("a: 1\nK: 2\n", [(2, 1026, "what …")]),
        ("{K}", [(1, 2, "`k…` is too long for a key: YAML takes at most 1,024 characters for one")]),
    ],
)
def test_keys_that_are_too_long(text: str, said: list[tuple[int, int, str]]) -> None:
    what = "what stands before this is too long for a key: YAML takes at most 1,024 characters for one"
    _, problems = parse(text.replace("K", "k" * 1025), "r")
    found = [(p.location.line, p.location.column, p.message.replace("k" * 59, "k")) for p in problems]
    assert found == [(line, column, message.replace("what …", what)) for line, column, message in said]
    # Of one that is not, only that it has no value.
    assert [p.message for p in parse(text.replace("K", "k" * 1000), "r")[1]] == ([] if ":" in text else [f"the key `{'k' * 59}…` has no value"])


class Quoting(yaml.SafeDumper):
    """Writes every text in quotes, as rule files must where YAML would read something else."""


class SingleQuoting(yaml.SafeDumper):
    """The same with single quotes, wherever a text can stand in them."""


Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))
SingleQuoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'"))


@given(DATA, st.sampled_from([Quoting, SingleQuoting]), st.booleans(), st.booleans())
def test_reads_back_what_a_yaml_writer_wrote_in_quotes(value: Any, dumper: type[yaml.SafeDumper], flow: bool, unicode: bool) -> None:
    text = yaml.dump(value, Dumper=dumper, default_flow_style=flow, allow_unicode=unicode)
    # PyYAML writes these line separators as they stand; rule files have them as escapes.
    assume(not {"\ufeff", "\x85", "\u2028", "\u2029"} & set(text))
    tree, problems = parse(text, "r")
    assert problems == ()
    assert tree is not None
    assert plain(tree) == value


# YAML takes no more than 1,024 characters for a key, escapes counted.
@given(nested(st.text(max_size=80)), st.sampled_from([None, 2]))
def test_reads_json(value: Any, indent: int | None) -> None:
    tree, problems = parse(json.dumps(value, indent=indent), "r")
    assert problems == ()
    assert tree is not None
    assert plain(tree) == value
