"""Keep the originals of reduced tool returns in one SQLite file, so that nothing is lost.

`Archive(path)` writes them in the background. A model recalls them (`recall`), and a stored history is restored from
them (`histories`).
"""

from reducer.archive.archive import Archive
from reducer.errors import ArchiveError

__all__ = ["Archive", "ArchiveError"]
