"""Which histories are read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from reducer.cli import VERBS
from reducer.cli.stop import Stop, say
from reducer.lines import ENDINGS, ArchiveError, Stream, open_archive

SAMPLE = "the sample bundled with reducer"
"""What the sample history is called."""


class Source(NamedTuple):
    """A place to read a history from: `path` is None for standard input; `folder` is the given folder that it was found in, else empty."""

    name: str
    path: Path | None
    folder: str = ""

    @contextmanager
    def opened(self) -> Iterator[Stream]:
        """Open it, for its bytes as they are stored. Raises `Stop`; reading raises OSError."""
        if self.path is None:
            if sys.stdin is None:
                raise Stop("standard input is closed")
            if sys.stdin.isatty():
                print("reducer: reading a history from the terminal; end it with Ctrl-D", file=sys.stderr)
            given = sys.stdin.buffer
            yield Stream(getattr(given, "read1", given.read))  # what is there, without waiting for more
            return
        try:
            file = self.path.open("rb", buffering=0)
        except OSError as error:
            raise Stop(f"{self.name}: {error.strerror or error}") from None
        with file:
            yield Stream(lambda most: file.read(most) or b"")

    def read(self) -> bytes:
        """Read all of it, what an archive holds. Raises `Stop`."""
        try:
            with self.opened() as stream:
                return open_archive(stream).read()
        except (OSError, ArchiveError) as error:
            raise Stop(f"{self.name}: {getattr(error, 'strerror', None) or error}") from None

    @property
    def size(self) -> int:
        """Give its bytes, 0 where that is not known before it is read."""
        try:
            return self.path.stat().st_size if self.path else 0
        except OSError:
            return 0


def sample_history() -> Path:
    """Give the stored history that comes with reducer: a made-up investigation, with the made-up answers of `rules/samples`."""
    return Path(__file__).parents[1] / "samples" / "threat_intelligence.json"


def gathered(names: Sequence[str]) -> tuple[list[Source], int]:
    """Find every history that `names` stand for; say which names stand for none, and count these."""
    every = list(find(names))
    faults = [one for one in every if isinstance(one, Stop)]
    for fault in faults:
        say(f"error: {fault}")
    return [one for one in every if isinstance(one, Source)], len(faults)


def each(names: Sequence[str]) -> Iterator[Source]:
    """Give every history that `names` stand for. Raises `Stop` at a name that stands for none."""
    for one in find(names):
        if isinstance(one, Stop):
            raise one
        yield one


def find(names: Sequence[str]) -> Iterator[Source | Stop]:
    """Give every history that `names` stand for (files, folders, `-`), each once, and for a name that stands for none why."""
    from difflib import get_close_matches

    seen: set[str] = set()
    for name in names:
        if name == "-":
            sources = [Source("standard input", None)]
        else:
            path = Path(name)
            try:
                if not name:
                    yield Stop("an empty name is no file")
                    continue
                if path.is_dir():
                    files = sorted(file for file in path.rglob("*") if _is_named(file) and file.is_file() and not _is_hidden(file.relative_to(path)))
                    sources = [Source(str(file), file, name) for file in files]
                    if not sources:
                        yield Stop(f"{name}: no history here: expected files that end in .json, .jsonl or .ndjson (also with .gz or .zst)")
                else:
                    path.stat()
                    sources = [Source(name, path)]
            except (OSError, ValueError) as error:
                nearest = get_close_matches(name, VERBS, 1)
                meant = f"; did you mean the verb `{nearest[0]}`?" if nearest and isinstance(error, FileNotFoundError) else ""
                yield Stop(f"{name}: {getattr(error, 'strerror', None) or error}{meant}")
                continue
        for source in sources:
            key = os.path.realpath(source.path) if source.path else "-"
            if key not in seen:
                seen.add(key)
                yield source


def _is_named(path: Path) -> bool:
    return path.name.lower().endswith(ENDINGS)


def _is_hidden(path: Path) -> bool:
    # Tools keep their caches as JSON in such folders.
    return any(part.startswith(".") for part in path.parts)
