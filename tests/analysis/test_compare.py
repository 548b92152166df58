"""Contenders side by side: the same numbers as the reference definition gives for its baselines."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reducer.analysis.compare import CLEARED, Score, add_scores, baseline, compare, of_rules
from reducer.rules import compile_rules
from tests.cli.conftest import history

SAME = {"truncate:2000": "trunc2000", "keep-last:5": "mask5r", "head:5": "head5", "keep-last:1": "mask1r"}


def test_baselines_score_as_the_definition_says(data: Path, definition: ModuleType) -> None:
    contenders = [baseline(name) for name in SAME]
    novel = 0
    for file in sorted(data.glob("histories/*/*.json"))[::5]:
        raw = file.read_bytes()
        expected = definition.run_baselines(json.loads(raw), SAME.values())
        for (own, name), score in zip(SAME.items(), compare(raw, contenders), strict=True):
            known = expected[name]
            assert score.references == known.get("novel", 0), (file.name, own)
            assert score.before == known["ret0"], (file.name, own)
            if own.startswith("head"):
                continue  # the definition opens JSON in texts in JSON as well
            assert score.references_kept == known.get("on", 0), (file.name, own)
            assert abs(score.after - known["ret1"]) <= 2, (file.name, own)
            novel += score.references
    assert novel > 50


def _history(*contents: Any) -> bytes:
    messages = json.loads(history(*(("look", content) for content in contents)))
    messages.append({"kind": "response", "parts": [{"part_kind": "text", "content": "It is host-1 and host-9."}]})
    return json.dumps(messages).encode()


def test_rules_and_baselines_on_one_history() -> None:
    ruleset, _ = compile_rules([("look.yaml", "version: 1\ntool: look\nsteps:\n  - drop: \"[?contains(@, '9')]\"\n")])
    assert ruleset is not None
    recorded = _history(["host-1 " * 20, "host-9 192.0.2.1"], "x" * 100)
    contenders = [of_rules("rules", ruleset), baseline("keep-last:1"), baseline("truncate:5000")]
    rules, cleared, cut = compare(recorded, contenders)
    assert (rules.references, rules.references_kept, rules.entities, rules.entities_kept) == (2, 1, 1, 0)
    assert (cleared.references_kept, cleared.entities_kept, cleared.after) == (0, 0, len(CLEARED) + 100)
    assert (cut.references_kept, cut.entities_kept, cut.saved) == (2, 1, 0)
    assert (rules.cost.changes, cleared.cost.changes, cut.cost.changes) == (0, 1, 0)
    assert cleared.cost.again < cut.cost.again


def test_scores_add_up() -> None:
    (score,) = compare(_history("host-1"), [baseline("truncate:3")])
    assert add_scores([score, score]).before == 2 * score.before
    assert add_scores([]) == Score()
    assert Score().saved == 0


@pytest.mark.parametrize("text", ["trunc:5", "mask:5", "head", "head:0", "head:-1", "head:²", "truncate:9999999999"])
def test_unknown_baselines(text: str) -> None:
    with pytest.raises(ValueError, match="expected one such as truncate:2000, head:5 or keep-last:5") as raised:
        baseline(text)
    assert str(raised.value).startswith(f"unknown baseline {text}: ")
