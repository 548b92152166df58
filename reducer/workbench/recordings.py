"""The tool returns of the histories and samples that the workbench shows. Each file is read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reducer.analysis.texts import characters
from reducer.errors import FileError
from reducer.inputs.recorded import ALL, Recorded, recorded
from reducer.inputs.sources import Source


@dataclass(frozen=True, slots=True)
class Recordings:
    """The tool returns, their sizes in characters, and the files that could not be read with the reasons."""

    returns: Sequence[Recorded]
    sizes: Sequence[int]
    skipped: Sequence[str]


def load(sources: Sequence[Source]) -> Recordings:
    """Read the tool returns of all sources. Sources and lines that cannot be read are skipped."""
    returns: list[Recorded] = []
    skipped: list[str] = []
    for source in sources:
        try:
            for one in recorded([source], ALL, skipped):
                returns.append(replace(one, file=Path(source.name).name, tool=one.tool_or_file))
        except (FileError, RecursionError) as error:
            skipped.append(str(error))
    return Recordings(returns, [characters(one.content) for one in returns], skipped)
