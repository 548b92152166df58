"""The tool returns of the histories and samples that the workbench shows. Each file is read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reducer.analysis.texts import characters
from reducer.errors import FileError
from reducer.inputs.recorded import ALL, Recorded, recorded
from reducer.inputs.sources import Source

_MAX_RETURNS = 1000


@dataclass(frozen=True, slots=True)
class Recordings:
    """The tool returns, their tools, and the files that could not be read with the reasons.

    Each tool has its name, the `count` of its returns, their `characters`, and the numbers of its first `returns`.
    """

    returns: Sequence[Recorded]
    tools: Sequence[Mapping[str, Any]]
    skipped: Sequence[str]


def load(sources: Sequence[Source]) -> Recordings:
    """Read the tool returns of all sources, the largest tool first. Skip sources and lines that cannot be read."""
    returns: list[Recorded] = []
    skipped: list[str] = []
    for source in sources:
        try:
            for one in recorded([source], ALL, skipped):
                returns.append(replace(one, file=Path(source.name).name, tool=one.tool_or_file))
        except (FileError, RecursionError) as error:
            skipped.append(str(error))
    tools: dict[str, dict[str, Any]] = {}
    for number, one in enumerate(returns):
        size = characters(one.content)
        tool = tools.setdefault(one.tool, {"tool": one.tool, "count": 0, "characters": 0, "returns": []})
        tool["count"] += 1
        tool["characters"] += size
        if tool["count"] <= _MAX_RETURNS:
            tool["returns"].append({"number": number, "file": one.file, "call": one.call, "characters": size})
    return Recordings(returns, sorted(tools.values(), key=lambda tool: -tool["characters"]), skipped)
