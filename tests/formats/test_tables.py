"""Texts with separated cells and tables: rows and columns are removed as ranges of the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reducer.formats import read_as
from tests.helpers import table

ANSWERS = Path(__file__).with_name("answers")
CASES = [
    (notation, case)
    for notation, name in (("csv", "csv.yaml"), ("table", "tables.yaml"))
    for case in table(__file__, name)
]


@pytest.mark.parametrize(("notation", "case"), CASES)
def test_a_text_is_read_and_parts_are_written(notation: str, case: dict[str, Any]) -> None:
    found = read_as(case["text"], [notation])
    if case.get("invalid"):
        assert found is None
        return
    assert found is not None
    value, form = found
    assert value == case["value"]
    assert form.write(value) == case["text"]
    assert form.write(case["part"]) == case["written"]
