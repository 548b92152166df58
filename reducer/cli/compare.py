"""`compare`: compares rule sets and simple baselines on the same histories."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from reducer.analysis.compare import AS_RECORDED, Contender, Score, add_scores, baseline, compare, of_rules
from reducer.cli.arguments import add_cache_prices, parse, parser
from reducer.cli.dry_run import read_prices
from reducer.cli.inputs import SAMPLE, Source, find_sources, read_histories
from reducer.cli.messages import CommandError, counted, say, say_skipped
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
  python -m reducer compare                                the bundled sample history with the bundled rules
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
    add("--baseline", action="append", metavar="NAME:N", help="a baseline; can be repeated")
    add_cache_prices(reader)
    add("--format", choices=("table", "json"), default="table", help="output format (default: table)")
    options = parse(reader, arguments)
    prices = read_prices(options.cache_prices)
    try:
        baselines = [baseline(text) for text in options.baseline or _DEFAULT]
    except ValueError as error:
        raise CommandError(str(error)) from None
    contenders = [AS_RECORDED, *_rule_sets(options.rules, here=bool(options.histories)), *baselines]
    sources, errors = find_sources(options.histories) if options.histories else ([SAMPLE], 0)
    skipped: list[tuple[str, str]] = []
    count, scores = _scores(sources, contenders, skipped)
    if not count:
        raise CommandError(f"no history in {', '.join(options.histories)}")
    say_skipped(skipped)
    table = rows(contenders, scores, prices)
    if options.format == "json":
        head = {"version": 1, "histories": count, "skipped": len(skipped), "prices": prices._asdict()}
        print(json.dumps({**head, "contenders": table}, indent=1))
    else:
        print_scores(counted(count, "history", "histories"), table, sys.stdout)
    if not options.histories:
        say("this was the sample; give a HISTORY to see your own (--help shows how)")
    return 2 if errors else 0


def _rule_sets(given: Sequence[str], *, here: bool) -> list[Contender]:
    sets = [choose_rules([one]) for one in given] or [choose_rules([], here=here)]
    names = [Path(chosen.name).name if len(given) > 1 else chosen.name for chosen in sets]
    unique = names if len(set(names)) == len(names) else [chosen.name for chosen in sets]
    return [of_rules(name, load(chosen)) for name, chosen in zip(unique, sets, strict=True)]


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
                totals = list(map(add_scores, totals, scored))
                advance(position)
    return count, totals
