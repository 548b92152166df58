"""Snapshots: whole results in files beside the rule file, compared with what the rule gives now."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from os.path import realpath
from pathlib import Path
from typing import Any

from reducer.analysis.expectations import Failure, differs
from reducer.analysis.samples import SampleError, folder_of, read_sample
from reducer.analysis.texts import excerpt, opened
from reducer.rules import Rule
from reducer.values import dump

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Snapshots:
    """The snapshots to write: the bytes for each of `files`. `given` are files that tests start from, never written."""

    given: frozenset[Path] = frozenset()
    files: dict[Path, bytes] = field(default_factory=dict)


def snapshots_for(rules: tuple[Rule, ...]) -> Snapshots:
    """Return an empty collection for the snapshots of these rules."""
    names = ((rule, name) for rule in rules for test in rule.tests for name in (test.given.file, test.given.history))
    return Snapshots(frozenset(Path(realpath(folder_of(rule) / name)) for rule, name in names if name))


def compare_snapshot(rule: Rule, name: str, result: Any, update: Snapshots | None) -> Iterator[Failure]:
    """Yield how a result differs from its snapshot; nothing if it is the same, or if `update` has it written."""
    file = folder_of(rule) / name
    is_json = file.suffix == ".json"
    if not is_json and (type(result) is not str or _SURROGATE.search(result)):
        yield _wrong(
            "the result is no text that a file can contain", "a text", result, "name a file that ends in .json"
        )
        return
    real = Path(realpath(file))
    if not real.is_relative_to(realpath(folder_of(rule))):
        yield _wrong(f"{file} is a link to another folder", "a file beside the rule file", str(real))
        return
    if update is not None and real in update.given:
        yield _wrong(f"{file} is what a test starts from", "a file of its own", str(file))
        return
    seen = opened(result) if is_json else result
    text = _written(seen) if is_json else str(result).encode()
    help, known, fault = "`--update` writes the current result: look at it before you keep it", None, ""
    try:
        known = read_sample(file, "snapshot")
    except SampleError as error:
        fault = str(error)
    is_same = not fault and dump(known) == dump(seen)
    if update is not None and (not is_same or real in update.files):
        if update.files.setdefault(real, text) != text:
            yield _wrong(f"another test has another result for {file}", "a file of its own", str(file))
    elif fault:
        yield _wrong(fault, f"a snapshot in {file}", result, help)
    elif not is_same:
        yield differs(("snapshot",), f"the result differs from {file}", known, seen, help)


def _wrong(message: str, expected: str, seen: Any, help: str = "") -> Failure:
    return Failure("snapshot", ("snapshot",), message, expected, excerpt(seen), help)


def _written(value: Any) -> bytes:
    """Write a value as JSON with an indent, for people to read and compare."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return f"{text}\n".encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape
