"""The archive: originals of reduced tool returns, so that nothing is lost. They can be recalled by the model, and put back into a history."""

from reducer.archive.archive import Archive
from reducer.errors import ArchiveError

__all__ = ["Archive", "ArchiveError"]
