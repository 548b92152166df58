"""Compare rule sets and simple baselines on recorded histories: how many
characters they save, how many entities and how many of the values that the
agent used later they keep, and what the requests cost with a prompt cache.
Everything is measured as if it had run while the agent worked.

examples:
  python -m reducer compare histories/
      ./rules (or the built-in rules) and six baselines
  python -m reducer compare a/ --rules old/ --rules new/ --baseline head:10
  python -m reducer compare histories/ --repeats
      the rules also without what earlier returns show

baselines: truncate:N (first N characters), head:N (first N items of every
list), keep-last:N (returns of the last N requests), minify (decode JSON in
texts, write it compactly), minify+cut:N (minify, then the first N characters)

Exit codes: 0 done, 2 cannot run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce

from reducer.analysis.compare import AS_RECORDED, Contender, Score, baseline, compare, of_rules, with_repeats
from reducer.analysis.measures import added
from reducer.cli.arguments import explained, parse, parser
from reducer.cli.inputs import sources_or_sample
from reducer.cli.screen import CommandError, console, counted, make_table, say_skipped
from reducer.cli.sources import choose_rules, load
from reducer.cli.views.report import saved, share
from reducer.inputs.chunks import Chunk
from reducer.inputs.recorded import read_each
from reducer.inputs.sources import Source

Scores = list[Score]
"""The score of each contender."""

_DEFAULT = ("truncate:2000", "truncate:8000", "head:5", "keep-last:5", "minify", "minify+cut:12000")
_LOSSES = ("", "Tool", "References\nlost", "Most by", "by it")
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
    by_folder: dict[str, list[Scores]] = {}
    for folder, scores in read_each(sources, partial(_scores, contenders), skipped):
        by_folder.setdefault(folder, []).append(scores)
    say_skipped(skipped)
    if not by_folder:
        raise CommandError(f"no history in {', '.join(options.histories)}")
    totals = _print_scores("Read    ", contenders, [scores for folder in by_folder.values() for scores in folder])
    if len(by_folder) > 1:
        for folder, found in sorted(by_folder.items()):
            _print_scores(folder, contenders, found)
    losses = [row for one, score in zip(contenders, totals, strict=True) for row in _losses(one, score)]
    if losses:
        console().print(make_table(_LOSSES, losses, texts=(0, 1, 3)))
    return 0


def _scores(contenders: Sequence[Contender], source: Source, line: Chunk) -> list[tuple[str, Scores]]:
    """Return the folder of a history, and the scores of the contenders."""
    folder = str(source.path.parent) if source.path else source.name
    return [(folder, compare(line.content, contenders))]


def _print_scores(title: str, contenders: Sequence[Contender], found: Sequence[Scores]) -> Scores:
    """Print the scores of the contenders on some histories, and return them."""
    totals = [reduce(added, scores) for scores in zip(*found, strict=True)]
    print(f"{title} {counted(len(found), 'history', 'histories')}\n")
    rows = [[one.name, *_cells(totals[0], score)] for one, score in zip(contenders, totals, strict=True)]
    console().print(make_table(_COLUMNS, rows))
    return totals


def _losses(contender: Contender, score: Score) -> Iterator[list[str]]:
    """Yield the cells of `_LOSSES` for each tool."""
    for tool, steps in score.lost.items():
        most = max(steps, key=steps.__getitem__)
        yield [contender.name, tool, f"{sum(steps.values()):,}", most or "several steps", f"{steps[most]:,}"]


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
