"""`check --fix` corrects misspelt keys, actions and types, and missing quotes, and changes nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import event, example, given, target
from hypothesis import strategies as st

from reducer.rules import compile_rules
from reducer.rules.diagnostics import Entry, catalogue
from reducer.rules.fix import fixed
from reducer.rules.parser import parse
from tests.rules.examples import CASES, example_files

RULES = Path(__file__).parents[2] / "rules"
HEAD = "version: 1\ntool: t\n"


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
    rule = b"version: 1\ntool: t\npreserve: [tickt]\nmax_chars: 9000\n"
    assert fixed({"a.yaml": own, "b.yaml": rule}) == {"a.yaml": own, "b.yaml": rule.replace(b"tickt", b"ticket")}


@pytest.mark.parametrize("rule", sorted(RULES.glob("*.yaml")), ids=lambda path: path.name)
def test_valid_rules_do_not_change(rule: Path) -> None:
    text = rule.read_bytes()
    assert fixed({str(rule): text}) == {str(rule): text}


@pytest.mark.parametrize(("code", "entry"), catalogue().items(), ids=catalogue())
def test_examples_do_not_get_worse(code: str, entry: Entry) -> None:
    right, wrong = example_files(entry.right), example_files(entry.wrong)
    assert fixed(right) == right
    better = fixed(wrong)
    assert len(compile_rules(better.items())[1]) <= len(compile_rules(wrong.items())[1])
    assert fixed(better) == better


SHIPPED = sorted(RULES.glob("*.yaml"))
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
