"""Choose and load the rule files of a verb."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reducer.cli.screen import CommandError, counted, visible
from reducer.errors import Diagnostic, RuleError
from reducer.files import MAX_RULE_BYTES, builtin_rules, read_file, rule_files, write_file
from reducer.inputs.sources import SAMPLE_RULES

if TYPE_CHECKING:
    from reducer.rules import Ruleset


@dataclass(frozen=True, slots=True)
class Chosen:
    """The sources of rules, their name in reports, and their files, each once."""

    sources: tuple[Path | str, ...]
    name: str
    files: tuple[Path, ...]


def choose_rules(given: Sequence[str], *, for_sample: bool = False) -> Chosen:
    """Return the sources in `given`. If it is empty, use `./rules` if it has rules, otherwise the built-in packs.

    With `for_sample`, the rules of the built-in sample replace these two. Raises `CommandError` for a folder without
    rule files, and OSError.
    """
    if given:
        return _chosen(given, ", ".join(given))
    if for_sample:
        return _chosen([short(SAMPLE_RULES)], "the sample's rules")
    own = Path("rules")
    if own.is_dir() and rule_files(own):
        return _chosen([own], "./rules")
    return _chosen([short(builtin_rules())], "the built-in rules")


def _chosen(sources: Sequence[Path | str], name: str) -> Chosen:
    found: list[Path] = []
    for source in sources:
        files = rule_files(source)
        if not files:
            raise CommandError(f"{source}: no rule files (.yaml or .yml) in this folder")
        if files == [Path(source)]:
            read_file(files[0], MAX_RULE_BYTES)  # raises OSError if this is not a file
        found += files
    return Chosen(tuple(sources), name, tuple(dict.fromkeys(found)))


def load(chosen: Chosen) -> Ruleset:
    """Load rule files, and print every error to standard error. Raises `CommandError` and OSError."""
    from reducer.rules import read_rules  # `entities` does not need it

    try:
        return read_rules(*chosen.sources)
    except RuleError as error:
        raise rules_error(error.problems, chosen.name) from None


def rules_error(problems: Sequence[Diagnostic], name: str) -> CommandError:
    """Print problems to standard error, and return an error that counts them."""
    for problem in problems:
        print(visible(str(problem), "\n\t"), end="\n\n", file=sys.stderr)
    return CommandError(f"{name}: {counted(len(problems), 'error')} in the rules")


def write_new(folder: Path, files: Mapping[Path, bytes]) -> None:
    """Write rule files and their samples to a folder of rules.

    Raises `CommandError` and writes nothing if a file exists or a rule conflicts with those in the folder.
    """
    from reducer.rules import compile_rules

    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder}: not a folder; rules are written to a folder")
    if existing := list(filter(os.path.lexists, files)):
        raise CommandError(f"nothing was written because these files exist: {', '.join(map(str, existing))}")
    texts = {}
    for file in rule_files(folder) if folder.is_dir() else ():
        texts[str(file)] = file.read_bytes()
    for file, content in files.items():
        if file.parent == folder:
            texts[str(file)] = content
    _, problems = compile_rules(texts.items())
    # Warnings about other rules do not concern the new ones.
    if errors := [one for one in problems if one.severity == "error" or Path(one.location.file) in files]:
        raise rules_error(errors, str(folder))
    for file, content in files.items():
        write_file(file, content)


def short(path: Path) -> Path:
    """Return a path relative to the current folder if it is inside, otherwise unchanged."""
    folder = os.getcwd()
    return path.relative_to(folder) if path.is_relative_to(folder) else path
