"""Writes drafted rules and their samples to a folder of rules."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from reducer.analysis.drafting import Draft
from reducer.cli.messages import CommandError
from reducer.cli.outputs import write
from reducer.cli.rules import rule_files
from reducer.rules import compile_rules


def write_drafts(folder: Path, drafts: Sequence[Draft]) -> None:
    """Write all drafts; none if one of their files exists, or if they conflict with a rule. Raises `CommandError`."""
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder}: is not a folder; drafts are written to a folder of rules")
    drafted = {folder / draft.file: draft.text.encode() for draft in drafts}
    files = {**drafted, **{folder / draft.sample_file: draft.sample.encode() for draft in drafts if draft.sample_file}}
    if existing := ", ".join(str(file) for file in files if os.path.lexists(file)):
        raise CommandError(f"files are never overwritten, so nothing was written; existing: {existing}")
    present = {file: file.read_bytes() for file in rule_files(folder)} if folder.is_dir() else {}
    _, problems = compile_rules((str(file), text) for file, text in {**present, **drafted}.items())
    for problem in problems:
        # Warnings about other rules are not about the drafts.
        if problem.severity == "error" or Path(problem.location.file) in drafted:
            raise CommandError(f"{folder}: {problem}\nnothing was written")
    for file, content in files.items():
        write(file, content)
