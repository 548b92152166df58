"""Safe corrections of rule files: at the place of the mistake, nothing else, and never for the worse."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import event, example, given, target
from hypothesis import strategies as st

from reducer.catalogue import CATALOGUE, files
from reducer.rule import compile_rules
from reducer.rule.fix import fixed

RULES = Path(__file__).parents[1] / "rules"
HEAD = "version: 1\ntool: t\n"


def fix(text: str) -> str:
    return fixed({"r.yaml": text.encode("utf-8", "surrogateescape")})["r.yaml"].decode("utf-8", "surrogateescape")


def errors(text: bytes) -> int:
    return sum(problem.severity == "error" for problem in compile_rules([("r.yaml", text)])[1])


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("- path: items # the list\n  limt: 3   # few", "- path: items # the list\n  limit: 3   # few"),
        ("- {top: 3, order_by: seen, order: newest}", "- {limit: 3, sort_by: seen, order: desc}"),
        ("- path: @timestamp\n  truncate: 5", "- path: '\"@timestamp\"'\n  truncate: 5"),
        ("- path: [?risk='high'].tags\n  limit: 3", "- path: \"[?risk=='high'].tags\"\n  limit: 3"),
        ("- path: 'a[?b > 5 and not c]'\n  drop: d", "- path: 'a[?b > `5` && !c]'\n  drop: d"),
        ("- path: $.a['b'].last-seen\n  limit: 3", "- path: 'a.b.\"last-seen\"'\n  limit: 3"),
        ("- {limit: 3, always_keep: \"risk = 'a'\"}", "- {limit: 3, always_keep: \"risk == 'a'\"}"),
        ("- {limit: 3, always_keep: 'risk = ''a'''}", "- {limit: 3, always_keep: 'risk == ''a'''}"),
        ("- extract: [ip-src, domain-name]", "- extract: [ipv4, domain]"),
        ("- keep: [a, 2024-01-01]", '- keep: [a, "2024-01-01"]'),
        ("\t- limit: 3", "  - limit: 3"),
        ("- path: a\n   limit: 3", "- path: a\n  limit: 3"),
        ("- path: a\n  limit:3", "- path: a\n  limit: 3"),
        ("- path: a[?b == 'x #1']\n  drop: c", "- path: \"a[?b == 'x #1']\"\n  drop: c"),
    ],
)
def test_corrects_at_the_place_of_the_mistake(wrong: str, right: str) -> None:
    def whole(steps: str) -> str:
        return HEAD + "# above\nsteps:\n" + "".join(f"{'' if line[0] == chr(9) else '  '}{line}\n" for line in steps.splitlines()) + "# below\n"

    assert fix(whole(wrong)) == (whole(right) if "\t" not in wrong else whole(right.strip()))


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "steps:\n  - path: a\n    keep: [x]\n    sort_by: y\n",
        HEAD + "steps:\n  - path: a\n    frobnicate: 3\n",
        HEAD + 'steps:\n  - {path: a, limit: 3, always_keep: risk == "high"}\n',
        HEAD + "max_chars: no\n",
    ],
)
def test_leaves_alone_what_is_not_clear(text: str) -> None:
    assert fix(text) == text


def test_line_breaks_and_marks_stay() -> None:
    text = "\ufeff" + (HEAD + "steps:\n  - limt: 3\n    top: 4\n").replace("\n", "\r\n")
    assert fix(text) == text.replace("limt", "limit")


def test_rules_of_several_files_are_read_together() -> None:
    own = b"version: 1\nentities: {ticket: {words: [INC-1]}}\n"
    rule = b"version: 1\ntool: t\npreserve: [tickt]\nmax_chars: 9000\n"
    assert fixed({"a.yaml": own, "b.yaml": rule}) == {"a.yaml": own, "b.yaml": rule.replace(b"tickt", b"ticket")}


@pytest.mark.parametrize("rule", sorted(RULES.glob("*.yaml")), ids=lambda path: path.name)
def test_sound_rules_stay_as_they_are(rule: Path) -> None:
    text = rule.read_bytes()
    assert fixed({str(rule): text}) == {str(rule): text}


@pytest.mark.parametrize("entry", [entry for entry in CATALOGUE.values() if entry.right], ids=lambda entry: entry.code)
def test_examples_get_no_worse(entry: object) -> None:
    right, wrong = files(entry.right), files(entry.wrong)  # type: ignore[attr-defined]
    assert fixed(right) == right
    better = fixed(wrong)
    assert len(compile_rules(better.items())[1]) <= len(compile_rules(wrong.items())[1])
    assert fixed(better) == better


SHIPPED = sorted(RULES.glob("*.yaml"))
_slips = st.sampled_from(["\t", " ", "#", " #", "@", "'", '"', ":", "-", "[", "]", "=", "x", "$.", "and ", "\n", "  "])


@given(st.sampled_from(SHIPPED), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2), _slips), min_size=1, max_size=3))
@example(SHIPPED[0], [(0.1, 1, "\t"), (0.5, 1, "@")])
def test_planted_slips_never_get_worse_and_fixing_is_done_once(rule: Path, slips: list[tuple[float, int, str]]) -> None:
    text = rule.read_text(encoding="utf-8")[:1500]
    for where, gone, new in slips:
        at = int(where * len(text))
        text = text[:at] + new + text[at + gone :]
    wrong = text.encode()
    better = fixed({"r.yaml": wrong})["r.yaml"]
    event("fixed" if better != wrong else "left")
    target(float(errors(wrong) - errors(better)))
    assert errors(better) <= errors(wrong)
    assert errors(wrong) or better == wrong
    assert fixed({"r.yaml": better})["r.yaml"] == better
