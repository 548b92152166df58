"""Advice for keys that the rule language does not have, or has at another place; its data is `habits.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from typing import Any

from reducer.operations import operations
from reducer.rules.diagnostics import written

_MAX_CHARS = 200
"""The maximum length of a value that advice repeats."""


@cache
def habits() -> dict[str, Any]:
    """Return the tables of `habits.toml`."""
    return tomllib.loads(files("reducer.rules").joinpath("habits.toml").read_text(encoding="utf-8"))


def advice_for_key(word: str, value: Any, known: Collection[str]) -> str:
    """Return the line to write instead of an unknown key, or an empty text; `known` are the keys that are valid."""
    line: str = habits()["keys"].get(word.lower(), "")
    return f"write {_filled(line, value)}" if line.partition(":")[0] in known else ""


def advice_elsewhere(word: str, value: Any) -> str:
    """Return where to write a key of the rule language that is not valid at its place, or an empty text."""
    advice: str = habits()["elsewhere"].get(word, "")
    if word in operations():
        advice = f"write a step of its own: - {{path: items, {word}: {{}}}}"
    return _filled(advice, value)


def _filled(line: str, value: Any) -> str:
    shown = value if type(value) is str and "[?" in line else written(value)
    return line.replace("{}", shown if len(shown) <= _MAX_CHARS else "…")
