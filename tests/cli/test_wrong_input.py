"""The verbs that do not read histories alone: what they refuse, with exit code 2, no output and nothing written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Result

CASES = yaml.safe_load((Path(__file__).parent / "wrong_input.yaml").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["command"])
def test_wrong_input(folder: Path, cli: Callable[..., Result], case: dict[str, Any]) -> None:
    for name, content in case.get("files", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode("latin-1"))
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    result = cli(*case["command"].split())
    assert (result.code, result.out) == (2, "")
    assert case["error"] in result.err
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
