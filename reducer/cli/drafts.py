"""Writes drafted rules and their samples to a folder of rules."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from reducer.analysis.drafting import Draft
from reducer.cli.check import problems_of
from reducer.cli.messages import CommandError
from reducer.cli.outputs import write
from reducer.cli.rules import rule_files


def write_drafts(folder: Path, drafts: Sequence[Draft]) -> None:
    """Write all drafts; none if one of their files exists, or if they conflict with a rule. Raises `CommandError`."""
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder}: is not a folder; drafts are written to a folder of rules")
    files = {folder / draft.file: draft.text for draft in drafts}
    files |= {folder / draft.sample_file: draft.sample for draft in drafts if draft.sample_file}
    existing = [str(file) for file in files if os.path.lexists(file)]
    if existing:
        verb = "exists" if len(existing) == 1 else "exist"
        raise CommandError(f"{', '.join(existing)} {verb} already; files are never overwritten; nothing was written")
    created = [path for path in (folder / "samples", folder) if not path.exists()]
    try:
        for file, text in files.items():
            write(file, text.encode())
        _check(folder, [folder / draft.file for draft in drafts])
    except BaseException:
        for file in files:
            file.unlink(missing_ok=True)
        for path in created:
            with suppress(OSError):
                path.rmdir()
        raise


def _check(folder: Path, drafted: Sequence[Path]) -> None:
    """Check the drafts together with the rules of the folder. Raises `CommandError`."""
    for problem in problems_of(rule_files(folder)):
        # Warnings about other rules are not about the drafts.
        if problem.severity == "error" or Path(problem.location.file) in drafted:
            raise CommandError(f"{folder}: {problem}\nnothing was written")
