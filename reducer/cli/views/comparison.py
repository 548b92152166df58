"""The scores of `compare` as JSON values and as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

from reducer.analysis.compare import Contender, Score
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
    before, whole = first.characters, first.cost.cached(prices)

    def row(one: Contender, score: Score) -> dict[str, Any]:
        after, cached, uncached = score.characters, score.cost.cached(prices), score.cost.uncached(prices)
        saved = round((before - after) / before, 4) if before else 0.0
        cost = {"cached": round(cached), "uncached": round(uncached), "changes": score.cost.changes}
        return {
            "name": one.name,
            "rules": one.rules,
            "characters": {"before": before, "after": after, "saved": saved},
            "references": {"novel": first.references, "kept": score.references},
            "entities": {"all": first.entities, "kept": score.entities},
            "cost": {**cost, "share": round(cached / whole, 4) if whole else None},
        }

    return list(map(row, contenders, scores))


def print_scores(histories: str, scores: Sequence[Mapping[str, Any]], stream: TextIO) -> None:
    """Print the rows as a table."""
    screen = console(stream)
    screen.print(f"Read     {histories}\n")
    screen.print(make_table(tuple(_COLUMNS), [[cell(row) for cell in _COLUMNS.values()] for row in scores]))
