"""Results over the real data stay as recorded, and results of earlier releases are fixed points."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from reducer import Reducer
from tests.golden.corpus import Case, corpus
from tests.golden.record import changed, computed, recorded

RETURNS = sorted((Path(__file__).parent / "returns").glob("*.json"))
"""Reduced returns with their originals, rules and sources. Add new ones; never change or remove one."""


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.slow)])
def test_results_are_as_recorded(every: int, data: Path) -> None:
    """Record them again with `python -m tests.golden.record`, on purpose only."""
    names: set[tuple[str, str]] = set()

    def cases() -> Iterator[Case]:
        for case in corpus(data, every):
            names.add((case.group, case.name))
            yield case

    after = computed(cases())
    assert len(names) > 300
    assert changed({key: digest for key, digest in recorded().items() if every == 1 or key in names}, after) == []


def test_every_group_has_results() -> None:
    results = Counter(group for group, _ in recorded())
    assert set(results) == {"histories", "json", "lines", "literals", "live", "nested", "objects", "reprs", "sessions"}
    assert min(results.values()) > 100


@pytest.mark.parametrize("file", RETURNS, ids=lambda file: file.stem)
def test_a_return_that_an_earlier_release_reduced_is_a_fixed_point(file: Path, tmp_path: Path) -> None:
    case = json.loads(file.read_text(encoding="utf-8"))
    rule = tmp_path / "rule.yaml"
    rule.write_text(json.dumps(case["rule"]), encoding="utf-8")
    assert case["reduced"] != case["original"]
    assert Reducer.load(rule).reduce_content(case["tool"], case["reduced"]) is case["reduced"]
