"""Sections of Markdown are read, and parts of them are written."""

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

ANSWERS = recorded("sections")
PIECES = (
    *("# One\n", "## Two ##\n", "### Three `x`\r\n", "#### \n", "#hashtag\n", "   ## Moved\n", "    # code\n"),
    *("Title\n===\n", "Other\n\n---\n", "Other | cell\n---\n", "- item\n---\n", "two\nlines\n---\n", "---\n"),
    *("```sh\n# comment\n```\n", "```\n", "~~~~\n# x\n~~~\n", "~~~~\n", "````md\n```\n", "``` a ` b\n", "text]\n"),
    *("\n", "\n\n", "  \n", "\t\n", "text of 185.220.101.34\n", 'a "quoted" | cell\n', "größer 🙂\n", "\ud800\n"),
    *("…[3 more items]\n", "\n…[3 more items]\n", "cut …[40 more characters]\n", "# a …[4 more characters]\n", "\r"),
)


@pytest.mark.parametrize("case", table(__file__, "sections.yaml")["values"])
def test_sections_are_read(case: dict[str, Any]) -> None:
    found = read_as(case["text"], ["sections"])
    assert (found and found[0]) == case["value"]


@pytest.mark.parametrize("case", table(__file__, "sections.yaml")["parts"])
def test_a_part_of_sections_is_written(case: dict[str, Any]) -> None:
    value, form = read_as(case["text"], ["sections"])
    assert form.write(case["part"]) == case["written"]
    assert form.write(value) == case["text"]


@laws
@given(st.integers(0, 1 << 40))
def test_parts_of_generated_sections_are_read_again(seed: int) -> None:
    chosen = Random(seed)
    for written in check("sections", assembled(chosen, PIECES), 3, chosen):
        event(f"written: {written}")


@pytest.mark.parametrize("name", ANSWERS)
def test_parts_of_recorded_sections_are_read_again(name: str) -> None:
    written = list(check("sections", ANSWERS[name][0], 30, Random(name)))
    assert sum(written) >= 15


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_read_and_written(text: str) -> None:
    all(check("sections", text, 1, Random(1)))
