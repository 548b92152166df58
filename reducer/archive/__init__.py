"""Keeps the originals of reduced tool returns in one SQLite file, so that nothing is lost.

`Archive(path)` writes originals in the background. `recall` shows them to a model, and `histories` restores stored
histories from them.
"""

from reducer.archive.archive import Archive
from reducer.errors import ArchiveError

__all__ = ["Archive", "ArchiveError"]
