"""The tool returns of the histories and samples that the workbench shows. Each file is read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reducer.analysis.texts import characters
from reducer.cli.answers import Answer, answers_in
from reducer.cli.files import Selection, Source
from reducer.cli.init import tool_name
from reducer.cli.screen import CommandError, say_skipped


@dataclass(frozen=True, slots=True)
class Recordings:
    """The tool returns, their sizes in characters, and the files that could not be read with the reasons."""

    answers: Sequence[Answer]
    sizes: Sequence[int]
    skipped: Sequence[str]


def load(sources: Sequence[Source]) -> Recordings:
    """Read the tool returns of all sources, and report the sources that cannot be read."""
    answers: list[Answer] = []
    skipped: list[str] = []
    for source in sources:
        try:
            for answer in answers_in(source, Selection(), skipped):
                tool = answer.tool or tool_name(source.name)
                answers.append(Answer(Path(source.name).name, tool, answer.call, answer.content))
        except (CommandError, RecursionError) as error:
            skipped.append(str(error))
    say_skipped(skipped)
    return Recordings(answers, [characters(answer.content) for answer in answers], skipped)
