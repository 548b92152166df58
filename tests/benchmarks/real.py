"""Answers of real products, each with a rule that keeps five items and half of the keys of its largest list."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from reducer.rules import Ruleset
from reducer.values import chars, dump
from tests.benchmarks.test_engine import ruleset

MIN_CHARS = 3_000  # of compact JSON


class Return(NamedTuple):
    """The content of a tool return, with its rule and the name of its file."""

    name: str
    ruleset: Ruleset
    content: Any


def cut_down(data: Path, preserve: str = "[ioc, cve, threat_actor]") -> Iterator[Return]:
    """Yield each answer that consists mostly of one list of objects, with its rule."""
    for file in sorted((data / "tool_outputs").glob("*.json")):
        content = json.loads(file.read_bytes())
        size = chars(content)
        largest = max(_lists(content, []), default=None, key=lambda candidate: candidate[0])
        if file.name == "manifest.json" or largest is None or size < MIN_CHARS or largest[0] < size / 2:
            continue
        _, keys_to_list, items = largest
        keys = [key for key in dict.fromkeys(key for item in items for key in item) if key.replace("_", "").isalnum()]
        path = dump(
            "".join(f"[{key}]" if type(key) is int else f".{dump(key)}" for key in keys_to_list).lstrip(".") or "@"
        )
        if keys:
            steps = (
                f"  - {{path: {path}, limit: 5}}\n  - {{path: {path}, keep: {dump(keys[: max(1, len(keys) // 2)])}}}\n"
            )
            yield Return(file.name, ruleset(steps, f"preserve: {preserve}\n"), content)


def _lists(value: Any, keys: list[str | int]) -> Iterator[tuple[int, list[str | int], list[dict[str, Any]]]]:
    """Yield the size, the keys that lead to it, and the items of each list of more than five objects."""
    if type(value) is dict:
        for key, item in value.items():
            yield from _lists(item, [*keys, key])
    elif type(value) is list and value:
        if len(value) > 5 and all(type(item) is dict for item in value):
            yield chars(value), keys, value
        elif len(value) <= 5:
            yield from _lists(value[0], [*keys, 0])
