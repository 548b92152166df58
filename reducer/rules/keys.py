"""Reports misspelt and misplaced keys, with the nearest valid one or the place where they belong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import cache

from reducer.operations import operations
from reducer.rules.diagnostics import Report
from reducer.rules.model import When
from reducer.rules.tree import Mapping as MappingNode
from reducer.rules.tree import Tree, locate, replaced


def report_unknown(report: Report, tree: Tree, word: str, known: Collection[str], where: str = " here") -> None:
    """Report the key `word` of a mapping, which has the keys `known` only."""
    key = locate(tree, (word,), key=True)
    present = {name.value for name, _ in tree.entries} if isinstance(tree, MappingNode) else ()
    name = nearest(word, [other for other in known if other not in present])
    if home := _homes().get(word):
        report.add(key, "E018", f"`{word}` is not valid{where}", home)
    elif name:
        fix = replaced(key, name) if is_typo(word, name, known) else ()
        report.add(key, "E010", f"unknown key `{word}`", f"did you mean `{name}`?", fix=fix)
    else:
        report.add(key, "E010", f"unknown key `{word}`", f"expected one of {listed(known)}")


@cache
def _homes() -> Mapping[str, str]:
    """Return where the keys of the rule language belong that are written elsewhere by mistake."""
    owners: dict[str, list[str]] = {}
    for action, op in operations().items():
        for key in op.model_fields:
            owners.setdefault(key, []).append(action)
    top = ("tool", "steps", "max_chars", "keys", "tests")
    return {
        **dict.fromkeys(When.model_fields, "use it in `when`"),
        **dict.fromkeys(top, "move it to the top level of the file"),
        "path": "use it in a step",
        **{key: f"use it with {listed(actions)}" for key, actions in owners.items()},
        **{action: f"use it as the action of a step: `steps: [{{{action}: …}}]`" for action in operations()},
    }


def is_typo(word: str, name: str, known: Iterable[str]) -> bool:
    """Return whether `word` is a misspelling of `name` and of no other of `known`.

    The first letter and the digits are the same: `md4` and `crop` are not misspellings of `md5` and `drop`.
    """
    alike = word[:1] == name[:1] and re.findall(r"\d", word) == re.findall(r"\d", name)
    return alike and get_close_matches(word, {*known, name}, 2, 0.8) == [name]


def nearest(word: str, known: Iterable[str], cutoff: float = 0.7) -> str:
    """Return the one of `known` that is spelled most like `word`, or an empty text."""
    plain = word[:60].strip().lower().replace("-", "_").replace(" ", "_")
    return next(iter(get_close_matches(plain, known, 1, cutoff)), "")


def listed(names: Iterable[str]) -> str:
    """Return names in backticks, with commas between them."""
    return ", ".join(f"`{name}`" for name in names)
