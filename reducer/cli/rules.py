"""Choose and load the rule files of a verb."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reducer.cli.screen import CommandError, counted, visible
from reducer.errors import Diagnostic, RuleError
from reducer.files import MAX_RULE_BYTES, read_file, rule_files

if TYPE_CHECKING:
    from reducer.rules import Ruleset

_WORD = re.compile(r"[\w./-]{1,200}")


@dataclass(frozen=True, slots=True)
class Chosen:
    """Rule files, and their name in reports."""

    files: tuple[Path, ...]
    name: str


def bundled_rules() -> Path:
    """Return the folder of the bundled rules: in the package, or next to it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "bundled"
    return inside if inside.is_dir() else package.parent / "rules"


def choose_rules(given: Sequence[str], *, use_local: bool = True) -> Chosen:
    """Return the rule files in `given`. If it is empty, use `./rules` (if `use_local`), otherwise the bundled rules.

    Raises `CommandError` if there are none, and OSError.
    """
    if given:
        files = dict.fromkeys(file for name in given for file in _files(name))
        return Chosen(tuple(files), ", ".join(given))
    own = Path("rules")
    if use_local and own.is_dir() and (local := rule_files(own)):
        return Chosen(tuple(local), "./rules")
    return Chosen(tuple(map(short, rule_files(bundled_rules()))), "the rules bundled with reducer")


def load(chosen: Chosen, done: str = "run") -> Ruleset:
    """Load rule files, and print every error to standard error. Raises `CommandError` and OSError."""
    from reducer.rules import read_rules  # `entities` does not need it

    try:
        return read_rules(*chosen.files)
    except RuleError as error:
        raise rules_error(error.problems, chosen.name, done) from None


def rules_error(problems: Sequence[Diagnostic], name: str, done: str) -> CommandError:
    """Print problems to standard error, and return an error that counts them."""
    for problem in problems:
        print(visible(str(problem), "\n\t"), end="\n\n", file=sys.stderr)
    return CommandError(f"{name}: {counted(len(problems), 'error')} in the rules; nothing was {done}")


def files_read(given: Sequence[str], *, use_local: bool = True) -> Iterator[Path]:
    """Yield the rule files that `choose_rules` returns, the word lists and samples that they name, and `samples/`."""
    files = choose_rules(given, use_local=use_local).files
    yield from files
    for folder in {rule.parent / "samples" for rule in files}:
        yield from folder.glob("*.json")
    for rule in files:
        words = set(_WORD.findall(read_file(rule, MAX_RULE_BYTES).decode(errors="replace")))
        yield from (file for word in words if (file := rule.parent / word).is_file())


def short(path: Path) -> Path:
    """Return a path relative to the current folder if it is inside, otherwise unchanged."""
    folder = os.getcwd()
    return path.relative_to(folder) if path.is_relative_to(folder) else path


def _files(name: str) -> list[Path]:
    path = Path(name)
    if not path.is_dir():
        read_file(path, MAX_RULE_BYTES)  # raises OSError if this is not a file
        return [path]
    if files := rule_files(path):
        return files
    raise CommandError(f"{name}: no rule files (.yaml or .yml) in this folder")
