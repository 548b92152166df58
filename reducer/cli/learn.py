"""`learn`: drafts rules from recorded histories."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from reducer.analysis.drafting import drafts, learn, recorded
from reducer.cli.arguments import parse, parser, share
from reducer.cli.drafts import write_drafts
from reducer.cli.inputs import Source
from reducer.cli.messages import counted, say
from reducer.cli.progress import read_histories
from reducer.cli.views.learned import as_json, print_learned

_ABOUT = """\
Draft rules from recorded histories. What agents wrote after a tool return and can only know from it shows what a rule
must keep: which keys were never used, and how many items and characters suffice. Half of the histories (by task) are
held out; the drafts are measured on them as if they had run while the agent worked.
"""
_EXAMPLES = """\
examples:
  python -m reducer learn histories/                       show what can be learned and how well it does; write nothing
  python -m reducer learn histories/ -o drafts/            write the rules to a folder; files are never overwritten
  python -m reducer learn histories/ -o drafts/ --keep 99% keep 99% of the values that the agent used later
  python -m reducer learn logs.jsonl.gz --holdout 0 -o drafts/
                                                           learn from everything, measure nothing
  python -m reducer learn histories/ --format json         numbers for another program

Subfolders of a given folder are sources; results are measured for each. Read every draft: comments state the evidence.
Exit codes: 0 done, 1 nothing to draft, 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("learn", _ABOUT, _EXAMPLES)
    add = reader.add_argument
    add("histories", nargs="+", metavar="HISTORY", help="stored histories, folders, or - for standard input")
    add("-o", "--output", metavar="DIR", help="write the drafts there: rule files, and samples/ for their tests")
    add(
        "--keep",
        type=share,
        default=0.95,
        metavar="SHARE",
        help="share of the values used later that must stay (default: 95%%)",
    )
    add("--holdout", type=share, default=0.5, metavar="SHARE", help="share of the tasks to hold out (default: 50%%)")
    add("--format", choices=("table", "json"), default="table", help="output format (default: table)")
    options = parse(reader, arguments)
    if not options.keep:
        reader.error("argument --keep: expected a share above 0")
    if options.holdout == 1:
        reader.error("argument --holdout: expected a share below 100%")
    histories, skipped = read_histories(options.histories, lambda source, content: recorded(_group(source), content))
    learned = learn(histories, options.keep, options.holdout)
    drafted = list(drafts(learned))
    if options.output is not None and drafted:
        write_drafts(Path(options.output), drafted)
    if options.format == "json":
        print(as_json(learned, skipped, [draft.file for draft in drafted] if options.output else []))
    else:
        print_learned(learned, skipped, sys.stdout)
    if options.output is not None and drafted:
        say(f"wrote {counted(len(drafted), 'rule')} to {options.output}")
    elif not drafted:
        say("nothing to draft: too little evidence, or nothing to save")
    return 0 if drafted else 1


def _group(source: Source) -> str:
    """Return the source that a history counts for: the subfolder of the given folder, otherwise its own folder."""
    if source.path is None:
        return source.name
    if source.folder:
        below = source.path.relative_to(source.folder).parts
        if len(below) > 1:
            return below[0]
    return source.path.absolute().parent.name or "histories"
