"""Which rules apply to a return: those for its tool, and those that recognise its shape, also built-in ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from reducer.engine.choose import Candidates
from reducer.files import builtin_rules, is_builtin
from reducer.plan.protected import References
from reducer.rules import Rule, Ruleset, compile_rules, read_rules
from reducer.values import Unreducible
from reducer.workbench.bench import Bench, files_of

_MAX_RULES = 5


def which_rules(bench: Bench, tool: str, content: Any) -> list[dict[str, Any]]:
    """Return the first rules that apply to a return of a tool, whose name may be empty: those of the folder first.

    Each has the `name` of its file, `is_own` if the folder contains it, its `tools`, and `by`: `name` or `shape`.
    """
    found: dict[str, dict[str, Any]] = {}
    for root, ruleset in _rulesets(bench):
        by_name = list(ruleset.rules_for(tool)) if tool else []
        by_shape = [rule for rule in ruleset.rules if rule.has_where]
        for by, rules in (("name", by_name), ("shape", by_shape)):
            for rule in islice(_recognising(rules, content), _MAX_RULES):
                name = Path(rule.file).relative_to(root).as_posix()
                fields = {"name": name, "is_own": root == bench.folder, "tools": rule.tools, "by": by}
                found.setdefault(rule.file, fields)
    return list(islice(found.values(), _MAX_RULES))


def _rulesets(bench: Bench) -> Iterator[tuple[Path, Ruleset]]:
    """Yield the rules of the folder and the built-in ones, each with their folder."""
    own = _compiled(tuple(files_of(bench).items()))
    if own is not None:
        yield bench.folder, own
    if not is_builtin(bench.folder):
        yield builtin_rules(), _built_in()


@lru_cache(maxsize=1)
def _compiled(files: tuple[tuple[str, bytes], ...]) -> Ruleset | None:
    """Compile rule files without those that have errors."""
    ruleset, problems = compile_rules(files)
    wrong = {one.location.file for one in problems if one.severity == "error"}
    if ruleset is None and wrong:
        ruleset, _ = compile_rules([(name, text) for name, text in files if name not in wrong])
    return ruleset


@cache
def _built_in() -> Ruleset:
    return read_rules("builtin")


def _recognising(rules: Sequence[Rule], content: Any) -> Iterator[Rule]:
    """Yield the rules whose `when` holds for a content."""
    left = list(rules)
    with suppress(Unreducible, RecursionError):
        while left:
            chosen = Candidates(left, References(None, content, is_text=False)).choose(content)
            if not chosen.gated:
                yield chosen.rule
            elif chosen.number == 0 and chosen.tried:  # none of them holds
                return
            left = left[chosen.number + 1 :]
