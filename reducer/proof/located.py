"""Where in a rule file something stands: failures and gaps as problems, with the line and a caret."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from reducer.errors import Location, Problem
from reducer.proof import Failure, Proof
from reducer.proof.coverage import Gap
from reducer.proof.expectations import Place
from reducer.source import Tree, locate, parse, problem_at

At = Callable[[Place, str, str, bool, int | None], Problem]
"""Makes the problem, without a code, at a place of one rule file: of a message, a help, whether the key is meant, and a column in it."""


def failures_of(proof: Proof, read: Callable[[str], At]) -> list[tuple[Failure, Problem]]:
    """Give the failures of a test in the order of the file, each with its problem there; `read` is what `reader` makes."""
    if not proof.failures:
        return []
    at = read(proof.rule.file)
    found = [
        (failure, at(failure.place, f"test `{proof.test.name}`: {failure.message}", failure.help, failure.at_key, failure.column)) for failure in proof.failures
    ]
    return sorted(found, key=lambda pair: pair[1].location)


def gaps_at(gaps: Iterable[Gap], read: Callable[[str], At]) -> list[Problem]:
    """Give the problems of what tests leave out."""
    return [read(gap.rule.file)(gap.place, gap.message, "", gap.at_key, None) for gap in gaps]


def test_at(proof: Proof, read: Callable[[str], At]) -> Location:
    """Give the place of a test: that of its name."""
    return read(proof.rule.file)(("tests", proof.number, "name"), "", "", False, None).location


def reader() -> Callable[[str], At]:
    """Make what reads a rule file once and gives the function that makes problems at places of it.

    Rules do not hold on to the places in their tests: they are looked for when something is to be said about them.
    """
    known: dict[str, At] = {}

    def read(file: str) -> At:
        if file not in known:
            known[file] = _read(file)
        return known[file]

    return read


def _read(file: str) -> At:
    tree: Tree | None = None
    try:
        text = Path(file).read_bytes()
        tree = parse(text, file)[0]
    except OSError:
        text = b""  # it is gone since it was loaded

    def at(place: Place, message: str, help: str, at_key: bool, column: int | None) -> Problem:
        if tree is None:
            return Problem(Location(file, 1, 1), "", message, help)
        node = locate(tree, place, key=at_key)
        return problem_at(text, file, node, "", message, help, offset=column)

    return at
