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
    recorded = first._replace(
        after=first.before, references_kept=first.references, entities_kept=first.entities, cost=first.recorded
    )
    whole = first.recorded.cached(prices)

    def row(name: str, rules: bool, score: Score) -> dict[str, Any]:
        cached = score.cost.cached(prices)
        return {
            "name": name,
            "rules": rules,
            "characters": {"before": score.before, "after": score.after, "saved": round(score.saved, 4)},
            "references": {"novel": score.references, "kept": score.references_kept},
            "entities": {"all": score.entities, "kept": score.entities_kept},
            "cost": {
                "cached": round(cached),
                "uncached": round(score.cost.uncached(prices)),
                "changes": score.cost.changes,
                "share": round(cached / whole, 4) if whole else None,
            },
        }

    found = [row(one.name, one.rules, score) for one, score in zip(contenders, scores, strict=True)]
    return [row("as recorded", False, recorded), *found]


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
