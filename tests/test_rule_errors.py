"""Wrong rule files: every problem in one run, each with its place, the line, a caret, and what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer import RuleError
from reducer.rule import check_rules, compile_rules, read_rules

HEAD = "version: 1\ntool: t\n"
STEP = HEAD + "steps:\n  - path: items\n"


def problems(text: str) -> list[tuple[str, str, str]]:
    _, found = compile_rules([("r.yaml", text)])
    return [(str(problem.location).removeprefix("r.yaml:"), problem.message, problem.help) for problem in found]


CASES = {
    "no version": ("tool: t\nmax_chars: 9\n", ("1:1", "`version` is missing", "")),
    "another version": (
        "version: 2\ntool: t\nmax_chars: 9\n",
        ("1:10", "this reducer reads version 1 of the rule language, not 2", "write version: 1, or use a newer reducer"),
    ),
    "no tool": ("version: 1\nmax_chars: 9\n", ("1:1", "`tool` is missing", "")),
    "unknown key": (HEAD + "max_char: 9\nsteps: [{limit: 1}]\n", ("3:1", "unknown key `max_char`", "did you mean `max_chars`?")),
    "unknown action": (STEP + "    limt: 3\n", ("5:5", "unknown key `limt`", "did you mean `limit`?")),
    "unknown modifier": (STEP + "    limit: 3\n    sorted_by: x\n", ("6:5", "unknown key `sorted_by`", "did you mean `sort_by`?")),
    "modifier of another action": (
        STEP + "    keep: a\n    sort_by: x\n",
        ("6:5", "`sort_by` has no place beside `keep`", "it stands beside `limit`"),
    ),
    "two actions": (STEP + "    limit: 3\n    keep: a\n", ("6:5", "a second action beside `limit`", "write one step for each action")),
    "no action": (
        STEP + "    when: {min_chars: 5}\n",
        ("4:5", "this step has no action", "expected one of `compact`, `dedupe`, `drop`, `drop_dangling`, `extract`, `keep`, `limit`, `truncate`, `unwrap`"),
    ),
    "a step that is a word": (
        HEAD + "steps: [limit]\n",
        (
            "3:9",
            "expected a step: a mapping with one action",
            "the actions are `compact`, `dedupe`, `drop`, `drop_dangling`, `extract`, `keep`, `limit`, `truncate`, `unwrap`",
        ),
    ),
    "nothing to do": (HEAD, ("2:1", "this rule does nothing", "add `steps` or `max_chars`")),
    "no steps": (HEAD + "steps: []\n", ("3:8", "expected at least one", "")),
    "a text for a number": (STEP + '    limit: "3"\n', ("5:12", "expected a whole number, or {head: 10, tail: 5}", "")),
    "limit 0": (STEP + "    limit: 0\n", ("5:12", "expected at least 1; to take all of it away use `drop`", "")),
    "a negative amount": (STEP + "    truncate: {head: -1}\n", ("5:22", "expected at least 0, not -1", "")),
    "an unknown part of an amount": (STEP + "    truncate: {haed: 1}\n", ("5:16", "unknown key `haed`", "did you mean `head`?")),
    "an unknown order": (STEP + "    limit: 3\n    order: newest\n", ("6:12", "expected 'asc' or 'desc', not `newest`", "did you mean `desc`?")),
    "a path that is a list": (HEAD + "steps:\n  - path: [a]\n    limit: 3\n", ("4:11", "expected a JMESPath expression", "")),
    "a path that makes a value": (
        HEAD + "steps:\n  - path: sort(items)\n    limit: 3\n",
        ("4:11", "`sort()` makes a new value; a path names places", "functions stand in filters and conditions only"),
    ),
    "a column inside a quoted path": (
        HEAD + "steps:\n  - path: 'items[?a = `1`]'\n    limit: 3\n",
        ("4:21", "unknown character `=`", "write `==` to compare: `items[?a == `1`]`"),
    ),
    "an unknown type": (HEAD + "preserve: [ip, ipv5]\nmax_chars: 9\n", ("3:16", "unknown entity type `ipv5`", "did you mean `ipv6`?")),
    "an unknown type with a bound": (HEAD + "preserve: {ipv5: 9}\nmax_chars: 9\n", ("3:12", "unknown entity type `ipv5`", "did you mean `ipv6`?")),
    "a bound of nothing": (HEAD + "preserve: {ioc: 0}\nmax_chars: 9\n", ("3:17", "expected at least 1, not 0", "")),
    "a gate without a condition": (HEAD + "when: {}\nmax_chars: 9\n", ("3:7", "expected `min_chars` or `where`", "")),
    "an unknown part of a gate": (HEAD + "when: {min_char: 9}\nmax_chars: 9\n", ("3:8", "unknown key `min_char`", "did you mean `min_chars`?")),
    "keys other than all": (HEAD + "keys: some\nmax_chars: 9\n", ("3:7", "expected 'all', not `some`", "")),
    "an index in keep": (
        STEP + '    keep: "a[0]"\n',
        ("5:12", "expected keys only: names, dots and `[*]`", "items are chosen by `limit`, or by `drop` with a filter"),
    ),
    "a slice in path": (
        HEAD + 'steps:\n  - path: "items[-2:].a"\n    keep: b\n',
        ("4:11", "a place counted from the end, or a slice, moves when a list gets shorter", "use an index from 0, or `[*]`, or `limit`"),
    ),
    "an index beside a limit": (
        HEAD + 'steps:\n  - path: "items[0]"\n    keep: b\n  - path: items\n    limit: 2\n',
        ("4:11", "an index names another item when a step shortens the list", "use a filter such as `[?name == 'x']`"),
    ),
    "a dead glob": ("version: 1\ntool: 'vt_[a'\nmax_chars: 9\n", ("2:7", "the glob `vt_[a` can match nothing", "close the `[`, or write `[[]` for a bracket")),
    "a test without expectations": (
        HEAD + "max_chars: 9\ntests:\n  - {name: a, given: {text: a}, expect: {}}\n",
        ("5:41", "expected at least one expectation", ""),
    ),
    "an unknown expectation": (
        HEAD + "max_chars: 9\ntests:\n  - {name: a, given: {text: a}, expect: {contain: x}}\n",
        ("5:42", "unknown key `contain`", "did you mean `contains`?"),
    ),
    "a test with two inputs": (
        HEAD + "max_chars: 9\ntests:\n  - {name: a, given: {text: a, json: 1}, expect: {unchanged: true}}\n",
        ("5:22", "expected exactly one of `json`, `text`, `file`, `history`", ""),
    ),
    "a share without a percent sign": (
        HEAD + "max_chars: 9\ntests:\n  - {name: a, given: {text: a}, expect: {min_reduction: 0.8}}\n",
        ("5:57", "expected a share such as 80%", ""),
    ),
    "no mapping": ("- a\n- b\n", ("1:1", "expected the keys of a rule", "a rule file starts with `version: 1` and `tool:`")),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_one_mistake_gives_one_finding(text: str, expected: tuple[str, str, str]) -> None:
    assert problems(text) == [expected]


FORM = {
    "keep takes what a filter reads": (
        "  - drop: \"[?risk != 'high']\"\n  - keep: [h]\n",
        ("5:5", "this takes away `risk`, which step 1 (`drop`) decides by: applied again, it would choose otherwise", "add `risk` to `keep`"),
    ),
    "keep takes what always_keep reads": (
        "  - {path: a, limit: 3, always_keep: score > `3`}\n  - {path: a, keep: [h]}\n",
        ("5:15", "this takes away `score`, which step 1 (`limit`) decides by: applied again, it would choose otherwise", "add `score` to `keep`"),
    ),
    "drop takes a sort key": (
        "  - {path: a, limit: 3, sort_by: seen.last}\n  - {path: 'a[*].seen', drop: last}\n",
        ("5:25", "this takes away `seen.last`, which step 1 (`limit`) decides by: applied again, it would choose otherwise", "put `limit` after `drop`"),
    ),
    "keep makes items equal after dedupe": (
        "  - {path: a, dedupe: true}\n  - {path: a, keep: [h]}\n",
        ("5:15", "this takes away `a`, which step 1 (`dedupe`) decides by: applied again, it would choose otherwise", "put `dedupe` after `keep`"),
    ),
    "truncate makes keys equal after dedupe": (
        "  - {path: a, dedupe: title}\n  - {path: 'a[*].title', truncate: 10}\n",
        ("5:26", "this takes away `title`, which step 1 (`dedupe`) decides by: applied again, it would choose otherwise", "put `dedupe` after `truncate`"),
    ),
    "limit takes the nodes that edges need": (
        "  - {path: edges, drop_dangling: {source: 'nodes[*].id'}}\n  - {path: nodes, limit: 5}\n",
        (
            "5:19",
            "this takes away `nodes.id`, which step 1 (`drop_dangling`) decides by: applied again, it would choose otherwise",
            "put `drop_dangling` after `limit`",
        ),
    ),
    "a step takes what its own path asks": (
        "  - {path: \"a[?kind == 'x']\", drop: kind}\n",
        ("4:31", "this takes away `kind`, which itself decides by: applied again, it would choose otherwise", "choose by something that stays"),
    ),
    "a step takes what its own gate asks": (
        "  - {path: a, limit: 3, when: {where: length(a) < `9`}}\n",
        ("4:15", "this takes away `a`, which itself decides by: applied again, it would choose otherwise", "choose by something that stays"),
    ),
}


@pytest.mark.parametrize(("steps", "expected"), FORM.values(), ids=FORM)
def test_what_cannot_be_a_fixed_point_is_refused_with_the_fix(steps: str, expected: tuple[str, str, str]) -> None:
    assert problems(HEAD + "steps:\n" + steps) == [expected]


@pytest.mark.parametrize(
    "steps",
    [
        "  - {path: a, limit: 3, sort_by: seen, always_keep: risk}\n  - {path: a, keep: [seen, risk, name]}\n",
        "  - {path: a, keep: [h]}\n  - {path: a, dedupe: true}\n",
        "  - {path: 'a[*].title', truncate: 10}\n  - {path: a, dedupe: title}\n",
        "  - {path: nodes, limit: 5}\n  - {path: edges, drop_dangling: {source: 'nodes[*].id'}}\n  - {path: nodes, keep: [id, name]}\n",
        "  - {path: a, limit: 3, sort_by: seen}\n  - {path: b, drop: seen}\n",
        "  - {path: a, limit: 3}\n  - {path: 'a[*].tags', limit: 2}\n",
    ],
)
def test_what_is_a_fixed_point_by_form_loads(steps: str) -> None:
    assert problems(HEAD + "steps:\n" + steps) == []


def test_a_problem_shows_the_line_and_a_caret() -> None:
    _, found = compile_rules([("rules/vt.yaml", STEP + "    limt: 3\n")])
    assert str(found[0]) == "rules/vt.yaml:5:5: error[E010]: unknown key `limt`\n  5 |     limt: 3\n    |     ^^^^\n  help: did you mean `limit`?"


def test_all_problems_of_all_files_come_in_one_run(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(STEP + "    limt: 3\n")
    (tmp_path / "a.yaml").write_text(STEP + "    limit: 0\npreserve: [x]\nmax_chars: no\n")
    (tmp_path / "notes.txt").write_text("not a rule")
    with pytest.raises(RuleError) as caught:
        read_rules(tmp_path)
    assert [(Path(p.location.file).name, p.location.line) for p in caught.value.problems] == [
        ("a.yaml", 7),
        ("a.yaml", 5),
        ("a.yaml", 6),
        ("b.yaml", 2),
        ("b.yaml", 5),
    ]


def test_no_rule_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="no rule files here"):
        read_rules(tmp_path)
    with pytest.raises(OSError, match=r"gone\.yaml"):
        read_rules(tmp_path / "gone.yaml")


def test_the_same_name_twice_names_both_places(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("version: 1\ntool: [x, 'vt_*']\nmax_chars: 9\n")
    (tmp_path / "b.yaml").write_text("version: 1\ntool:\n  - x\n  - 'vt_*'\nmax_chars: 9\n")
    _, found = check_rules(tmp_path)
    assert [p.message for p in found] == [
        f"the tool `x` has a rule already, at {tmp_path / 'a.yaml'}:2:8",
        f"the tool `vt_*` has a rule already, at {tmp_path / 'a.yaml'}:2:11",
    ]


def test_two_globs_that_can_meet_are_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("version: 1\ntool: 'vt_*'\nmax_chars: 9\n")
    (tmp_path / "b.yaml").write_text("version: 1\ntool: '*_file'\nmax_chars: 9\n")
    (tmp_path / "c.yaml").write_text("version: 1\ntool: 'misp_*'\nmax_chars: 9\n")
    (tmp_path / "d.yaml").write_text("version: 1\ntool: '*'\nmax_chars: 9\n")
    ruleset, found = check_rules(tmp_path)
    assert ruleset is not None
    assert [(p.severity, p.message) for p in found] == [
        ("warning", f"the glob `*_file` can match a name that `vt_*` at {tmp_path / 'a.yaml'}:2:7 matches too"),
        ("warning", f"the glob `misp_*` can match a name that `*_file` at {tmp_path / 'b.yaml'}:2:7 matches too"),
    ]


_words = st.sampled_from(
    [
        *("version", "1", "tool", "t", "steps", "path", "limit", "keep", "drop", "a[?b", "'", '"', "- ", ": ", "\n", "\n  ", "\n    "),
        *("[", "]", "{", "}", "when", "tests", "@", "preserve", "ioc", "*", "\ud800", "\t", "entities", "pattern", "words"),
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(_words, max_size=40).map("".join), st.lists(_words, max_size=40).map(lambda words: HEAD + "".join(words))))
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
