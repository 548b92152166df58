"""YAML texts are read, and parts of their values are written as ranges of the text."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import assume, event, given
from hypothesis import strategies as st

from reducer.formats import read_as
from reducer.formats.parts import is_part
from reducer.formats.yaml_text import read_yaml
from reducer.values import MAX_DEPTH
from tests.formats.yaml_texts import part_of, yaml_texts
from tests.helpers import table
from tests.laws.strategies import laws

ANSWERS = sorted((Path(__file__).parent / "answers" / "yaml").glob("*.txt"))
NOT_READ = {"puppet-report": "an anchor, aliases and tags"}


@pytest.mark.parametrize("case", table(__file__, "yaml_values.yaml"))
def test_values(case: dict[str, Any]) -> None:
    value, form = read_as(case["text"], ["yaml"])
    assert repr(value) == repr(case["value"])
    assert form.write(value) == case["text"]


@pytest.mark.parametrize("case", table(__file__, "yaml_parts.yaml"), ids=lambda case: case["name"])
def test_parts(case: dict[str, Any]) -> None:
    value, form = read_as(case["text"], ["yaml"])
    written = form.write(case["part"])
    assert written == case["written"]
    again, form = read_as(written, ["yaml"])
    assert is_part(again, value)
    assert form.write(case["part"]) == written


OTHER = [
    *("", "\n", "# note\n", "text", "7", "'a'", "|\n  a", "---\n", "---\n---\n", "a\n---\nb: 1\n", "a: 1\n---\nb\n"),
    *("a: &x 1\nb: *x\n", "a: &x 1\n", "a: *x\n", "a: !t x\n", "!t a: x\n", "! a: x\n", "<<: {a: 1}\n", "a: 1\na: 2\n"),
    *(
        "1: a\n'1': b\n",
        "[a]: b\n",
        "? a\n: b\n",
        "? [a]\n: b\n",
        "[a: b]",
        "{? a : b}",
        "a: [1\n",
        "a: 'x\n",
        "a: b: c\n",
    ),
    *("a: \ud800\n", "a: \x00\n", "a: \x07\n", "\ufeff\ufeffa: 1\n", "a:\n\t- b\n", "{a: 1, a: 2}", "a: [b, *c]\n"),
    *("[" * MAX_DEPTH + "]" * MAX_DEPTH, "- " * MAX_DEPTH, '"\\ud800": 1', "- '…[3 more items]'\n--- |\n x\n"),
]
HOSTILE = [
    *("[" * 100_000, "- " * 100_000, "{a: " * 100_000, "? " * 100_000, "[" * 100_000 + "]" * 100_000, "a:\n" * 100_000),
    *('"' * 100_000, "'" * 100_000, "#" * 100_000, "|" * 100_000, "!" * 100_000, "*" * 100_000, "&" * 100_000),
    *(":" * 100_000, "-\t" * 100_000, "%" * 100_000, "[a: " * 100_000, "a" * 100_000, "\n" * 100_000, "\r" * 100_000),
    *("".join(f"{' ' * level}a:\n" for level in range(450)), "&a [*a,*a]\n" * 10_000),
]


@pytest.mark.parametrize("text", OTHER + HOSTILE, ids=range(len(OTHER + HOSTILE)))
def test_other_texts_are_not_read(text: str) -> None:
    assert read_yaml(text) is None


LONG = [
    *(
        "- a\n" * 20_000,
        "[" + "a," * 20_000 + "]",
        "-\n" * 20_000,
        "- |+\n" + "\n" * 100_000,
        "a: 1\n" + "# x\n" * 50_000,
    ),
    *("- a\n" + " " * 100_000 + "\n- b\n", "[" + " " * 100_000 + "a]", "[a" + ",\n" + " #\n" * 30_000 + "b]"),
    *(
        "---\n" * 10_000 + "a: 1\n",
        "- 'a" + "\n" * 100_000 + "'\n",
        '- "' + "\\x41" * 25_000 + '"\n',
    ),
]


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_long_texts(text: str) -> None:
    value, form = read_as(text, ["yaml"])
    assert form.write(value) == text
    part = [*value[::2], "…[9 more items]"] if type(value) is list else {}
    assert len(form.write(part)) <= len(text) + 30


def test_too_long() -> None:
    text = "- a\n" + "# x\n" * 125_000
    assert read_as(text, ["yaml"]) is None
    assert read_as(text[:-8], ["yaml"])[0] == ["a"]


def test_nesting_up_to_the_limit() -> None:
    levels = MAX_DEPTH - 1
    text = "[" * levels + "]" * levels
    value, form = read_as(text, ["yaml"])
    assert form.write(value) == text
    assert form.write([]) == "[]"


@given(yaml_texts, st.randoms(use_true_random=False), st.booleans())
@laws
def test_parts_of_texts(text: str, chosen: Random, marked: bool) -> None:
    found = read_as(text, ["yaml"])
    event(f"read: {found is not None}")
    assume(found is not None)
    value, form = found
    assert form.write(value) == text
    part = part_of(chosen, value, marked)
    assume(type(part) is type(value))
    written = form.write(part)
    event(f"reduced: {written != text}")
    again, second = read_as(written, ["yaml"])
    assert is_part(part, again)
    assert is_part(again, value)
    assert second.write(part) == written
    if not marked:
        assert len(written) <= len(text)


@given(yaml_texts)
@laws
def test_values_are_those_of_the_composer(text: str) -> None:
    found = read_yaml(text)
    assume(found is not None)
    whole = text if text.endswith("\n") else text + "\n"
    documents = list(yaml.load_all(whole, Loader=yaml.CBaseLoader))
    value = documents if len(documents) > 1 else documents[0]
    assert _spelled(found[0], value)


def _spelled(value: Any, other: Any) -> bool:
    """Return whether a value is equal to another, in which all scalars are texts."""
    if type(value) is dict:
        return list(value) == list(other) and all(_spelled(item, other[key]) for key, item in value.items())
    if type(value) is list:
        return len(value) == len(other) and all(map(_spelled, value, other))
    return type(other) is str and (value == other or type(value) is not str)


TOKENS = (
    *(
        "a",
        "b: ",
        "- ",
        "\n",
        "\n  ",
        "\n- ",
        "\nc: ",
        "\n  d: ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        " # x",
        "'",
        '"',
        "|",
        ">\n",
        "? ",
    ),
    *(
        "&a",
        "*a",
        "!t",
        "%",
        "\n---\n",
        "\n...\n",
        "\r\n",
        "\r",
        "\t",
        "~",
        "1",
        "…[3 more items]",
        "\\",
        "\ud800",
        "\ufeff",
        "\u2028",
    ),
)


@given(st.lists(st.sampled_from(TOKENS), max_size=12).map(lambda tokens: "b: " + "".join(tokens)))
@laws
def test_any_text(text: str) -> None:
    found = read_as(text, ["yaml"])
    event(f"read: {found is not None}")
    if found is not None:
        value, form = found
        assert form.write(value) == text
        assert len(form.write(type(value)())) <= len(text)


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_recorded_answers(path: Path) -> None:
    text = path.read_bytes().decode()
    found = read_as(text, ["yaml"])
    if path.stem in NOT_READ:
        assert found is None
        return
    value, form = found
    assert form.write(value) == text
    for seed in range(20):
        part = part_of(Random(seed), value, marked=bool(seed % 2))
        written = form.write(part)
        assert written != text
        again, second = read_as(written, ["yaml"])
        assert is_part(part, again)
        assert is_part(again, value)
        assert second.write(part) == written
