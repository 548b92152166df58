"""Failures of rule tests and gaps in them as diagnostics: with the line of the rule file and a caret."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from reducer.analysis.expectations import Failure, Place
from reducer.analysis.rule_tests import Gap, TestResult
from reducer.errors import Diagnostic, Location
from reducer.rules.diagnostics import Report
from reducer.rules.parser import parse
from reducer.rules.tree import locate

At = Callable[[Place, str, str, bool], Diagnostic]
"""Returns a diagnostic without a code at a place of a rule file: place, message, help, whether it is about the key."""


def failures_of(result: TestResult, read: Callable[[str], At]) -> list[tuple[Failure, Diagnostic]]:
    """Return the failures of a test in the order of the file, each as a diagnostic; `read` comes from `reader`."""
    if not result.failures:
        return []
    at, name = read(result.rule.file), result.test.name
    found = [(each, at(each.place, f"test `{name}`: {each.message}", each.help, False)) for each in result.failures]
    return sorted(found, key=lambda pair: pair[1].location)


def gaps_at(gaps: Iterable[Gap], read: Callable[[str], At]) -> list[Diagnostic]:
    """Return what tests do not cover as diagnostics."""
    return [read(gap.rule.file)(gap.place, gap.message, "", True) for gap in gaps]


def test_at(result: TestResult, read: Callable[[str], At]) -> Location:
    """Return the location of the name of a test."""
    return read(result.rule.file)(("tests", result.number, "name"), "", "", False).location


def reader() -> Callable[[str], At]:
    """Return a function that parses a rule file once, and returns what makes diagnostics at its places.

    Rules do not store the positions of their tests: they are read again when there is something to report.
    """
    return cache(_read)


def _read(file: str) -> At:
    try:
        tree, report = parse(Path(file).read_bytes(), file)
    except OSError:
        tree, report = None, Report(file, ())  # it was removed after it was loaded

    def at(place: Place, message: str, help: str, at_key: bool) -> Diagnostic:
        if tree is None:
            return Diagnostic(Location(file, 1, 1), "", message, help)
        report.found.clear()
        report.add(locate(tree, place, key=at_key), "", message, help)
        return report.found.pop()

    return at
