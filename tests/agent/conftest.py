"""Fixtures for agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.agents import RULE


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Return a folder with one rule file, `deep_research.yaml`."""
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "deep_research.yaml").write_text(RULE)
    return tmp_path / "rules"
