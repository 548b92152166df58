"""Rule sets and baselines compared on histories: reads them, scores each, prints and draws."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from reducer.cli.floors import prices
from reducer.cli.histories import SAMPLE, Source, gathered, sample_history
from reducer.cli.output import refuse, write
from reducer.cli.progress import progress
from reducer.cli.rules import choose_rules, load
from reducer.cli.stop import Stop, say
from reducer.cli.units import read_units
from reducer.errors import HistoryError
from reducer.lines import lines_of
from reducer.measures.baselines import baseline
from reducer.measures.compare import Contender, Score, add_scores, compare, of_baseline, of_rules
from reducer.measures.cost import Prices
from reducer.report.contest import page, picture, print_scores, rows

_DEFAULT = ("truncate:2000", "truncate:8000", "head:5", "keep-last:5")


class Contest(NamedTuple):
    """What the command line asks for."""

    histories: tuple[str, ...]
    rules: tuple[str, ...]
    baselines: tuple[str, ...]
    prices: str | None
    format: str
    picture: str | None


def contest(options: Contest) -> int:
    """Print how the contenders do, draw them if asked to, and give the exit code. Raises `Stop`."""
    try:
        billed = prices(options.prices)
        baselines = [of_baseline(baseline(text)) for text in options.baselines or _DEFAULT]
    except ValueError as error:
        raise Stop(str(error)) from None
    alone = not options.histories
    contenders = [*_rule_sets(options.rules, here=not alone), *baselines]
    sources, faults = ([Source(SAMPLE, sample_history())], 0) if alone else gathered(options.histories)
    if options.picture is not None:
        if not options.picture.endswith((".svg", ".html")):
            raise Stop(f"{options.picture}: expected a name that ends in .svg or .html")
        refuse(options.picture, [source.path for source in sources])
    count, skipped, scores = _scores(sources, contenders)
    if not count:
        raise Stop(f"no history in {', '.join(options.histories)}")
    for name, why in skipped[:3]:
        say(f"skipped {name}: {why}")
    if len(skipped) > 3:
        say(f"skipped {len(skipped) - 3:,} more")
    what = f"{count:,} {'history' if count == 1 else 'histories'}"
    table = rows(contenders, scores, billed)
    if options.format == "json":
        print(json.dumps({"version": 1, "histories": count, "skipped": len(skipped), "prices": Prices._asdict(billed), "contenders": table}, indent=1))
    else:
        print_scores(what, table, sys.stdout)
    if options.picture is not None:
        drawn = picture(table) if options.picture.endswith(".svg") else page(what, table)
        write(options.picture, drawn.encode())
        if options.picture != "-":
            say(f"wrote {options.picture}")
    if alone:
        say("this was the sample: give a HISTORY to see your own (--help shows how)")
    return 2 if faults else 0


def _rule_sets(given: tuple[str, ...], *, here: bool) -> list[Contender]:
    sets = [choose_rules([one]) for one in given] or [choose_rules([], here=here)]
    names = [Path(chosen.name).name if len(given) > 1 else chosen.name for chosen in sets]
    unique = names if len(set(names)) == len(names) else [chosen.name for chosen in sets]
    return [of_rules(name, load(chosen)) for name, chosen in zip(unique, sets, strict=True)]


def _scores(sources: list[Source], contenders: list[Contender]) -> tuple[int, list[tuple[str, str]], list[Score]]:
    """Score every contender on every history; gives how many histories there were, and the names of what is none with the reason."""
    totals = [Score() for _ in contenders]
    count = 0
    skipped: list[tuple[str, str]] = []
    watch, last = None, -1
    with progress(sources) as watching:
        for number, name, content, position in each_history(sources, skipped):
            try:
                scored = compare(content, contenders)
            except HistoryError as error:
                skipped.append((name, str(error)))
                continue
            count += 1
            totals = [add_scores(pair) for pair in zip(totals, scored, strict=True)]
            for source in sources[last + 1 : number + 1]:
                watch = watching(source)
            last = max(last, number)
            if watch is not None:
                watch(position)
    return count, skipped, totals


def each_history(sources: list[Source], skipped: list[tuple[str, str]]) -> Iterator[tuple[int, str, bytes, int]]:
    """Give every stored history with the number of its source, its name, and how many bytes of the source are read; note in `skipped` what is none."""
    line = 0
    for unit in read_units(sources, {}, frozenset()):
        name = sources[unit.source].name
        if unit.form == "begin":
            line = 0
        elif unit.form == "history":
            yield unit.source, name, unit.content, unit.position
        elif unit.form == "lines":
            for start, end in lines_of(unit.content):
                line += 1
                if unit.content[start:end].strip():
                    yield unit.source, f"{name}:{line}", unit.content[start:end], unit.position
        elif unit.form == "long" and unit.ends:
            line += 1
            skipped.append((f"{name}:{line}", "longer than 16 MB"))
        elif unit.form == "fault":
            skipped.append((name, unit.message.removeprefix(f"{name}: ")))
