"""`compare`: compares rule sets and simple baselines on the same histories."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import reduce

from reducer.analysis.compare import AS_RECORDED, Contender, add_scores, baseline, compare, of_rules
from reducer.cli.arguments import add_cache_prices, explained, parse, parser
from reducer.cli.messages import counted
from reducer.cli.progress import read_histories
from reducer.cli.rules import choose_rules, load
from reducer.cli.views.comparison import print_scores, rows

_DEFAULT = ("truncate:2000", "truncate:8000", "head:5", "keep-last:5")
_ABOUT = """\
Compare rule sets and simple baselines on recorded histories: what each saves, which of the values that the agent used
later it keeps, which entities it keeps, and what the requests cost with a prompt cache. Everything is measured as if it
had run while the agent worked.
"""
_EXAMPLES = """\
baselines: truncate:N (first N characters), head:N (first N items of every list), keep-last:N (returns of the last N
requests)

examples:
  python -m reducer compare histories/                     ./rules (otherwise the bundled rules) and four baselines
  python -m reducer compare histories/ --rules old/ --rules new/ --baseline truncate:8000
  python -m reducer compare logs.jsonl.gz --format json    numbers for another program

Exit codes: 0 done, 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("compare", _ABOUT, _EXAMPLES)
    add = reader.add_argument
    add("histories", nargs="*", metavar="HISTORY", help="stored histories, folders, or - for standard input")
    add("--rules", action="append", default=[], metavar="DIR|FILE", help="a rule set; repeat it for each rule set")
    add("--baseline", action="append", type=explained(baseline), metavar="NAME:N", help="a baseline; can be repeated")
    add_cache_prices(reader)
    add("--format", choices=("table", "json"), default="table", help="output format (default: table)")
    options = parse(reader, arguments)
    baselines = options.baseline or map(baseline, _DEFAULT)
    contenders = [AS_RECORDED, *_rule_sets(options.rules, here=bool(options.histories)), *baselines]
    scored, skipped = read_histories(options.histories, lambda source, content: compare(content, contenders))
    scores = [reduce(add_scores, of_contender) for of_contender in zip(*scored, strict=True)]
    table = rows(contenders, scores, options.cache_prices)
    if options.format == "json":
        head = {"version": 1, "histories": len(scored), "skipped": skipped, "prices": options.cache_prices._asdict()}
        print(json.dumps({**head, "contenders": table}, indent=1))
    else:
        print_scores(counted(len(scored), "history", "histories"), table, sys.stdout)
    return 0


def _rule_sets(given: Sequence[str], *, here: bool) -> list[Contender]:
    sets = [choose_rules([one]) for one in given] or [choose_rules([], here=here)]
    return [of_rules(chosen.name, load(chosen)) for chosen in sets]
