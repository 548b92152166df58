"""A column of an Arrow table compared with a loop over its rows. The target is at most 1.15 times its time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reducer import Reducer

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kind", ["string", "string_view"])
def test_column(compare: Callable[..., None], kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    from reducer.arrow import reduce_column

    reducer = Reducer.load(ROOT / "rules")
    rows = [(ROOT / "reducer" / "samples" / "threat_intelligence.json").read_bytes()] * 4
    batch = pa.record_batch({"messages": pa.array(rows, pa.binary()).cast(getattr(pa, kind)())})
    contenders = {
        "reduce_json": lambda rows: [reducer.reduce_json(row) for row in rows],
        "reduce_column": lambda rows: reduce_column(batch, "messages", reducer),
    }
    compare(kind, contenders, lambda: rows, rounds=20)
