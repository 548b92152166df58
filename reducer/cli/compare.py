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

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import Any

from reducer.analysis.compare import AS_RECORDED, Contender, Score, baseline, compare, of_rules
from reducer.analysis.costs import PRICES
from reducer.analysis.measures import added
from reducer.cli.arguments import explained, parse, parser
from reducer.cli.inputs import sources_or_sample
from reducer.cli.screen import CommandError, console, counted, make_table, print_json, say_skipped
from reducer.cli.sources import choose_rules, load
from reducer.cli.views.report import share
from reducer.inputs.recorded import read_each

_DEFAULT = ("truncate:2000", "truncate:8000", "head:5", "keep-last:5", "minify", "minify+cut:12000")
_COLUMNS = ("", "Characters", "Saved", "References\nkept", "Entities\nkept", "Cached\ncost", "Prefix\nchanges")


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("compare", __doc__, ("histories", "--rules"), formats=("table", "json"))
    reader.add_argument(
        "--baseline", action="append", type=explained(baseline), metavar="NAME:N", help="a baseline; can be repeated"
    )
    options = parse(reader, arguments)
    baselines = options.baseline or map(baseline, _DEFAULT)
    chosen = [choose_rules([one]) for one in options.rules] or [choose_rules([], use_local=bool(options.histories))]
    contenders = [AS_RECORDED, *(of_rules(one.name, load(one)) for one in chosen), *baselines]
    sources = sources_or_sample(options.histories)
    skipped: list[str] = []
    scored = list(read_each(sources, lambda _, line: [compare(line.content, contenders)], skipped))
    say_skipped(skipped)
    if not scored:
        raise CommandError(f"no history in {', '.join(options.histories)}")
    scores = [reduce(added, of_contender) for of_contender in zip(*scored, strict=True)]
    table = list(map(partial(_row, scores[0]), contenders, scores))
    if options.format == "json":
        head = {"version": 1, "histories": len(scored), "skipped": len(skipped), "prices": PRICES}
        print_json({**head, "contenders": table})
    else:
        print(f"Read     {counted(len(scored), 'history', 'histories')}\n")
        console().print(make_table(_COLUMNS, list(map(_cells, table))))
    return 0


def _row(recorded: Score, one: Contender, score: Score) -> dict[str, Any]:
    """Return a score as plain JSON values. Shares of what is `recorded` are between 0 and 1, or null."""
    before, after = recorded.characters, score.characters
    saved = round((before - after) / before, 4) if before else 0.0
    whole, cached = recorded.cost.cached, score.cost.cached
    cost = {"cached": round(cached), "uncached": round(score.cost.uncached), "changes": score.cost.changes}
    return {
        "name": one.name,
        "rules": one.rules,
        "characters": {"before": before, "after": after, "saved": saved},
        "references": {"novel": recorded.references, "kept": score.references},
        "entities": {"all": recorded.entities, "kept": score.entities},
        "cost": {**cost, "share": round(cached / whole, 4) if whole else None},
    }


def _cells(row: Mapping[str, Any]) -> list[str]:
    """Return the cells of `_COLUMNS`."""
    characters, cost = row["characters"], row["cost"]
    return [
        row["name"],
        f"{characters['after']:,}",
        f"{characters['saved']:.1%}",
        share(row["references"]["kept"], row["references"]["novel"]),
        share(row["entities"]["kept"], row["entities"]["all"]),
        "-" if cost["share"] is None else f"{cost['share']:.1%}",
        f"{cost['changes']:,}",
    ]
