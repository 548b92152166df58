"""Compare rule sets and simple baselines on recorded histories: how many characters they save, how many entities and
how many of the values that the agent used later they keep, and what the requests cost with a prompt cache. Everything
is measured as if it had run while the agent worked.

examples:
  python -m reducer compare histories/                     ./rules (or the built-in rules) and six baselines
  python -m reducer compare histories/ --rules old/ --rules new/ --baseline truncate:8000
  python -m reducer compare histories/ --top 5             also name the five histories in which each loses most

baselines: truncate:N (first N characters), head:N (first N items of every list), keep-last:N (returns of the last N
requests), minify (decode JSON in texts, write it compactly), minify+cut:N (minify, then the first N characters)

Exit codes: 0 done, 2 cannot run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from reducer.analysis.compare import AS_RECORDED, Contender, Score, baseline, compare, of_rules
from reducer.analysis.measures import added
from reducer.analysis.prices import Prices
from reducer.cli.arguments import explained, integer, parse, parser
from reducer.cli.inputs import read_histories
from reducer.cli.screen import console, counted, make_table, print_json, print_lines
from reducer.cli.sources import choose_rules, load
from reducer.cli.views.report import share

_DEFAULT = ("truncate:2000", "truncate:8000", "head:5", "keep-last:5", "minify", "minify+cut:12000")
_COLUMNS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "": lambda row: row["name"],
    "Characters": lambda row: f"{row['characters']['after']:,}",
    "Saved": lambda row: f"{row['characters']['saved']:.1%}",
    "References\nkept": lambda row: share(row["references"]["kept"], row["references"]["novel"]),
    "Entities\nkept": lambda row: share(row["entities"]["kept"], row["entities"]["all"]),
    "Cached\ncost": lambda row: "-" if row["cost"]["share"] is None else f"{row['cost']['share']:.1%}",
    "Prefix\nchanges": lambda row: f"{row['cost']['changes']:,}",
}


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("compare", __doc__, ("histories", "--cache-prices"), formats=("table", "json"))
    add = reader.add_argument
    add("--rules", action="append", default=[], metavar="DIR|FILE", help="a rule set; repeat it for each rule set")
    add("--baseline", action="append", type=explained(baseline), metavar="NAME:N", help="a baseline; can be repeated")
    top = "name the N histories in which each loses most references"
    add("--top", type=integer("the number of histories", 1, 1000), default=0, metavar="N", help=top)
    options = parse(reader, arguments)
    baselines = options.baseline or map(baseline, _DEFAULT)
    chosen = [choose_rules([one]) for one in options.rules] or [choose_rules([], use_local=bool(options.histories))]
    contenders = [AS_RECORDED, *(of_rules(one.name, load(one)) for one in chosen), *baselines]
    named, skipped = read_histories(
        options.histories, lambda source, content: (source.name, compare(content, contenders))
    )
    scored = [scores for _, scores in named]
    scores = [reduce(added, of_contender) for of_contender in zip(*scored, strict=True)]
    table = _rows(contenders, scores, options.cache_prices)
    for number, row in enumerate(table):
        row["most_lost"] = _most_lost(named, number, options.top)
    if options.format == "json":
        head = {"version": 1, "histories": len(scored), "skipped": skipped, "prices": options.cache_prices}
        print_json({**head, "contenders": table})
    else:
        _print(table, counted(len(scored), "history", "histories"))
    return 0


def _print(table: Sequence[Mapping[str, Any]], histories: str) -> None:
    screen = console()
    screen.print(f"Read     {histories}\n")
    screen.print(make_table(tuple(_COLUMNS), list(map(_cells, table))))
    for row in table:
        if row["most_lost"]:
            screen.print(f"Most references lost: {row['name']}")
            lines = (f"{one['history']}: {one['lost']:,} of {one['novel']:,}" for one in row["most_lost"])
            print_lines(lines, screen, 2)


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [cell(row) for cell in _COLUMNS.values()]


def _most_lost(named: Sequence[tuple[str, list[Score]]], number: int, top: int) -> list[dict[str, Any]]:
    """Return the `top` histories in which the contender `number` loses most of the values that the agent used later."""
    found: list[dict[str, Any]] = []
    for name, scores in named:
        novel = scores[0].references
        lost = novel - scores[number].references
        if lost:
            found.append({"history": name, "lost": lost, "novel": novel})
    return sorted(found, key=lambda one: -one["lost"])[:top]


def _rows(contenders: Sequence[Contender], scores: Sequence[Score], prices: Prices) -> list[dict[str, Any]]:
    """Return the scores as plain JSON values, the recorded histories first. Shares are between 0 and 1, or null."""
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
