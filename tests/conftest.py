from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

# Tests start many processes, and each of them would compile the same modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("deep", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder with real data next to the checkout, or skip the test if it is missing."""
    folder = (Path(__file__).parents[1] / ".." / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip("there is no real data next to the checkout")
    return folder


@pytest.fixture(scope="session")
def definition(data: Path) -> ModuleType:
    """Load the reference definition of retention, a script in the folder with real data."""
    spec = importlib.util.spec_from_file_location("retention", data / "retention.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Any]:
    """Open a new archive of originals."""
    from reducer.archive import Archive

    with Archive(tmp_path / "returns.db") as made:
        yield made
