"""What is imported, and when: start-up takes no longer than it must."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT

_HEAVY = (
    "pydantic_ai",
    "rich",
    "reducer.engine",
    "reducer.histories.stored",
    "reducer.entities.scan",
    "ahocorasick_rs",
    "ahocorasick",
)


def imported(folder: Path, *arguments: str) -> set[str]:
    code = f"import sys; from reducer.cli import main; main({list(arguments)!r}); print(); print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=60,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["check", "lookup.yaml"]])
def test_little_is_imported_for_little(folder: Path, arguments: list[str]) -> None:
    modules = imported(folder, *arguments)
    assert not modules & set(_HEAVY)
    assert "reducer.cli" in modules
    if arguments[0].startswith("--"):
        assert not modules & {"pydantic", "yaml", "jmespath"}


def test_a_dry_run_imports_no_pydantic_ai(folder: Path) -> None:
    modules = imported(folder, "h.json", "--rules", "lookup.yaml")
    assert "rich" in modules
    assert "pydantic_ai" not in modules
    assert "rich" not in imported(folder, "h.json", "--rules", "lookup.yaml", "--format", "json")


def test_the_package_is_imported_lazily() -> None:
    code = "import sys, reducer; print('pydantic' in sys.modules); from reducer import Reducer; print(Reducer.__name__)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60, check=True
    )
    assert done.stdout.split() == ["False", "Reducer"]


def test_the_version(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "reducer", "--version"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert done.stdout == f"reducer {declared}\n"
