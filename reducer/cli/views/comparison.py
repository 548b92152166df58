"""The scores of `compare` as JSON values and as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

from reducer.analysis.baselines import Contender
from reducer.analysis.compare import Score
from reducer.analysis.prices import Prices
from reducer.cli.views.table import share
from reducer.screen import console, make_table

_COLUMNS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "": lambda row: row["name"],
    "Characters\nbefore": lambda row: f"{row['characters']['before']:,}",
    "after": lambda row: f"{row['characters']['after']:,}",
    "Saved": lambda row: f"{row['characters']['saved']:.1%}",
    "References\nkept": lambda row: share(row["references"]["kept"], row["references"]["novel"]),
    "Entities\nkept": lambda row: share(row["entities"]["kept"], row["entities"]["all"]),
    "Cost, cached\nof recorded": lambda row: "-" if row["cost"]["share"] is None else f"{row['cost']['share']:.1%}",
    "Prefix\nchanges": lambda row: f"{row['cost']['changes']:,}",
}


def rows(contenders: Sequence[Contender], scores: Sequence[Score], prices: Prices) -> list[dict[str, Any]]:
    """Return the scores as plain JSON values, the recorded histories first; shares are from 0 to 1, or null."""
    first = scores[0]
    recorded = first._replace(
        after=first.before, references_kept=first.references, entities_kept=first.entities, cost=first.recorded
    )
    whole = first.recorded.cached(prices)

    def row(name: str, rules: bool, score: Score) -> dict[str, Any]:
        cached, uncached = score.cost.cached(prices), score.cost.uncached(prices)
        cost = {"cached": round(cached), "uncached": round(uncached), "changes": score.cost.changes}
        return {
            "name": name,
            "rules": rules,
            "characters": {"before": score.before, "after": score.after, "saved": round(score.saved, 4)},
            "references": {"novel": score.references, "kept": score.references_kept},
            "entities": {"all": score.entities, "kept": score.entities_kept},
            "cost": {**cost, "share": round(cached / whole, 4) if whole else None},
        }

    found = [row(one.name, one.rules, score) for one, score in zip(contenders, scores, strict=True)]
    return [row("as recorded", False, recorded), *found]


def print_scores(histories: str, scores: Sequence[Mapping[str, Any]], stream: TextIO) -> None:
    """Print the rows as a table."""
    screen = console(stream)
    screen.print(f"Read     {histories}\n")
    screen.print(make_table(tuple(_COLUMNS), [[cell(row) for cell in _COLUMNS.values()] for row in scores]))
