"""`check --fix` corrects misspelt keys, actions and types, and missing quotes, and changes nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, event, example, given, target
from hypothesis import strategies as st

from reducer.cli import main
from reducer.rules import compile_rules
from reducer.rules.fix import fixed as fixed_by
from reducer.rules.parser import parse, plain
from tests.helpers import RULES
from tests.laws.strategies import KINDS, laws, rule_files
from tests.rules.examples import CASES

_KEY = re.compile(r"([ -]*)(\w+)(:.*)")
_QUOTED = re.compile(r": '([^']*)'")
HEAD = "version: 1\ntool: t\n"


def fixed(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return fixed_by(files, lambda texts: compile_rules(texts.items())[1])


def fix(text: str) -> str:
    return fixed({"r.yaml": text.encode("utf-8", "surrogateescape")})["r.yaml"].decode("utf-8", "surrogateescape")


def errors(text: bytes) -> int:
    return sum(problem.severity == "error" for problem in compile_rules([("r.yaml", text)])[1])


@pytest.mark.parametrize(("wrong", "right"), CASES["fixed"].items())
def test_mistakes_are_corrected(wrong: str, right: str) -> None:
    def whole(steps: str) -> str:
        return HEAD + "# above\nsteps:\n" + "".join(f"  {line}\n" for line in steps.splitlines()) + "# below\n"

    assert fix(whole(wrong)) == whole(right)


@pytest.mark.parametrize("text", CASES["not fixed"])
def test_unclear_mistakes_are_not_corrected(text: str) -> None:
    assert fix(text) == text


def test_line_breaks_and_byte_order_marks_do_not_change_and_all_errors_are_corrected() -> None:
    text = "\ufeff" + (HEAD + "steps:\n  - limt: 3\n    foo: 4\n").replace("\n", "\r\n")
    assert fix(text) == text.replace("limt", "limit")
    text = HEAD + "description: a: b\nsteps:\n  - path: @\n    limt: 3\n  - path: [?a].b\n    limit: 3\n"
    right = 'description: "a: b"\nsteps:\n  - path: "@"\n    limit: 3\n  - path: "[?a].b"\n    limit: 3\n'
    assert fix(text) == HEAD + right


def test_several_files_are_corrected_together() -> None:
    own = b"version: 1\nentities: {ticket: {words: [INC-1]}}\n"
    rule = HEAD.encode() + b"preserve: [%s]\nmax_chars: 9000\n"
    assert fixed({"a.yaml": own, "b.yaml": rule % b"tickt"}) == {"a.yaml": own, "b.yaml": rule % b"ticket"}


SHIPPED = sorted(RULES.glob("*/*.yaml"))
_slips = st.sampled_from(["\t", " ", "#", " #", "@", "'", '"', ":", "-", "[", "]", "=", "x", "$.", "and ", "\n", "  "])


@given(
    st.sampled_from(SHIPPED), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2), _slips), min_size=1, max_size=3)
)
@example(SHIPPED[0], [(0.1, 1, "\t"), (0.5, 1, "@")])
@example(SHIPPED[0], [(0.0, 0, "@")])
def test_planted_mistakes_do_not_get_worse_and_fixing_is_idempotent(
    rule: Path, slips: list[tuple[float, int, str]]
) -> None:
    text = rule.read_text(encoding="utf-8")[:1500]
    for where, gone, new in slips:
        at = int(where * len(text))
        text = text[:at] + new + text[at + gone :]
    wrong = text.encode()
    better = fixed({"r.yaml": wrong})["r.yaml"]
    event("fixed" if better != wrong else "left")
    if parse(wrong, "r.yaml")[0] is not None:
        # A syntax error hides the errors after it.
        target(float(errors(wrong) - errors(better)))
        assert errors(better) <= errors(wrong)
    assert errors(wrong) or better == wrong
    assert fixed({"r.yaml": better})["r.yaml"] == better


def slipped(word: str, kind: str, at: int) -> str:
    """Return a word with one slip at a letter: left out, doubled, or swapped with the next one."""
    at = 1 + at % (len(word) - 2)
    middle = {"left out": "", "doubled": word[at] * 2, "swapped": word[at + 1] + word[at]}[kind]
    return word[:at] + middle + word[at + 1 + (kind == "swapped") :]


_kinds = st.sampled_from(["left out", "doubled", "swapped", "bare"])


@laws
@given(
    st.sampled_from(sorted(KINDS)).flatmap(rule_files),
    st.lists(st.tuples(st.integers(0), _kinds, st.integers(0)), min_size=1, max_size=3),
)
def test_a_fixed_file_does_what_the_author_meant_or_stays_invalid(
    rule: dict[str, Any], slips: list[tuple[int, str, int]]
) -> None:
    meant = lines = yaml.safe_dump(rule, sort_keys=False, width=1 << 20).splitlines()
    assume(compile_rules([("r.yaml", "\n".join(meant))])[0])
    for number, kind, at in slips:
        index = number % len(lines)
        match = _KEY.fullmatch(lines[index])
        line = lines[index]
        if match and kind == "bare":
            line = match[1] + match[2] + _QUOTED.sub(r": \1", match[3])
        elif match and len(match[2]) > 4 and match[2] not in ("source", "target"):  # these are keys of items
            line = match[1] + slipped(match[2], kind, at) + match[3]
        lines = [*lines[:index], line, *lines[index + 1 :]]
    wrong = "\n".join(lines)
    better = fix(wrong)
    event("nothing planted" if lines == meant else "fixed" if better != wrong else "left")
    if errors(wrong.encode()) and not errors(better.encode()):
        tree, original = (parse(text, "r.yaml")[0] for text in (better, "\n".join(meant)))
        assert tree is not None
        assert original is not None
        assert plain(tree) == plain(original)
    if not errors(wrong.encode()):
        assert better == wrong


def test_a_sample_proves_a_missing_star(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notes = "[{note: a note that is longer than the step allows}, {note: another of them}]"
    tests = f"tests:\n  - name: notes\n    given: {{json: {{hosts: {notes}}}}}\n    expect: {{unchanged: false}}\n"
    wrong = HEAD + "steps:\n  - path: hosts.note\n    truncat: 10\n" + tests
    Path("r.yaml").write_text(wrong, encoding="utf-8")
    assert main(["check", "--fix", "r.yaml"]) == 0
    right = wrong.replace("hosts.note", '"hosts[*].note"').replace("truncat:", "truncate:")
    assert Path("r.yaml").read_text(encoding="utf-8") == right
    assert fix(wrong) == wrong.replace("truncat:", "truncate:"), "the text alone does not show it"


def test_a_fix_that_removes_everything_is_not_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tests = "tests:\n  - name: a\n    given: {json: {hosts: GIVEN}}\n    expect: {unchanged: false}\n"
    text = HEAD + "steps:\n  - path: hosts\n    drp: \"[?risk != 'high']\"\n" + tests
    for hosts, expected in (("[{risk: low}, {risk: none}]", "drp"), ("[{risk: low}, {risk: high}]", "drop")):
        Path("r.yaml").write_text(text.replace("GIVEN", hosts), encoding="utf-8")
        main(["check", "--fix", "r.yaml"])
        assert expected in Path("r.yaml").read_text(encoding="utf-8")


def test_a_map_is_not_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hosts = "{a.org: {ip: 192.0.2.1, raw: long}, b.org: {ip: 192.0.2.2, raw: long}}"
    tests = f"tests:\n  - name: a\n    given: {{json: {{hosts: {hosts}}}}}\n    expect: {{unchanged: false}}\n"
    wrong = HEAD + "steps:\n  - path: hosts[*]\n    keep: [ip]\n" + tests
    Path("r.yaml").write_text(wrong, encoding="utf-8")
    assert main(["check", "--fix", "r.yaml"]) == 0
    assert Path("r.yaml").read_text(encoding="utf-8") == wrong.replace("hosts[*]", '"hosts.*"')
