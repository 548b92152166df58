"""Rules for recorded text answers of real servers: what an agent needs of them was written down before the parsers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from reducer.formats import NOTATIONS
from tests.helpers import fixed_point, rules

FOLDER = Path(__file__).parent / "answers"
ANSWERS = sorted(FOLDER.rglob("*.yaml"))


def read(file: Path) -> tuple[str, dict[str, Any]]:
    return file.with_suffix(".txt").read_bytes().decode(), yaml.safe_load(file.read_text())


def test_there_are_answers_of_each_notation() -> None:
    counts = Counter(file.parent.name for file in ANSWERS)
    assert counts.keys() == {*NOTATIONS}
    assert min(counts.values()) >= 5
    assert counts.total() >= 40


@pytest.mark.parametrize("file", ANSWERS, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_rule_saves_most_of_an_answer_and_keeps_what_an_agent_needs(file: Path) -> None:
    text, known = read(file)
    assert {"tool", "source", "licence", "task", "needs", "keeps", "loses"} <= known.keys()
    if "rule" not in known:
        assert known["why_not"], "an answer has a rule, or a reason why it has none"
        return
    rule = known["rule"]
    assert len(rule["steps"]) <= 6
    assert not rule.keys() & {"max_chars"}
    outcome = fixed_point(rules(**rule), text)
    assert outcome.unread == 0
    assert [needed for needed in known["keeps"] if needed not in outcome.content] == []
    assert len(outcome.content) <= known.get("at_most", 0.4) * len(text)
