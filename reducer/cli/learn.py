"""Draft rules from recorded histories. Values that an agent writes after a tool return, and can only know from it, show
what a rule must keep: which keys are never used, and how many items and characters suffice. Half of the histories (by
task) are held out, and the drafts are measured on them as if they had run while the agent worked.

examples:
  python -m reducer learn histories/                       show what can be learned and its scores; write nothing
  python -m reducer learn histories/ -o drafts/ --keep 99% write the rules; keep 99% of the values used later

Each subfolder of a given folder is a source with its own scores. Read every draft: comments state the evidence.
Exit codes: 0 done, 1 nothing to draft, 2 cannot run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reducer.analysis.drafting import Learned, Score, drafts, is_writable, learn, recorded, total
from reducer.cli.arguments import parse, parser, share
from reducer.cli.init import write_drafts
from reducer.cli.inputs import read_histories
from reducer.cli.screen import console, counted, make_table, print_lines, say
from reducer.inputs.sources import Source

_COLUMNS = ("Tool", "returns", "saved", "kept", "held out", "saved", "kept")


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("learn", __doc__)
    add = reader.add_argument
    add("histories", nargs="+", metavar="HISTORY", help="stored histories, folders, or - for standard input")
    add("-o", "--output", metavar="DIR", help="write the rule files there, and samples/ for their tests")
    keep = "share of the values used later that rules must keep (default: 95%%)"
    add("--keep", type=share, default=0.95, metavar="SHARE", help=keep)
    add("--holdout", type=share, default=0.5, metavar="SHARE", help="share of the tasks to hold out (default: 50%%)")
    options = parse(reader, arguments)
    if not options.keep:
        reader.error("argument --keep: expected a share above 0")
    if options.holdout == 1:
        reader.error("argument --holdout: expected a share below 100%")
    histories, skipped = read_histories(options.histories, lambda source, content: recorded(_group(source), content))
    learned = learn(histories, options.keep, options.holdout)
    drafted = list(drafts(learned))
    if drafted and options.output is not None:
        write_drafts(Path(options.output), drafted)
    _print_learned(learned, skipped)
    if not drafted:
        say("nothing to draft: too little evidence, or nothing to save")
        return 1
    if options.output is not None:
        say(f"wrote {counted(len(drafted), 'rule')} to {options.output}")
    return 0


def _group(source: Source) -> str:
    """Return the source of a history: its subfolder in the given folder, otherwise the folder that contains it."""
    if source.path is None:
        return source.name
    below = source.path.relative_to(source.folder).parts if source.folder else ()
    return below[0] if len(below) > 1 else source.path.absolute().parent.name or "histories"


def _print_learned(learned: Learned, skipped: int) -> None:
    """Print the scores of the rule of each tool, the scores of each source, and why other tools have no rule."""
    screen = console()
    histories = counted(len(learned.training) + len(learned.held), "history", "histories")
    screen.print(f"Read {histories}{f', skipped {skipped:,} other files or lines' if skipped else ''}.")
    split = f"Learned from {len(learned.training):,}, measured on the other {len(learned.held):,} (held-out tasks)."
    screen.print(split if learned.held else "Learned from all of them; no histories are held out to measure on.")
    *rows, last = _tool_rows(learned)
    screen.print(make_table(_COLUMNS, rows, last))
    if learned.held:
        sources = [[name, *_numbers(score)] for name, score in learned.measured.sources.items()]
        screen.print(make_table(("Source", "held out", "saved", "kept"), sources))
    reasons: dict[str, list[str]] = {}
    for one in (*learned.tools, learned.default):
        if one.rule is None:
            reasons.setdefault(one.why, []).append(one.tool)
        elif one is not learned.default and not is_writable(one.tool):
            reasons.setdefault("its name cannot be used in a rule", []).append(one.tool)
    if reasons:
        screen.print("\nTools without a rule of their own", style="bold")
        print_lines((f"{', '.join(tools)}: {why}" for why, tools in reasons.items()), screen, 2)


def _tool_rows(learned: Learned) -> list[list[str]]:
    """Return a row for each tool with a rule, a row for all other tools, and a row with the totals."""
    ruled = [one.tool for one in learned.tools if one.rule is not None]
    columns = []
    for scores in (learned.trained, learned.measured):
        others = total(score for tool, score in scores.tools.items() if tool not in ruled)
        columns.append([*(scores.tools.get(tool, Score()) for tool in ruled), others, scores.total])
    names = [*ruled, "* (all others)", "together"]
    return [[name, *_numbers(old), *_numbers(new)] for name, old, new in zip(names, *columns, strict=True)]


def _numbers(score: Score) -> list[str]:
    """Return the number of returns and the shares saved and kept."""
    kept = f"{score.retention:.1%} of {score.references:,}" if score.references else "-"
    return [f"{score.returns:,}", f"{score.saved:.1%}", kept]
