"""Write `rules/CATALOGUE.md`: `python -m tests.tools.write_catalogue`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from reducer.analysis.samples import sample
from reducer.engine import attempt
from reducer.entities import expand, scan
from reducer.rules import Rule
from reducer.values import chars
from tests.helpers import BY_FILE, RULES, forced, texts

PAGE = RULES / "CATALOGUE.md"
_TYPES = expand(("ioc", "cve", "mitre_attack", "threat_actor", "malware"))
_ALLOWED = re.compile(r"^# (?:loses (\w+)|(saves less)): (\S.*)$", re.MULTILINE)


@dataclass(slots=True)
class Measured:
    """What a rule does to all its samples: characters, and the numbers of entities and lost entities of each type."""

    before: int = 0
    after: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)

    @property
    def saved(self) -> float:
        return 1 - self.after / self.before


@cache
def measured(name: str) -> Measured:
    """Apply a rule to the samples that its tests reduce. `name` is that of its file, without ending."""
    rule, sums = BY_FILE[name], Measured()
    tests = {test.given.file: test for test in rule.tests if test.given.file and not test.expect.unchanged}
    for content in (sample(rule, test) for test in tests.values()):
        outcome = attempt(forced(rule), "any", content)
        assert outcome.fault == "", name
        found, left = _entities(content), _entities(outcome.content)
        sums.before += chars(content)
        sums.after += chars(outcome.content)
        sums.entities.update(one for one, _ in found)
        sums.lost.update(one for one, _ in found - left)
    return sums


def _entities(content: Any) -> set[tuple[str, str]]:
    return set().union(*map(_entities_in, set(texts(content))))


@lru_cache(maxsize=100_000)  # most texts of a result are in the sample too
def _entities_in(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((entity.type, entity.canonical) for entity in scan(text, _TYPES))


def allowed(rule: Rule) -> frozenset[str]:
    """Return the types of entities that comments of a rule file allow to lose, and `saves less` if one states this."""
    comments = _ALLOWED.findall(Path(rule.file).read_text(encoding="utf-8"))
    return expand(one for one, _, _ in comments if one) | {less for _, less, _ in comments if less}


def catalogue() -> str:
    """Describe every rule in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    saved = median(measured(name).saved for name in BY_FILE)
    yield "# Rules that come with reducer"
    yield ""
    yield f"{len(BY_FILE)} rules for tools that agents call. Half of them save at least {saved:.0%} of their samples."
    yield "`python -m reducer rules` lists them, and `rules add NAME` copies one. Saved characters and kept entities"
    yield "(indicators, CVEs, techniques, actors and malware) are those of the samples next to each rule."
    for pack, names in groupby(BY_FILE, lambda name: Path(BY_FILE[name].file).parent.name):
        yield f"\n## {pack}\n"
        yield "| rule | tools | what stays | saved | entities kept |"
        yield "|---|---|---|---|---|"
        yield from map(_row, names)


def _row(name: str) -> str:
    rule, sums = BY_FILE[name], measured(name)
    found = sums.entities.total()
    kept = f"{found - sums.lost.total():,} of {found:,}" if found else "-"
    tools = ", ".join(f"`{tool}`" for tool in rule.tools)
    link = f"[{name}]({Path(rule.file).relative_to(RULES).as_posix()})"
    return f"| {link} | {tools} | {rule.description} | {sums.saved:.0%} | {kept} |"


if __name__ == "__main__":
    PAGE.write_text(catalogue(), encoding="utf-8")
