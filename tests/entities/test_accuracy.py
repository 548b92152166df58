from __future__ import annotations

from pathlib import Path

import pytest

from reducer.entities import scan
from tests.benchmarks.entities.accuracy import score


@pytest.mark.data
def test_real_documents_are_read_right(data: Path) -> None:
    counts = score(data / "entities" / "labelled.jsonl", lambda text: [(e.type, e.canonical) for e in scan(text)])
    assert counts["all"].f1 >= 99.7
    assert counts["domain"].f1 >= 99.5
    assert counts["url"].f1 >= 99.5
    assert counts["all"].right > 4500
    assert counts["domain"].false < 5
