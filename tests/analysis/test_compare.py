"""Contenders side by side: the same numbers as the reference definition gives for its baselines."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reducer.analysis.compare import AS_RECORDED, Score, add_scores, baseline, compare, of_rules
from reducer.analysis.measures import CLEARED
from reducer.rules import compile_rules
from tests.cli.conftest import history

SAME = {"truncate:2000": "trunc2000", "keep-last:5": "mask5r", "head:5": "head5", "keep-last:1": "mask1r"}


def test_baselines_score_as_the_definition_says(data: Path, definition: ModuleType) -> None:
    contenders = [AS_RECORDED, *map(baseline, SAME)]
    novel = 0
    for file in sorted(data.glob("histories/*/*.json"))[::5]:
        raw = file.read_bytes()
        expected = definition.run_baselines(json.loads(raw), SAME.values())
        recorded, *scores = compare(raw, contenders)
        for (own, name), score in zip(SAME.items(), scores, strict=True):
            known = expected[name]
            assert recorded.references == known.get("novel", 0), (file.name, own)
            assert recorded.characters == known["ret0"], (file.name, own)
            if own.startswith("head"):
                continue  # the definition opens JSON in texts in JSON as well
            assert score.references == known.get("on", 0), (file.name, own)
            assert abs(score.characters - known["ret1"]) <= 2, (file.name, own)
            novel += recorded.references
    assert novel > 50


def _history(*contents: Any) -> bytes:
    messages = json.loads(history(*(("look", content) for content in contents)))
    messages.append({"kind": "response", "parts": [{"part_kind": "text", "content": "It is host-1 and host-9."}]})
    return json.dumps(messages).encode()


def test_rules_and_baselines_on_one_history() -> None:
    ruleset, _ = compile_rules([("look.yaml", "version: 1\ntool: look\nsteps:\n  - drop: \"[?contains(@, '9')]\"\n")])
    assert ruleset is not None
    contenders = [AS_RECORDED, of_rules("rules", ruleset), baseline("keep-last:1"), baseline("truncate:5000")]
    recorded, rules, cleared, cut = compare(_history(["host-1 " * 20, "host-9 192.0.2.1"], "x" * 100), contenders)
    assert (recorded.references, recorded.entities) == (2, 1)
    assert (rules.references, rules.entities) == (1, 0)
    assert (cleared.references, cleared.entities, cleared.characters) == (0, 0, len(CLEARED) + 100)
    assert cut == recorded
    assert (rules.cost.changes, cleared.cost.changes, cut.cost.changes) == (0, 1, 0)
    assert cleared.cost.again < cut.cost.again
    assert add_scores(rules, Score()) == rules
    assert add_scores(cut, cut).characters == 2 * cut.characters


@pytest.mark.parametrize("text", ["trunc:5", "mask:5", "head", "head:0", "head:-1", "head:²", "truncate:9999999999"])
def test_unknown_baselines(text: str) -> None:
    with pytest.raises(ValueError, match="expected one such as truncate:2000, head:5 or keep-last:5") as raised:
        baseline(text)
    assert str(raised.value).startswith(f"unknown baseline {text}: ")
