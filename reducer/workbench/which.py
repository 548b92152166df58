"""Which rules apply to a return: those for its tool, and those for its shape, also built-in ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from reducer.analysis.coverage import covered
from reducer.files import builtin_rules, is_builtin
from reducer.rules import Ruleset, compile_rules, read_rules
from reducer.workbench.bench import Bench, valid_files


def which_rules(bench: Bench, tool: str, content: Any) -> Iterator[dict[str, Any]]:
    """Yield the rules that apply to a return of a tool, whose name may be empty: one of the folder, and a built-in one.

    Each has the `name` of its file, `is_own` if the folder contains it, and `by`: `name` or `shape`.
    """
    for folder, ruleset in _rulesets(bench):
        found = covered(ruleset, tool, [content])
        for rule in found.rules:
            name = Path(rule.file).relative_to(folder).as_posix()
            yield {"name": name, "is_own": folder == bench.folder, "by": "shape" if found.by_shape else "name"}


def _rulesets(bench: Bench) -> Iterator[tuple[Path, Ruleset]]:
    """Yield the rules of the folder that have no errors, and the built-in ones, each with their folder."""
    own, _ = compile_rules(valid_files(bench).items())
    if own is not None:
        yield bench.folder, own
    if not is_builtin(bench.folder):
        yield builtin_rules(), _built_in()


@cache
def _built_in() -> Ruleset:
    return read_rules("builtin")
