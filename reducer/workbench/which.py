"""Which rules apply to a return: those for its tool, and those for its shape, also built-in ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from reducer.analysis.coverage import names_keys
from reducer.engine.choose import Candidates
from reducer.files import builtin_rules, is_builtin
from reducer.plan.protected import References
from reducer.rules import Rule, Ruleset, compile_rules, read_rules
from reducer.values import Unreducible
from reducer.workbench.bench import Bench, files_of

_ITEMS = 20


def which_rules(bench: Bench, tool: str, content: Any) -> Iterator[dict[str, Any]]:
    """Yield the rules that apply to a return of a tool, whose name may be empty: one of the folder, and a built-in one.

    Each has the `name` of its file, `is_own` if the folder contains it, and `by`: `name` or `shape`.
    """
    for folder, ruleset in _rulesets(bench):
        by_name = ruleset.rules_for(tool) if tool else ()
        by_shape = filter(names_keys, ruleset.rules)
        for by, rules in (("name", by_name), ("shape", tuple(by_shape))):
            if rule := _recognising(rules, content):
                name = Path(rule.file).relative_to(folder).as_posix()
                yield {"name": name, "is_own": folder == bench.folder, "by": by}
                break


def _recognising(rules: Sequence[Rule], content: Any) -> Rule | None:
    """Return the first rule whose `when` holds for a content."""
    if not rules:
        return None
    try:
        start = _start(content)
        chosen = Candidates(rules, References(None, start, is_text=False)).choose(start)
    except (Unreducible, RecursionError):
        return None
    return None if chosen.gated else chosen.rule


def _start(value: Any) -> Any:
    """Return a value with the first items of its lists, which show its shape."""
    if type(value) is list:
        return list(map(_start, value[:_ITEMS]))
    if type(value) is dict:
        return {key: _start(item) for key, item in value.items()}
    return value


def _rulesets(bench: Bench) -> Iterator[tuple[Path, Ruleset]]:
    """Yield the rules of the folder that have no errors, and the built-in ones, each with their folder."""
    files = files_of(bench)
    ruleset, problems = compile_rules(files.items())
    for one in problems:
        if one.severity == "error":
            files.pop(one.location.file, None)
    own = ruleset or compile_rules(files.items())[0]
    if own is not None:
        yield bench.folder, own
    if not is_builtin(bench.folder):
        yield builtin_rules(), _built_in()


@cache
def _built_in() -> Ruleset:
    return read_rules("builtin")
