"""The laws, for each shipped rule on all real data."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from reducer.values import chars, dump
from tests.helpers import BY_FILE, PRODUCTS, forced
from tests.laws.laws import Case, check

FULL = os.environ.get("HYPOTHESIS_PROFILE") == "ci"
LARGE = 300_000 if FULL else 20_000
"""Answers above this size meet their own rule only: every file under every rule takes minutes."""


@lru_cache(maxsize=1)
def contents(folder: Path) -> list[tuple[str, Any]]:
    """Read every recorded answer, and every different return of the recorded histories."""
    files = [file for file in sorted((folder / "tool_outputs").glob("*.json")) if file.name != "manifest.json"]
    different: dict[str, tuple[str, Any]] = {}
    for file in sorted((folder / "histories").glob("*/*.json")):
        for part in (part for message in json.loads(file.read_bytes()) for part in message["parts"]):
            if part.get("part_kind") == "tool-return" and part["content"]:
                label = f"{file.parent.name}/{file.name} {part['tool_call_id']}"
                different.setdefault(dump(part["content"]), (label, part["content"]))
    return [*((file.name, json.loads(file.read_bytes())) for file in files), *different.values()]


def chosen(name: str, folder: Path) -> list[tuple[str, Any]]:
    own = PRODUCTS.get(name, ())
    first = list(BY_FILE).index(name) % 10
    return [
        (label, content)
        for number, (label, content) in enumerate(contents(folder))
        if any(Path(label).match(f"{glob}.json") for glob in own)
        # Of the returns of histories each rule meets another tenth.
        or (chars(content, LARGE) <= LARGE and (FULL or "/" not in label or number % 10 == first))
    ]


@pytest.mark.parametrize("name", BY_FILE)
def test_the_laws_hold_on_all_real_data(name: str, data: Path) -> None:
    rule = BY_FILE[name]
    # What every step and `max_chars` preserve: no step can remove it.
    preserved = frozenset.intersection(*rule.preserved[1 : None if rule.max_chars else -1])
    unwraps = any("unwrap" in step.name for step in rule.steps)
    found = chosen(name, data)
    cases = [Case(forced(rule), content, preserved, rule.all_keys, unwraps) for _, content in found]
    assert len(found) > 250
    assert sum(check(case) is not case.content for case in cases) >= 1
