"""The scores of `compare` as rows of JSON values and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from reducer.analysis.compare import Contender, Score
from reducer.analysis.prices import Prices
from reducer.cli.views.text import share
from reducer.screen import console, visible

_TITLES = (
    "",
    "Characters\nbefore",
    "\nafter",
    "\nSaved",
    "References\nkept",
    "Entities\nkept",
    "Cost, cached\nof recorded",
    "Prefix\nchanges",
)


def rows(contenders: Sequence[Contender], scores: Sequence[Score], prices: Prices) -> list[dict[str, Any]]:
    """Return the scores as plain JSON values, the recorded histories first; shares are from 0 to 1, or null."""
    first = scores[0]
    before, whole = first.characters, first.cost.cached(prices)

    def row(one: Contender, score: Score) -> dict[str, Any]:
        after, cached = score.characters, score.cost.cached(prices)
        saved = round((before - after) / before, 4) if before else 0.0
        return {
            "name": one.name,
            "rules": one.rules,
            "characters": {"before": before, "after": after, "saved": saved},
            "references": {"novel": first.references, "kept": score.references},
            "entities": {"all": first.entities, "kept": score.entities},
            "cost": {
                "cached": round(cached),
                "uncached": round(score.cost.uncached(prices)),
                "changes": score.cost.changes,
                "share": round(cached / whole, 4) if whole else None,
            },
        }

    return list(map(row, contenders, scores))


def print_scores(histories: str, table: Sequence[dict[str, Any]], stream: TextIO) -> None:
    """Print the rows as a table."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in _TITLES:
        grid.add_column(title, justify="right" if title else "left", overflow="fold", no_wrap=bool(title))
    for row in table:
        grid.add_row(*(Text(cell, "bold" if row["rules"] else "") for cell in _cells(row)))
    screen = console(stream, 160)
    screen.print(Text.assemble(("Read     ", "dim"), histories))
    screen.print()
    screen.print(grid)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    characters, references, entities, cost = row["characters"], row["references"], row["entities"], row["cost"]
    return (
        visible(row["name"]),
        f"{characters['before']:,}",
        f"{characters['after']:,}",
        f"{characters['saved']:.1%}",
        share(references["kept"], references["novel"]) if references["novel"] else "-",
        share(entities["kept"], entities["all"]) if entities["all"] else "-",
        "-" if cost["share"] is None else f"{cost['share']:.1%}",
        f"{cost['changes']:,}",
    )
