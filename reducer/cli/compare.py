"""`compare`: compares rule sets and simple baselines on the same histories."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from reducer.analysis.baselines import Contender, baseline, of_rules
from reducer.analysis.compare import Score, add_scores, compare
from reducer.cli.arguments import add_cache_prices, explained, parse, parser
from reducer.cli.inputs import Source, find_sources, read_histories
from reducer.cli.messages import CommandError, counted, say_skipped
from reducer.cli.progress import progress
from reducer.cli.rules import choose_rules, load
from reducer.cli.views.comparison import print_scores, rows
from reducer.errors import HistoryError

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
    contenders = [*_rule_sets(options.rules, here=bool(options.histories)), *baselines]
    sources = find_sources(options.histories)
    skipped: list[tuple[str, str]] = []
    count, scores = _scores(sources, contenders, skipped)
    if not count:
        raise CommandError(f"no history in {', '.join(options.histories)}")
    say_skipped(skipped)
    table = rows(contenders, scores, options.cache_prices)
    if options.format == "json":
        head = {"version": 1, "histories": count, "skipped": len(skipped), "prices": options.cache_prices._asdict()}
        print(json.dumps({**head, "contenders": table}, indent=1))
    else:
        print_scores(counted(count, "history", "histories"), table, sys.stdout)
    return 0


def _rule_sets(given: Sequence[str], *, here: bool) -> list[Contender]:
    sets = [choose_rules([one]) for one in given] or [choose_rules([], here=here)]
    return [of_rules(chosen.name, load(chosen)) for chosen in sets]


def _scores(
    sources: Sequence[Source], contenders: Sequence[Contender], skipped: list[tuple[str, str]]
) -> tuple[int, list[Score]]:
    """Score every contender on every history; return the number of histories and the scores."""
    totals = [Score() for _ in contenders]
    count = 0
    with progress(sources) as bar:
        for source in sources:
            advance = bar(source)
            for name, content, position in read_histories(source, skipped):
                try:
                    scored = compare(content, contenders)
                except HistoryError as error:
                    skipped.append((name, str(error)))
                    continue
                count += 1
                totals = [add_scores(pair) for pair in zip(totals, scored, strict=True)]
                advance(position)
    return count, totals
