"""Cases, each beside one that looks like it and is not, and the accuracy on real documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from reducer.entities import scan
from tests.benchmarks.entities.accuracy import score

HARD = Path(__file__).parents[2] / ".." / "shared" / "data" / "entities" / "hard_cases.jsonl"
HARD_CASES = [json.loads(line) for line in HARD.open(encoding="utf-8")] if HARD.exists() else []
CASES = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text("utf-8"))
CASES["sha512"] = [{"text": "a1b2c3d4" * 16, "found": ["a1b2c3d4" * 16]}]


def found(text: str, kind: str) -> list[str]:
    """Return the canonical values of one type, in order."""
    return [entity.canonical for entity in scan(text, [kind])]


@pytest.mark.parametrize(("kind", "case"), [(kind, case) for kind, cases in CASES.items() for case in cases])
def test_case(kind: str, case: dict[str, Any]) -> None:
    assert found(case["text"], kind) == case["found"]
    if "written" in case:
        assert [entity.value for entity in scan(case["text"], [kind])] == case["written"]


@pytest.mark.data
@pytest.mark.parametrize("case", HARD_CASES, ids=[f"{n}-{case['why']}" for n, case in enumerate(HARD_CASES)])
def test_hard_case(case: dict[str, dict[str, list[str]]]) -> None:
    types = {"ttp": "mitre_attack"}
    text = str(case["text"])
    for kind, values in case["expected"].items():
        assert found(text, types.get(kind, kind)) == values
    for kind, values in case["must_not"].items():
        hits = found(text, types.get(kind, kind))
        assert hits == [] if values == "*" else not set(values) & set(hits)


@pytest.mark.data
def test_real_documents_are_read_right(data: Path) -> None:
    counts = score(data / "entities" / "labelled.jsonl", lambda text: [(e.type, e.canonical) for e in scan(text)])
    assert counts["all"].f1 >= 99.7
    assert counts["domain"].f1 >= 99.5
    assert counts["url"].f1 >= 99.5
    assert counts["all"].right > 4500
    assert counts["domain"].false < 5
