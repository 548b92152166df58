"""Blocks of pairs are read, and parts of them are written."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from reducer.formats import read_as
from tests.formats.notation_laws import HOSTILE, assembled, check, recorded
from tests.helpers import table
from tests.laws.strategies import laws

ANSWERS = recorded("blocks")
PIECES = (
    *("Name: a\n", "Name: a\nURL: b\n", "URL: https://example.org/?a: b\n", "Name : \n", "Name:\n", "Text: |\n"),
    *("Key: x\n", "Key: y\nKey: z\n", "Key:\tx\n", "Key . . . : x\n", "title: t\n", "Note: 1: 2\n", "a:b\n"),
    *("  more\n", "  Name: more\n", "    Sub: x\n", "  A: 1\n  B: 2\n", "F/S/P: 1\n", "K" * 41 + ": x\n"),
    *("\n", "\n", "\n\n", "  \n", "---\n", "  ====  \n", "***\n", "-=-\n", "Value: ------\n"),
    "1. title\n   A: x\n   B: y\n",
    *("Adapter X:\n\n  A: 1\n  B: 2\n\n", "prose about 185.220.101.34\n", "größer: 🙂\n", "\ud800: x\n", "\r"),
    *("…[3 more items]\n", "\n…[3 more items]\n", "Name: …[3 more items]\n", "Text: cut …[40 more characters]\n"),
)


@pytest.mark.parametrize("case", table(__file__, "blocks.yaml")["values"])
def test_blocks_are_read(case: dict[str, Any]) -> None:
    found = read_as(case["text"], ["blocks"])
    assert (found and found[0]) == case["value"]


@pytest.mark.parametrize("case", table(__file__, "blocks.yaml")["parts"])
def test_a_part_of_blocks_is_written(case: dict[str, Any]) -> None:
    value, form = read_as(case["text"], ["blocks"])
    assert form.write(case["part"]) == case["written"]
    assert form.write(value) == case["text"]


@laws
@given(st.integers(0, 1 << 40))
def test_parts_of_generated_blocks_are_read_again(seed: int) -> None:
    chosen = Random(seed)
    for written in check("blocks", assembled(chosen, PIECES), 3, chosen):
        event(f"written: {written}")


@pytest.mark.parametrize("name", ANSWERS)
def test_parts_of_recorded_blocks_are_read_again(name: str) -> None:
    written = list(check("blocks", ANSWERS[name][0], 30, Random(name)))
    assert sum(written) >= 15


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_read_and_written(text: str) -> None:
    all(check("blocks", text, 1, Random(1)))
