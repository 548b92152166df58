"""Which rule files a verb uses."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reducer.cli.screen import CommandError, counted, visible
from reducer.errors import RuleError
from reducer.files import MAX_RULE_BYTES, read_file, rule_files

if TYPE_CHECKING:
    from reducer.rules import Ruleset

_WORD = re.compile(r"[\w./-]{1,200}")


@dataclass(frozen=True, slots=True)
class Chosen:
    """Rule files, and what reports call them."""

    files: tuple[Path, ...]
    name: str


def bundled_rules() -> Path:
    """Return the folder of the rules that come with reducer: in the package, or next to it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "bundled"
    return inside if inside.is_dir() else package.parent / "rules"


def choose_rules(given: Sequence[str], *, here: bool = True) -> Chosen:
    """Return the rule files in `given`; if it is empty, those in `./rules` (if `here`), otherwise the bundled ones.

    Raises `CommandError` if there are none, and OSError.
    """
    if given:
        files = dict.fromkeys(file for name in given for file in _files(name))
        return Chosen(tuple(files), ", ".join(given))
    own = Path("rules")
    if here and own.is_dir() and (found := rule_files(own)):
        return Chosen(tuple(found), "./rules")
    return Chosen(tuple(map(short, rule_files(bundled_rules()))), "the rules bundled with reducer")


def load(chosen: Chosen, done: str = "run") -> Ruleset:
    """Read rule files; print every error on standard error. Raises `CommandError` and OSError."""
    from reducer.rules import read_rules  # `entities` does not need it

    try:
        return read_rules(*chosen.files)
    except RuleError as error:
        for problem in error.problems:
            print(visible(str(problem), "\n\t"), end="\n\n", file=sys.stderr)
        errors = counted(len(error.problems), "error")
        raise CommandError(f"{chosen.name}: {errors} in the rules; nothing was {done}") from None


def files_read(given: Sequence[str], *, here: bool = True) -> Iterator[Path]:
    """Yield the rule files that `choose_rules` returns, and the files that words in them name: word lists, samples."""
    files = choose_rules(given, here=here).files
    yield from files
    for rule in files:
        words = set(_WORD.findall(read_file(rule, MAX_RULE_BYTES).decode(errors="replace")))
        yield from (file for word in words if (file := rule.parent / word).is_file())


def short(path: Path) -> Path:
    """Return a path below the current folder relative to it, any other unchanged."""
    here = os.getcwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _files(name: str) -> list[Path]:
    path = Path(name)
    if not path.is_dir():
        read_file(path, MAX_RULE_BYTES)  # or the error of what is no file
        return [path]
    if found := rule_files(path):
        return found
    raise CommandError(f"{name}: no rule files (.yaml or .yml) in this folder")
