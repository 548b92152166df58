"""Which rules are used."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from reducer.cli.stop import Stop

if TYPE_CHECKING:
    from reducer.rule import Ruleset

_SUFFIXES = (".yaml", ".yml")


class Chosen(NamedTuple):
    """Rule files, and what to call them."""

    files: tuple[Path, ...]
    name: str


def bundled_rules() -> Path:
    """Give the folder of the rules that come with reducer: in the package, or in a checkout beside it."""
    package = Path(__file__).parents[1]
    inside = package / "bundled"
    return inside if inside.is_dir() else package.parent / "rules"


def choose_rules(given: Sequence[str], *, here: bool = True) -> Chosen:
    """Give the rule files in `given`; without any those in `./rules` (if `here`), else the bundled ones. Raises `Stop` where there are none."""
    if given:
        files = dict.fromkeys(file for name in given for file in _files(name))
        return Chosen(tuple(files), ", ".join(given))
    own = Path("rules")
    if here and own.is_dir() and (found := _in_folder(own)):
        return Chosen(tuple(found), "./rules")
    folder = bundled_rules()
    return Chosen(tuple(map(short, _in_folder(folder))), "the rules bundled with reducer")


def load(chosen: Chosen, done: str = "run") -> Ruleset:
    """Read rule files. Raises `Stop`, as nothing was `done`, when they have mistakes, after telling all of them on standard error."""
    from reducer.errors import RuleError
    from reducer.rule import read_rules
    from reducer.screen import visible

    try:
        return read_rules(*chosen.files)
    except RuleError as error:
        for problem in error.problems:
            print(visible(str(problem), "\n\t"), end="\n\n", file=sys.stderr)
        count = len(error.problems)
        raise Stop(f"{chosen.name}: {count:,} {'error' if count == 1 else 'errors'} in the rules; nothing was {done}") from None
    except OSError as error:
        raise Stop(f"{error.filename or chosen.name}: {error.strerror or error}") from None


def read_besides(files: Sequence[Path]) -> Iterator[Path]:
    """Give the files that rule files name: word lists, and the samples, histories and snapshots of tests."""
    from reducer.source import parse, plain

    for file in files:
        with suppress(OSError):
            tree, _ = parse(file.read_bytes(), str(file))
            rule = None if tree is None else plain(tree)
            tests = rule.get("tests") if type(rule) is dict else None
            for test in tests if type(tests) is list else ():
                for part, keys in (("given", ("file", "history")), ("expect", ("snapshot",))):
                    said = test.get(part) if type(test) is dict else None
                    yield from (file.parent / said[key] for key in keys if type(said) is dict and type(said.get(key)) is str)
            yield from (other for other in read_by([file]) if other != file)


def read_by(files: Sequence[Path]) -> Iterator[Path]:
    """Give rule files and the word lists that they name: all that a ruleset is made of."""
    from reducer.source import parse, plain

    for file in files:
        yield file
        tree, _ = parse(file.read_bytes(), str(file))
        rule = None if tree is None else plain(tree)
        entities = rule.get("entities") if type(rule) is dict else None
        for keys in entities.values() if type(entities) is dict else ():
            named = keys.get("words_file", ()) if type(keys) is dict else ()
            for name in [named] if type(named) is str else named:
                yield file.parent / name


def _files(name: str) -> list[Path]:
    path = Path(name)
    try:
        if not path.is_dir():
            with path.open("rb"):
                return [path]
        found = _in_folder(path)
    except (OSError, ValueError) as error:
        raise Stop(f"{name}: {getattr(error, 'strerror', None) or error}") from None
    if not found:
        raise Stop(f"{name}: no rule files here: expected files that end in .yaml or .yml")
    return found


def _in_folder(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.suffix in _SUFFIXES and file.is_file())


def short(path: Path) -> Path:
    """Give a path below the current folder as seen from there."""
    here = os.getcwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
