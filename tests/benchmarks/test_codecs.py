"""How long reading texts that hold structure takes beside `json.loads` of the same values; run with `pytest tests/benchmarks --benchmark-only`."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from reducer.codecs.brackets import Brackets
from reducer.codecs.literal import read_literal, write_literal
from reducer.engine import reduce_content
from tests.benchmarks.test_engine import ruleset

ROWS = [(f"2024-07-{number % 28 + 1:02} 10:49:21", f"host-{number}", number, None, '{"ip": "192.0.2.1", "note": "it"}', "C:\\\\W") for number in range(4000)]
TEXT = repr(ROWS)
JSON = json.dumps(ROWS)
WRAPPED = {"content": [{"type": "text", "text": json.dumps({"results": [json.dumps({"id": number, "raw": "x" * 50}) for number in range(4000)]})}]}

READERS: dict[str, Callable[[], Any]] = {
    "json.loads": lambda: json.loads(JSON),
    "read_literal": lambda: read_literal(TEXT, {}),
    "ast.literal_eval": lambda: ast.literal_eval(TEXT),
}


@pytest.mark.benchmark(group="rows of Python")
@pytest.mark.parametrize("name", READERS)
def test_reading(name: str, benchmark: BenchmarkFixture) -> None:
    assert len(benchmark(READERS[name])) == len(ROWS)


@pytest.mark.benchmark(group="rows of Python")
def test_writing(benchmark: BenchmarkFixture) -> None:
    brackets: Brackets = {}
    value = read_literal(TEXT, brackets)
    assert benchmark(write_literal, value, brackets) == TEXT


@pytest.mark.benchmark(group="JSON three texts deep")
@pytest.mark.parametrize("name", ["json.loads", "limit", "unwrap"])
def test_nested(name: str, benchmark: BenchmarkFixture) -> None:
    if name == "json.loads":
        text = WRAPPED["content"][0]["text"]
        benchmark(lambda: [json.loads(item) for item in json.loads(text)["results"]])
        return
    rules = ruleset({"limit": "  - {path: 'content[*].text.results', limit: 20, sort_by: id}\n", "unwrap": "  - {unwrap: true}\n"}[name])
    result = benchmark(reduce_content, rules, "t", WRAPPED)
    assert len(json.dumps(result)) < len(json.dumps(WRAPPED))
