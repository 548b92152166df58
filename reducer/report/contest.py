"""Contenders side by side: as a table, as a picture, and as a page with both."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, TextIO

from reducer.measures.compare import Contender, Score
from reducer.measures.cost import Prices
from reducer.report import html
from reducer.report.measured import share
from reducer.report.picture import Point, svg
from reducer.screen import console, visible

_TITLES = ("", "Characters\nbefore", "\nafter", "\nSaved", "References\nkept", "Entities\nkept", "Cost, cached\nof recorded", "Prefix\nchanges")


def rows(contenders: Sequence[Contender], scores: Sequence[Score], prices: Prices) -> list[dict[str, Any]]:
    """Give the scores as plain JSON values, what was recorded first; shares are from 0 to 1, null where there is nothing to keep."""
    found = [_row("as recorded", False, _recorded(scores[0]), scores[0], prices)]
    return found + [_row(one.name, one.rules, score, scores[0], prices) for one, score in zip(contenders, scores, strict=True)]


def _recorded(score: Score) -> Score:
    return score._replace(after=score.before, references_kept=score.references, entities_kept=score.entities, cost=score.recorded)


def _row(name: str, rules: bool, score: Score, first: Score, prices: Prices) -> dict[str, Any]:
    whole = first.recorded.cached(prices)
    return {
        "name": name,
        "rules": rules,
        "characters": {"before": score.before, "after": score.after, "saved": round(score.saved, 4)},
        "references": {"novel": score.references, "kept": score.references_kept},
        "entities": {"all": score.entities, "kept": score.entities_kept},
        "cost": {"cached": round(score.cost.cached(prices)), "uncached": round(score.cost.uncached(prices)), "changes": score.cost.changes,
                 "share": round(score.cost.cached(prices) / whole, 4) if whole else None},
    }  # fmt: skip


def print_scores(what: str, table: Sequence[dict[str, Any]], stream: TextIO) -> None:
    """Print the table."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in _TITLES:
        grid.add_column(title, justify="right" if title else "left", overflow="fold", no_wrap=bool(title))
    for row in table:
        grid.add_row(*(Text(cell, "bold" if row["rules"] else "") for cell in _cells(row)))
    screen = console(stream, 160)
    screen.print(Text.assemble(("Read     ", "dim"), what))
    screen.print()
    screen.print(grid)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    characters, references, entities, cost = row["characters"], row["references"], row["entities"], row["cost"]
    return (
        visible(row["name"]), f"{characters['before']:,}", f"{characters['after']:,}", f"{characters['saved']:.1%}",
        share(references["kept"], references["novel"]) if references["novel"] else "-",
        share(entities["kept"], entities["all"]) if entities["all"] else "-",
        "-" if cost["share"] is None else f"{cost['share']:.1%}", f"{cost['changes']:,}",
    )  # fmt: skip


def picture(table: Sequence[dict[str, Any]]) -> str:
    """Draw saved against kept as SVG; a contender without references to keep counts as keeping all."""
    points = []
    for row in table:
        kept, novel = row["references"]["kept"], row["references"]["novel"]
        points.append(Point(row["name"], row["characters"]["saved"], kept / novel if novel else 1, row["rules"]))
    return svg(points)


def page(what: str, scores: Sequence[dict[str, Any]]) -> str:
    """Write the picture and the table as one HTML page that needs nothing else."""
    about = f"<p>{escape(what)}; squares are rules, circles baselines.</p>"
    return html.page("What each way saves against what it keeps", [about, picture(scores), html.table(_TITLES, map(_cells, scores))])
