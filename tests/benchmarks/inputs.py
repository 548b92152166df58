"""Inputs for benchmarks: records, texts and rules."""

from __future__ import annotations

from random import Random
from typing import Any

from reducer.engine import prepare
from reducer.rules import Ruleset, compile_rules

_SENTENCE = """
the operators came back through the mail gateway and left a loader that asks for new orders every ninety seconds;
the host was seen before by the same sensor and again last night beside two others.
"""


def records(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Return records of 13 keys, of about 600 characters each."""
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
        "confidence": rng.random(),
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
    compiled, problems = compile_rules([("rule.yaml", f"version: 1\ntool: t\n{more}\nsteps:\n{steps}")])
    assert compiled is not None, problems
    prepare(compiled)
    return compiled
