"""Measure learned rules on tasks that they were not learned from: `python -m tests.benchmarks.learned FOLDER`.

Each subfolder is a source. Its tasks are split into five folds; the rules for each fold are learned from the others.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from reducer.analysis.compare import baseline
from reducer.analysis.drafting import Recording, learn, recorded
from reducer.analysis.drafting.evidence import Effect, RecordedReturn, Score, Scores, folds, scored, total
from reducer.analysis.drafting.from_histories import ToolDraft, score
from reducer.analysis.drafting.rule_text import compiled
from reducer.analysis.measures import size
from reducer.references import searched, searcher
from reducer.rules import Ruleset

FOLDS = 5
BLUNT = "minify+cut:12000"
KEEP = (0.95, 0.98)


def blunt(one: RecordedReturn) -> Effect:
    """Return the effect of the baseline on a return."""
    left = baseline(BLUNT).shorten(one.tool, one.content)
    return (
        Effect(size(left), one.used - searcher(one.used)(searched(left)))
        if size(left) < one.chars
        else Effect(one.chars)
    )


def each_fold(histories: Sequence[Recording]) -> Iterator[tuple[list[Recording], list[Recording]]]:
    """Yield the histories of all other folds and those of a fold, for each fold."""
    fold_of = folds(histories, FOLDS)
    for fold in range(FOLDS):
        inside, outside = ([one for one in histories if (fold_of[one.task] == fold) is here] for here in (True, False))
        yield outside, inside


def rulesets(*drafted: ToolDraft) -> dict[str, Ruleset]:
    """Compile the rules of tools."""
    return {one.tool: compiled(one.rule) for one in drafted if one.rule is not None}


def main(folder: str) -> None:
    """Print what is saved and kept in each source and in total."""
    files = sorted(Path(folder).glob("*/*.json"))
    histories = [recorded(file.parent.name, file.read_bytes()) for file in files]
    found: dict[str, list[Scores]] = defaultdict(list)
    for training, held in each_fold(histories):
        some, most = (learn(training, keep, 0) for keep in KEEP)
        found[BLUNT].append(scored(held, blunt))
        found["default rule"].append(score(held, rulesets(some.default)))
        for keep, made in zip(KEEP, (some, most), strict=True):
            found[f"--keep {keep:.0%}"].append(score(held, rulesets(*made.tools, made.default)))
    for name, scores in found.items():
        print(f"{name:18}", _shares(total(one.total for one in scores)))
        for source in sorted({source for one in scores for source in one.sources}):
            print(f"  {source:16}", _shares(total(one.sources.get(source, Score()) for one in scores)))


def _shares(score: Score) -> str:
    return f"saved {score.saved:6.1%}, kept {score.retention:6.1%} of {score.references:,}"


if __name__ == "__main__":
    main(*sys.argv[1:])
