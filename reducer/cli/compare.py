"""Compare rule sets and simple baselines on recorded histories: how many characters they save, how many entities and
how many of the values that the agent used later they keep, and what the requests cost with a prompt cache. Everything
is measured as if it had run while the agent worked.

examples:
  python -m reducer compare histories/                     ./rules (or the built-in rules) and six baselines
  python -m reducer compare histories/ --rules old/ --rules new/ --baseline truncate:8000

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
from reducer.cli.arguments import explained, parse, parser
from reducer.cli.inputs import read_histories
from reducer.cli.screen import console, counted, make_table, print_json
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
    options = parse(reader, arguments)
    baselines = options.baseline or map(baseline, _DEFAULT)
    chosen = [choose_rules([one]) for one in options.rules] or [choose_rules([], use_local=bool(options.histories))]
    contenders = [AS_RECORDED, *(of_rules(one.name, load(one)) for one in chosen), *baselines]
    scored, skipped = read_histories(options.histories, lambda _, content: compare(content, contenders))
    scores = [reduce(added, of_contender) for of_contender in zip(*scored, strict=True)]
    table = _rows(contenders, scores, options.cache_prices)
    if options.format == "json":
        head = {"version": 1, "histories": len(scored), "skipped": skipped, "prices": options.cache_prices}
        print_json({**head, "contenders": table})
    else:
        print(f"Read     {counted(len(scored), 'history', 'histories')}\n")
        console().print(make_table(tuple(_COLUMNS), list(map(_cells, table))))
    return 0


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [cell(row) for cell in _COLUMNS.values()]


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
