"""The speed of the scanner on real texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from reducer.entities import TYPES, scanner
from tests.helpers import texts

ALL = frozenset(TYPES)
PLAIN = ALL - {"threat_actor", "malware"}
NOTHING = "lorem ipsum dolor sit amet, consectetur adipiscing elit\n" * 1786  # 100 kB


def real(data: Path, kind: str) -> list[str]:
    """Return real texts of this kind, or a text without entities."""
    if kind == "nothing":
        return [NOTHING]
    if kind == "reports":
        return [json.loads(line)["text"] for line in (data / "entities" / "labelled.jsonl").open(encoding="utf-8")]
    pattern = "histories/*/*.json" if kind == "tool returns" else "tool_outputs/*.json"
    files = [file.read_text(encoding="utf-8") for file in sorted(data.glob(pattern)) if file.name != "manifest.json"]
    if kind == "tool returns":
        return [text for file in files for text in texts(json.loads(file)) if len(text) > 100]
    files = [file for file in files if len(file) < 200_000]
    return files if kind == "JSON" else [text for file in files for text in texts(json.loads(file))]


@pytest.mark.parametrize("kind", ["reports", "JSON", "tool returns", "texts in JSON", "nothing"])
@pytest.mark.parametrize("types", [PLAIN, ALL], ids=["without names", "all"])
def test_speed(benchmark: BenchmarkFixture, data: Path, kind: str, types: frozenset[str]) -> None:
    some, find = real(data, kind), scanner(types)
    benchmark.extra_info["characters"] = sum(map(len, some))
    benchmark(lambda: [find(text) for text in some])
