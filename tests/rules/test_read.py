"""Wrong rule files: every problem of every file in one run, each with its place, code, message and help."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer import RuleError
from reducer.rules import check_rules, compile_rules, read_rules

HEAD = "version: 1\ntool: t\n"
STEP = HEAD + "steps:\n  - path: items\n"
ACTIONS = "`compact`, `dedupe`, `drop`, `drop_dangling`, `extract`, `keep`, `limit`, `truncate`, `unwrap`"


def problems(text: str) -> list[tuple[str, str, str, str]]:
    _, found = compile_rules([("r.yaml", text)])
    return [(str(one.location).removeprefix("r.yaml:"), one.code, one.message, one.help) for one in found]


CASES = {
    "no version": ("tool: t\nmax_chars: 9\n", ("1:1", "E011", "`version` is missing", "")),
    "another version": (
        "version: 2\ntool: t\nmax_chars: 9\n",
        (
            "1:10",
            "E017",
            "this reducer reads version 1 of the rule language, not 2",
            "write `version: 1`, or use a newer reducer",
        ),
    ),
    "no tool": ("version: 1\nmax_chars: 9\n", ("1:1", "E011", "`tool` is missing", "")),
    "unknown key": (
        HEAD + "max_char: 9\nsteps: [{limit: 1}]\n",
        ("3:1", "E010", "unknown key `max_char`", "did you mean `max_chars`?"),
    ),
    "unknown action": (STEP + "    limt: 3\n", ("5:5", "E010", "unknown key `limt`", "did you mean `limit`?")),
    "unknown modifier": (
        STEP + "    limit: 3\n    sorted_by: x\n",
        ("6:5", "E010", "unknown key `sorted_by`", "did you mean `sort_by`?"),
    ),
    "modifier of another action": (
        STEP + "    keep: a\n    sort_by: x\n",
        ("6:5", "E018", "`sort_by` is not allowed beside `keep`", "it belongs beside `limit`"),
    ),
    "two actions": (
        STEP + "    limit: 3\n    keep: a\n",
        ("6:5", "E014", "second action beside `limit`", "write one step for each action"),
    ),
    "no action": (
        STEP + "    when: {min_chars: 5}\n",
        ("4:5", "E013", "this step has no action", f"expected one of {ACTIONS}"),
    ),
    "a step that is a word": (
        HEAD + "steps: [limit]\n",
        ("3:9", "E020", "expected a step: a mapping with one action", f"the actions are {ACTIONS}"),
    ),
    "nothing to do": (HEAD, ("2:1", "E015", "this rule does nothing", "add `steps` or `max_chars`")),
    "no steps": (HEAD + "steps: []\n", ("3:8", "E023", "expected at least one", "")),
    "a text for a number": (
        STEP + '    limit: "3"\n',
        ("5:12", "E020", "expected a whole number, or {head: 10, tail: 5}", ""),
    ),
    "limit 0": (STEP + "    limit: 0\n", ("5:12", "E022", "expected at least 1; to remove everything use `drop`", "")),
    "a negative amount": (STEP + "    truncate: {head: -1}\n", ("5:22", "E022", "expected at least 0, not -1", "")),
    "an unknown part of an amount": (
        STEP + "    truncate: {haed: 1}\n",
        ("5:16", "E010", "unknown key `haed`", "did you mean `head`?"),
    ),
    "an unknown order": (
        STEP + "    limit: 3\n    order: newest\n",
        ("6:12", "E021", "expected 'asc' or 'desc', not `newest`", ""),
    ),
    "a path that is a list": (
        HEAD + "steps:\n  - path: [a]\n    limit: 3\n",
        ("4:11", "E020", "expected a JMESPath expression", ""),
    ),
    "a path that makes a value": (
        HEAD + "steps:\n  - path: sort(items)\n    limit: 3\n",
        (
            "4:11",
            "E065",
            "`sort()` makes a new value; a path names places",
            "use functions only in filters and conditions",
        ),
    ),
    "a column inside a quoted path": (
        HEAD + "steps:\n  - path: 'items[?a = `1`]'\n    limit: 3\n",
        ("4:21", "E052", "unknown character `=`", "write `==` to compare"),
    ),
    "an unknown type": (
        HEAD + "preserve: [ip, ipv5]\nmax_chars: 9\n",
        ("3:16", "E090", "unknown entity type `ipv5`", "did you mean `ipv6`?"),
    ),
    "an unknown type with a bound": (
        HEAD + "preserve: {ipv5: 9}\nmax_chars: 9\n",
        ("3:12", "E090", "unknown entity type `ipv5`", "did you mean `ipv6`?"),
    ),
    "a bound of nothing": (
        HEAD + "preserve: {ioc: 0}\nmax_chars: 9\n",
        ("3:17", "E022", "expected at least 1, not 0", ""),
    ),
    "a gate without a condition": (
        HEAD + "when: {}\nmax_chars: 9\n",
        ("3:7", "E023", "expected `min_chars` or `where`", ""),
    ),
    "an unknown part of a gate": (
        HEAD + "when: {min_char: 9}\nmax_chars: 9\n",
        ("3:8", "E010", "unknown key `min_char`", "did you mean `min_chars`?"),
    ),
    "keys other than all": (HEAD + "keys: some\nmax_chars: 9\n", ("3:7", "E021", "expected 'all', not `some`", "")),
    "an index in keep": (
        STEP + '    keep: "a[0]"\n',
        (
            "5:12",
            "E068",
            "expected keys only: names, dots and `[*]`",
            "to select items use `limit`, or `drop` with a filter",
        ),
    ),
    "a slice in path": (
        HEAD + 'steps:\n  - path: "items[-2:].a"\n    keep: b\n',
        ("4:11", "E066", "a path cannot count from the end or slice a list", "use an index from 0, `[*]` or `limit`"),
    ),
    "an index beside a limit": (
        HEAD + 'steps:\n  - path: "items[0]"\n    keep: b\n  - path: items\n    limit: 2\n',
        (
            "4:11",
            "E067",
            "a path cannot have an index into a list that a step shortens",
            "use a filter such as `[?name == 'x']`",
        ),
    ),
    "a dead glob": (
        "version: 1\ntool: 'vt_[a'\nmax_chars: 9\n",
        ("2:7", "E081", "the glob `vt_[a` cannot match any name", "close the `[`, or write `[[]` for a bracket"),
    ),
    "a test without expectations": (
        HEAD + "max_chars: 9\ntests:\n  - {name: a, given: {text: a}, expect: {}}\n",
        ("5:41", "E023", "expected at least one expectation", ""),
    ),
    "an unknown expectation": (
        HEAD + "max_chars: 9\ntests:\n  - {name: a, given: {text: a}, expect: {contain: x}}\n",
        ("5:42", "E010", "unknown key `contain`", "did you mean `contains`?"),
    ),
    "a test with two inputs": (
        HEAD + "max_chars: 9\ntests:\n  - {name: a, given: {text: a, json: 1}, expect: {unchanged: true}}\n",
        ("5:22", "E024", "expected exactly one of `json`, `text`, `file`, `history`", ""),
    ),
    "a share without a percent sign": (
        HEAD + "max_chars: 9\ntests:\n  - {name: a, given: {text: a}, expect: {min_reduction: 0.8}}\n",
        ("5:57", "E025", "expected a share such as 80%", ""),
    ),
    "no mapping": (
        "- a\n- b\n",
        ("1:1", "E005", "expected the keys of a rule", "start with `version: 1`, `tool:` and `steps:`"),
    ),
    "steps without dashes": (
        HEAD + "steps:\n  path: items\n  limit: 3\n",
        ("4:3", "E020", "expected a list, not a mapping", "put `- ` before the first key of each item"),
    ),
    "an action at the top": (
        HEAD + "limit: 3\nmax_chars: 9\n",
        ("3:1", "E018", "`limit` is not allowed here", "it is an action: write it in a step, `steps: [{limit: …}]`"),
    ),
    "a key of the file in a step": (
        STEP + "    limit: 3\n    max_chars: 3\n",
        (
            "6:5",
            "E018",
            "`max_chars` is not allowed beside `limit`",
            "it belongs at the top of the file, without indentation",
        ),
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_one_mistake_gives_one_problem(text: str, expected: tuple[str, str, str, str]) -> None:
    assert problems(text) == [expected]


@pytest.mark.parametrize(
    "steps",
    [
        "  - drop: \"[?risk != 'high']\"\n  - keep: [h]\n",
        "  - {path: a, limit: 3, sort_by: seen.last}\n  - {path: 'a[*].seen', drop: last}\n",
        "  - {path: a, dedupe: true}\n  - {path: a, keep: [h]}\n",
        "  - {path: a, limit: 3, when: {where: length(a) < `9`}}\n",
    ],
)
def test_loading_rejects_no_rule_for_idempotence(steps: str) -> None:
    assert problems(HEAD + "steps:\n" + steps) == []


def test_a_problem_shows_the_line_and_a_caret() -> None:
    _, found = compile_rules([("rules/vt.yaml", STEP + "    limt: 3\n")])
    assert (
        str(found[0])
        == "rules/vt.yaml:5:5: error[E010]: unknown key `limt`\n  5 |     limt: 3\n    |     ^^^^\n  help: did you mean `limit`?"
    )


def test_all_problems_of_all_files_come_in_one_run(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(STEP + "    limt: 3\n")
    (tmp_path / "a.yaml").write_text(STEP + "    limit: 0\npreserve: [x]\nmax_chars: no\n")
    (tmp_path / "notes.txt").write_text("not a rule")
    with pytest.raises(RuleError) as caught:
        read_rules(tmp_path)
    assert [(Path(p.location.file).name, p.location.line) for p in caught.value.problems] == [
        ("a.yaml", 5),
        ("a.yaml", 6),
        ("a.yaml", 7),
        ("b.yaml", 2),
        ("b.yaml", 5),
    ]


def test_no_rule_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="no rule files found"):
        read_rules(tmp_path)
    with pytest.raises(RuleError, match="cannot read the file: No such file or directory"):
        read_rules(tmp_path / "gone.yaml")


def test_the_same_name_twice_names_both_places(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("version: 1\ntool: [x, 'vt_*']\nmax_chars: 9\n")
    (tmp_path / "b.yaml").write_text("version: 1\ntool:\n  - x\n  - 'vt_*'\nmax_chars: 9\n")
    _, found = check_rules(tmp_path)
    assert [one.message for one in found] == [
        f"the tool `x` already has a rule at {tmp_path / 'a.yaml'}:2:8",
        f"the tool `vt_*` already has a rule at {tmp_path / 'a.yaml'}:2:11",
    ]


_words = st.sampled_from(
    [
        *(
            "version",
            "1",
            "tool",
            "t",
            "steps",
            "path",
            "limit",
            "keep",
            "drop",
            "a[?b",
            "'",
            '"',
            "- ",
            ": ",
            "\n",
            "\n  ",
            "\n    ",
        ),
        *(
            "[",
            "]",
            "{",
            "}",
            "when",
            "tests",
            "@",
            "preserve",
            "ioc",
            "*",
            "\ud800",
            "\t",
            "entities",
            "pattern",
            "words",
        ),
    ]
)


@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(_words, max_size=40).map("".join),
        st.lists(_words, max_size=40).map(lambda words: HEAD + "".join(words)),
    )
)
@example("version: 1\ntool: t\nsteps:\n  - ? a\n")
@example("version: .nan\ntool: [1, null]\nsteps: {a: 1}\n")
@example(STEP + "    truncate: " + "9" * 5000 + "\n")
def test_any_text_is_a_ruleset_or_problems_in_the_file(text: str) -> None:
    ruleset, found = compile_rules([("r.yaml", text)])
    assert ruleset is not None or any(problem.severity == "error" for problem in found)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for problem in found:
        assert 1 <= problem.location.line <= len(lines) + 1
        assert problem.location.column >= 1
        str(problem)


MANY = """\
version: 1
tool: t
limit: 5                                         #! E018:1
steps:
  - pth: a                                       #! E010:5
    remove: [b]                                  #! E010:5
    max_chars: 5                                 #! E018:5
  - {truncate: {hed: 5}, wen: {wher: c}}         #! E010:17 E010:26 E010:32
  - path: d
    descending: true                             #! E010:5
    limit: "3"                                   #! E020:12
    always_keep: bad
  - path: e
    frobnicate: 3                                #! E010:5
  - path: "f[?g = 'h']"                          #! E052:17
    drop: j
    keep: j                                      #! E014:5
tests:
  - {nme: k, given: {txt: l}, expect: {unchangd: true}}   #! E010:6 E010:22 E010:40
  - name: m
    given: {text: n, json: [1]}                  #! E024:12
    expect: {}                                   #! E023:13
entities:
  ticket: {patern: 'INC-[0-9]+'}                 #! E010:12
  Ticket: {words: [INC-1]}                       #! E091:3
conditions:
  bad: risk = 'high'                             #! E052:13
max_chars: 1_000                                 #! E041:12
"""


def test_many_mistakes_are_found_once_each() -> None:
    expected = []
    for number, line in enumerate(MANY.splitlines(), 1):
        for planted in line.partition("#!")[2].split():
            code, column = planted.split(":")
            expected.append((number, int(column), code))
    _, found = compile_rules([("r.yaml", MANY)])
    assert [(one.location.line, one.location.column, one.code) for one in found] == expected
