from __future__ import annotations

from tests.cli.conftest import cli, folder

__all__ = ["cli", "folder"]
