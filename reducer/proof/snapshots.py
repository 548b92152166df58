"""Snapshots: all of a result in a file beside the rule file, compared with what the rule gives, and written when that is asked for."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reducer.proof.expectations import Unmet, not_the_same
from reducer.proof.samples import SampleError, folder_of, read_sample
from reducer.proof.texts import excerpt, opened
from reducer.rule import Rule
from reducer.values import dump

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Snapshots:
    """The snapshots to be written: what each file will hold. `given` are the files that tests start from, which are never written."""

    given: frozenset[Path] = frozenset()
    files: dict[Path, bytes] = field(default_factory=dict)


def snapshots_for(rules: tuple[Rule, ...]) -> Snapshots:
    """Make what gathers the snapshots of these rules."""
    given = {folder_of(rule) / name for rule in rules for test in rule.tests for name in (test.given.file, test.given.history) if name}
    return Snapshots(frozenset(_real(file) for file in given))


def differing(rule: Rule, name: str, result: Any, anew: Snapshots | None) -> Unmet | None:
    """Compare a result with its snapshot: None where it is the same, or where `anew` took it to be written."""
    file = folder_of(rule) / name
    place = ("snapshot",)
    is_json = file.suffix == ".json"
    seen = opened(result) if is_json else result
    if not is_json and (type(result) is not str or _SURROGATE.search(result)):
        return Unmet(place, "the result is no text that a file can hold", "a text", excerpt(result), "name a file that ends in .json")
    real = _real(file)
    if not real.is_relative_to(_real(folder_of(rule))):
        return Unmet(place, f"{file} is a link to another folder", "a file beside the rule file", str(real))
    if anew is not None and real in anew.given:
        return Unmet(place, f"{file} is what a test starts from", "a file of its own", str(file))
    content = written(seen, is_json)
    known: Any = None
    fault = ""
    try:
        known = _said(anew.files[real], is_json) if anew is not None and real in anew.files else read_sample(file, "snapshot")
        if (dump(known) == dump(seen)) if is_json else known == seen:
            return None
    except SampleError as error:
        fault = str(error)
    if anew is not None and real not in anew.files:
        anew.files[real] = content
        return None
    help = "`--update` writes what the rule gives now: look at it before you keep it"
    if fault:
        return Unmet(place, fault, f"a snapshot in {file}", excerpt(result), help)
    return not_the_same(place, known, seen)._replace(message=f"the result is not that of {file}", help=help)


def _said(content: bytes, is_json: bool) -> Any:
    return json.loads(content) if is_json else content.decode()


def written(value: Any, is_json: bool) -> bytes:
    """Write a result as a snapshot holds it: JSON with an indent, made to be read and compared by people, or a text as it stands."""
    if not is_json:
        return str(value).encode()
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return f"{text}\n".encode("utf-8", "backslashreplace")  # a lone surrogate becomes the escape that JSON has for it


def _real(file: Path) -> Path:
    try:
        return file.resolve()
    except (OSError, RuntimeError):
        return file.absolute()
