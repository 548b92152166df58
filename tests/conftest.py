from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from reducer.rules import compile as rules

# Tests start many processes, and each of them would compile the same modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("deep", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session", autouse=True)
def _built_in_rules_are_compiled_once() -> Iterator[None]:
    """Compile the same files again only if they are few: many tests load all built-in rules, which takes 0.4 s."""
    compile_rules = rules.compile_rules
    compile_once = lru_cache(maxsize=8)(compile_rules)

    def compile_some(*sources: Iterable[tuple[str, str | bytes]], **options: Any) -> Any:
        texts = [tuple(source) for source in sources]
        compile_texts = compile_once if sum(map(len, texts)) > 50 else compile_rules
        return compile_texts(*texts, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "compile_rules", compile_some)
        yield


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
