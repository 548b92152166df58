"""Compare rule sets and simple baselines on recorded histories: how many characters they save, how many entities and
how many of the values that the agent used later they keep, and what the requests cost with a prompt cache. Everything
is measured as if it had run while the agent worked.

examples:
  python -m reducer compare histories/                     ./rules (or the built-in rules) and six baselines
  python -m reducer compare histories/ --rules old/ --rules new/ --baseline truncate:8000
  python -m reducer compare histories/ --repeats           the rules also without what earlier returns show

baselines: truncate:N (first N characters), head:N (first N items of every list), keep-last:N (returns of the last N
requests), minify (decode JSON in texts, write it compactly), minify+cut:N (minify, then the first N characters)

Exit codes: 0 done, 2 cannot run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from reducer.analysis.compare import AS_RECORDED, Score, baseline, compare, of_rules, with_repeats
from reducer.analysis.measures import added
from reducer.cli.arguments import explained, parse, parser
from reducer.cli.inputs import sources_or_sample
from reducer.cli.screen import CommandError, console, counted, make_table, say_skipped
from reducer.cli.sources import choose_rules, load
from reducer.cli.views.report import saved, share
from reducer.inputs.recorded import read_each

_DEFAULT = ("truncate:2000", "truncate:8000", "head:5", "keep-last:5", "minify", "minify+cut:12000")
_COLUMNS = ("", "Characters", "Saved", "References\nkept", "Entities\nkept", "Cached\ncost", "Prefix\nchanges")


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("compare", __doc__, ("histories", "--rules"))
    reader.add_argument(
        "--baseline", action="append", type=explained(baseline), metavar="NAME:N", help="a baseline; can be repeated"
    )
    repeats = "also compare each rule set without what earlier returns of a history show"
    reader.add_argument("--repeats", action="store_true", help=repeats)
    options = parse(reader, arguments)
    baselines = options.baseline or map(baseline, _DEFAULT)
    chosen = [choose_rules([one]) for one in options.rules] or [choose_rules([], for_sample=not options.histories)]
    contenders = [AS_RECORDED]
    for one in chosen:
        ruleset = load(one)
        contenders.append(of_rules(one.name, ruleset))
        if options.repeats:
            contenders.append(with_repeats(one.name, ruleset))
    contenders += baselines
    sources = sources_or_sample(options.histories)
    skipped: list[str] = []
    scored = list(read_each(sources, lambda _, line: [compare(line.content, contenders)], skipped))
    say_skipped(skipped)
    if not scored:
        raise CommandError(f"no history in {', '.join(options.histories)}")
    scores = [reduce(added, of_contender) for of_contender in zip(*scored, strict=True)]
    print(f"Read     {counted(len(scored), 'history', 'histories')}\n")
    rows = [[one.name, *_cells(scores[0], score)] for one, score in zip(contenders, scores, strict=True)]
    console().print(make_table(_COLUMNS, rows))
    return 0


def _cells(recorded: Score, score: Score) -> list[str]:
    """Return the cells of `_COLUMNS` after the name, as shares of what is `recorded`."""
    cached = recorded.cost.cached
    return [
        f"{score.characters:,}",
        saved(recorded.characters, score.characters),
        share(score.references, recorded.references),
        share(score.entities, recorded.entities),
        f"{score.cost.cached / cached:.1%}" if cached else "-",
        f"{score.cost.changes:,}",
    ]
