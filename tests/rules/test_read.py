"""Wrong rule files: every problem of every file in one run, each with its place, code, message and help."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer import RuleError
from reducer.rules import compile_rules, read_rules

HEAD = "version: 1\ntool: t\n"
STEP = HEAD + "steps:\n  - path: items\n"


def test_all_problems_of_all_files_come_in_one_run(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(STEP + "    limt: 3\n")
    (tmp_path / "a.yaml").write_text(STEP + "    limit: 0\npreserve: [x]\nmax_chars: no\n")
    (tmp_path / "notes.txt").write_text("not a rule")
    with pytest.raises(RuleError) as caught:
        read_rules(tmp_path)
    places = [f"{Path(problem.location.file).name}:{problem.location.line}" for problem in caught.value.problems]
    assert places == ["a.yaml:5", "a.yaml:6", "a.yaml:7", "b.yaml:2", "b.yaml:5"]


def test_no_rule_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="no rule files found"):
        read_rules(tmp_path)
    with pytest.raises(RuleError, match="cannot read the file: No such file or directory"):
        read_rules(tmp_path / "gone.yaml")


PIECES = "version: 1|tool: t|steps:|  - path: a|limit|keep|drop|when|tests|preserve|entities|pattern|words|a[?b|@|ioc|*"
_pieces = st.sampled_from([*PIECES.split("|"), *"'\"|[]{}\n\t\ud800", "- ", ": ", "\n  ", "\n    "])
_texts = st.lists(_pieces, max_size=40).map("".join)


@given(st.text(max_size=200) | _texts | _texts.map(lambda text: HEAD + text))
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
