"""How long the command line takes to start: at most 1.5 times what yaml and pydantic take to import.

`import pydantic` alone imports little of it, so there are two floors: the bare import, and one model.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

ROOT = Path(__file__).parents[2]
_RULE = "version: 1\ntool: lookup\nsteps:\n  - path: records\n    limit: 5\n"
_FLOORS = {
    "python alone": "pass",
    "floor: import yaml, pydantic": "import yaml, pydantic",
    "floor: and one model made": """
import yaml
from typing import Annotated
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
class Model(BaseModel):
    field: Annotated[int, BeforeValidator(int)] = Field(0, ge=0)
""",
}
_VERBS = {"--version": ["--version"], "check one rule": ["check", "lookup.yaml"], "dry run of the sample": []}


@pytest.mark.benchmark(group="start-up", min_rounds=10, warmup=True)
@pytest.mark.parametrize("what", [*_FLOORS, *_VERBS])
def test_start(benchmark: BenchmarkFixture, tmp_path: Path, what: str) -> None:
    (tmp_path / "lookup.yaml").write_text(_RULE)
    arguments = ["-c", _FLOORS[what]] if what in _FLOORS else ["-m", "reducer", *_VERBS[what]]
    # Byte code is cached, as after any installation.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(tmp_path / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def start() -> int:
        return subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True, timeout=60
        ).returncode

    assert start() == 0
    benchmark(start)
