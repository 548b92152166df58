"""Snapshots: whole results in files beside the rule file, compared with what the rule gives now."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reducer.analysis.expectations import Unmet, unequal
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
    given = {
        folder_of(rule) / name
        for rule in rules
        for test in rule.tests
        for name in (test.given.file, test.given.history)
        if name
    }
    return Snapshots(frozenset(_real(file) for file in given))


def compare_snapshot(rule: Rule, name: str, result: Any, update: Snapshots | None) -> Unmet | None:
    """Compare a result with its snapshot; None if it is the same, or if `update` has it written."""
    file = folder_of(rule) / name
    place = ("snapshot",)
    is_json = file.suffix == ".json"
    seen = opened(result) if is_json else result
    if not is_json and (type(result) is not str or _SURROGATE.search(result)):
        message, help = "the result is no text that a file can contain", "name a file that ends in .json"
        return Unmet(place, message, "a text", excerpt(result), help)
    real = _real(file)
    if not real.is_relative_to(_real(folder_of(rule))):
        return Unmet(place, f"{file} is a link to another folder", "a file beside the rule file", str(real))
    if update is not None and real in update.given:
        return Unmet(place, f"{file} is what a test starts from", "a file of its own", str(file))
    fault, known = "", None
    try:
        if update is not None and real in update.files:
            text = update.files[real].decode()
            known = json.loads(text) if is_json else text
        else:
            known = read_sample(file, "snapshot")
        if (dump(known) == dump(seen)) if is_json else known == seen:
            return None
    except SampleError as error:
        fault = str(error)
    if update is not None and real not in update.files:
        update.files[real] = written(seen, is_json)
        return None
    help = "`--update` writes the current result: look at it before you keep it"
    if fault:
        return Unmet(place, fault, f"a snapshot in {file}", excerpt(result), help)
    return unequal(place, known, seen)._replace(message=f"the result differs from {file}", help=help)


def written(value: Any, is_json: bool) -> bytes:
    """Write a result as a snapshot: JSON with an indent, for people to read and compare, or a text as it is."""
    if not is_json:
        return str(value).encode()
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return f"{text}\n".encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape


def _real(file: Path) -> Path:
    try:
        return file.resolve()
    except (OSError, RuntimeError):
        return file.absolute()
