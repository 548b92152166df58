"""Inputs for benchmarks: records, texts, rules, and real data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from reducer.engine import prepare
from reducer.rules import Ruleset, compile_rules
from reducer.values import chars, dump

_SENTENCE = """
the operators came back through the mail gateway and left a loader that asks for new orders every ninety seconds;
the host was seen before by the same sensor and again last night beside two others.
"""


def records(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Return records of 12 keys, of about 600 characters each."""
    rng = Random(seed)
    return [_record(rng, number) for number in range(count)]


def _record(rng: Random, number: int) -> dict[str, Any]:
    return {
        "hostname": f"host{number}.example.com",
        "address": f"192.0.2.{number % 256}",
        "first_seen": "2023-01-01T00:00:00Z",
        "last_seen": f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T00:00:00Z",
        "risk": rng.choice(("low", "medium", "high")),
        "score": rng.randint(0, 100),
        "raw": "x" * 200,
        "verification": {"votes": rng.randint(0, 9), "by": ["a", "b"], "note": "checked against the second source"},
        "tags": ["a", "b", "c"][: number % 4],
        "notes": "Seen again last night beside the others, by the same sensor.",
        "source": f"feed-{number % 7}",
        "ttl": 3600,
    }


def article(rng: Random, words: int, entities: int = 0) -> str:
    """Return a text with this many words, some of which are entities."""
    text = rng.choices(_SENTENCE.split(), k=words)
    for n in rng.sample(range(words), entities):
        text[n] = rng.choice((f"198.51.100.{n % 256}", f"host{n}[.]example", "APT28", "CVE-2024-3400"))
    return " ".join(text)


def ruleset(steps: str, more: str = "") -> Ruleset:
    """Compile a rule for the tool `t` from the YAML of its steps and of its other keys."""
    compiled, problems = compile_rules([("bench.yaml", f"version: 1\ntool: t\n{more}\nsteps:\n{steps}")])
    assert compiled is not None, problems
    prepare(compiled)
    return compiled


def answers(data: Path) -> Iterator[tuple[Any, str]]:
    """Yield each real answer that consists mostly of one list of objects, with steps that keep a part of the list.

    The steps keep five items and half of their keys.
    """
    for file in sorted((data / "tool_outputs").glob("*.json")):
        content = json.loads(file.read_bytes())
        size = chars(content)
        largest, way, items = max(_lists(content, ""), default=(0, "", []), key=lambda found: found[0])
        if file.name != "manifest.json" and size >= 3_000 and largest >= size / 2:
            path = dump(way.lstrip(".") or "@")
            names = [
                key for key in dict.fromkeys(key for item in items for key in item) if key.replace("_", "").isalnum()
            ]
            yield (
                content,
                f"  - {{path: {path}, limit: 5}}\n  - {{path: {path}, keep: {dump(names[: len(names) // 2 + 1])}}}",
            )


def _lists(value: Any, path: str) -> Iterator[tuple[int, str, list[dict[str, Any]]]]:
    """Yield the size, the path and the items of each list of more than five objects."""
    if type(value) is dict:
        for key, item in value.items():
            yield from _lists(item, f"{path}.{dump(key)}")
    elif type(value) is list and value:
        if len(value) > 5 and all(type(item) is dict for item in value):
            yield chars(value), path, value
        elif len(value) <= 5:
            yield from _lists(value[0], f"{path}[0]")
