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
from typing import Any, NamedTuple

from reducer.analysis.samples import sample
from reducer.engine import attempt
from reducer.entities import expand, scan
from reducer.rules import Rule
from reducer.values import chars
from tests.helpers import BY_FILE, RULES, forced, texts

PAGE = RULES / "CATALOGUE.md"
_TYPES = expand(("ioc", "cve", "mitre_attack", "threat_actor", "malware"))
_NAME = re.compile(r"`([^`]+)`")
_CHARACTERS = re.compile(r"[\d,]+")
_ALLOWED = re.compile(r"^# loses (\w+): \S", re.MULTILINE)


@dataclass(slots=True)
class Measured:
    """What a rule does to all its samples: characters, and the numbers of entities and lost entities of each type."""

    before: int = 0
    after: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)


@cache
def measured(name: str) -> Measured:
    """Apply a rule to the samples of its tests. `name` is that of its file, without ending."""
    rule, sums = BY_FILE[name], Measured()
    tests = {test.given.file: test for test in rule.tests if test.given.file}
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
    """Return the types of entities that comments of a rule file allow to lose."""
    return expand(_ALLOWED.findall(Path(rule.file).read_text(encoding="utf-8")))


class Source(NamedTuple):
    """A row of `SOURCES.md`: a sample (`name` is its file), or an answer that a rule was tried on (`name` is the rule).

    `before` and `after` are characters, or 0 for a sample, which is measured.
    """

    name: str
    server: str
    before: int = 0
    after: int = 0


def sources(pack: Path) -> tuple[list[Source], list[Source]]:
    """Return the rows of both tables in the `SOURCES.md` of a pack. Raises `ValueError` for one without numbers."""
    samples: list[Source] = []
    tried: list[Source] = []
    table = samples
    for line in (pack / "samples" / "SOURCES.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else [""]
        if cells[0] == "rule":
            table = tried
        elif table is samples:
            samples += (Source(name, cells[1]) for name in _NAME.findall(cells[0]))
        else:
            for name in _NAME.findall(cells[0]):
                before, after = _CHARACTERS.findall(cells[-1])[:2]
                tried.append(
                    Source(
                        name.removesuffix(".yaml"), cells[1], int(before.replace(",", "")), int(after.replace(",", ""))
                    )
                )
    return samples, tried


def catalogue() -> str:
    """Describe every rule in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    half = median(saved(name) for name in BY_FILE)
    yield "# Rules that come with reducer"
    yield ""
    yield f"{len(BY_FILE)} rules for tools that agents call, each tried on recorded answers of its servers."
    yield f"Half of them save at least {half:.0%}. `python -m reducer rules` lists them, `rules add NAME` copies"
    yield "one, and `rules --used HISTORY` shows which of them your tools need."
    yield ""
    yield "A rule applies to an answer of one of its tools if the answer has its shape. Saved characters are those"
    yield "of its recorded answers, and kept entities (indicators, CVEs, techniques, actors and malware) those of"
    yield "the samples next to it. `samples/SOURCES.md` of each pack names server, version, source and licence."
    for pack, names in groupby(BY_FILE, lambda name: Path(BY_FILE[name].file).parent.name):
        yield f"\n## {pack}\n"
        yield "| rule | servers | tools | shape | saved | entities kept |"
        yield "|---|---|---|---|---|---|"
        yield from map(_row, names)


def _row(name: str) -> str:
    rule, sums = BY_FILE[name], measured(name)
    found = sums.entities.total()
    kept = f"{found - sums.lost.total():,} of {found:,}" if found else "-"
    tools = ", ".join(f"`{tool}`" for tool in rule.tools)
    link = f"[{name}]({Path(rule.file).relative_to(RULES).as_posix()}): {rule.description}"
    shape = rule.when.where.text.replace("|", "\\|") if rule.when is not None and rule.when.where is not None else ""
    return f"| {link} | {'; '.join(servers(name))} | {tools} | `{shape}` | {saved(name):.0%} | {kept} |"


def servers(name: str) -> list[str]:
    """Return the servers and versions whose answers a rule was tried on."""
    rule = BY_FILE[name]
    own = {Path(test.given.file).name for test in rule.tests if test.given.file}
    samples, tried = sources(Path(rule.file).parent)
    rows = [row for row in samples if row.name in own] + [row for row in tried if row.name == name]
    return [*dict.fromkeys(row.server for row in rows)]


def saved(name: str) -> float:
    """Return the saved share of the recorded answers of a rule, with those that are not in the repository."""
    sums = measured(name)
    tried = [row for row in sources(Path(BY_FILE[name].file).parent)[1] if row.name == name]
    before = sums.before + sum(row.before for row in tried)
    after = sums.after + sum(row.after for row in tried)
    return 1 - after / before if before else 0.0


if __name__ == "__main__":
    PAGE.write_text(catalogue(), encoding="utf-8")
