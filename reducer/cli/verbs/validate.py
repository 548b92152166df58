"""`validate`: the structural checklist for stored histories."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reducer.cli.parser import parsed, parser
from reducer.cli.stop import Stop, say

if TYPE_CHECKING:
    from reducer.cli.histories import Source

_ABOUT = """\
Check stored histories, before or after reducing: kinds and sides, calls and their answers, ids, order, fields, timestamps.
An error is what PydanticAI refuses to load or a large provider refuses to answer; a warning is odd but accepted. Nothing is mended.
"""
_EXAMPLES = """\
examples:
  python -m reducer validate session.json          every finding with line, column, code and JSON path
  python -m reducer validate histories/ --strict   all histories below a folder; warnings count as well
  python -m reducer validate reduced.json --against session.json
                                                   and prove that one is a reduction of the other
  curl … | python -m reducer validate - --format json
                                                   from standard input, as JSON for another program
  python -m reducer validate --codes               what can be found, how grave it is, and who refuses it

A history is JSON as PydanticAI 0.2 to 2.x stores it: a list of messages, one message, a wrapper around such a list, or one of these on each line;
or a session history as chat front ends store it, which gets a lighter checklist. JSON lines are read piece by piece; .gz and .zst are read.
Exit codes: 0 no errors, 1 errors (with --strict also for warnings), 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop` where there is nothing to check."""
    reader = parser("validate", _ABOUT, _EXAMPLES)
    reader.add_argument("histories", nargs="*", metavar="HISTORY", help="stored histories, folders of them, or - for standard input")
    reader.add_argument("--against", metavar="ORIGINAL", help="check that HISTORY is a reduction of this one; of a folder, of the same files in this folder")
    reader.add_argument("--format", choices=("text", "json"), default="text", help="what is printed (default: text)")
    reader.add_argument("--most", type=int, default=20, metavar="N", help="print at most N findings of a code and file as text, 0 for all (default: 20)")
    reader.add_argument("--strict", action="store_true", help="exit with 1 for warnings too")
    reader.add_argument("--codes", action="store_true", help="print the table of codes and exit")
    options = parsed(reader, arguments)
    if options.codes:
        from reducer.validate.views import print_codes

        print_codes(sys.stdout)
        return 0
    if not options.histories:
        raise Stop("name a HISTORY to check, or - for standard input (--help shows how)")
    if options.most < 0:
        raise Stop(f"--most {options.most}: expected a number of findings, 0 for all")
    return validate(options.histories, options.against, options.format, options.most, options.strict)


def validate(names: Sequence[str], original: str | None, format: str, most: int, strict: bool) -> int:
    """Print what is found in the histories that `names` stand for and give the exit code. Raises `Stop`."""
    from reducer.cli.checking import check
    from reducer.cli.histories import gathered
    from reducer.cli.progress import progress
    from reducer.validate.views import Checked, print_json, print_text, severities

    sources, faults = gathered(names)
    if original is not None and len(sources) > 1 and not Path(original).is_dir():
        raise Stop(f"--against {original}: {len(sources):,} histories were given; expected a folder with the same files")
    kept = most if format == "text" and most else sys.maxsize
    checked: list[Checked] = []
    with progress(sources) as watch:
        for source in sources:
            look = watch(source)
            try:
                found = check(source, None if original is None else _original(original, source), kept, look)
            except Stop as stop:
                say(f"error: {stop}")
                faults += 1
                continue
            if source.folder and found.histories == found.counts.get("V003"):
                # Other JSON may stand beside histories; a file that was named is another thing.
                say(f"skipped {source.name}: {found.findings[0].message}")
            else:
                checked.append(found)
            if look is not None:
                look(source.size)
    if not checked:
        return 2
    if format == "json":
        print_json(checked, sys.stdout)
    else:
        print_text(checked, sys.stdout)
    counts = severities(checked)
    return 2 if faults else 1 if counts["error"] or (strict and counts) else 0


def _original(name: str, source: Source) -> Source:
    """Give the original of a history: the file itself, or in a folder the one that stands where the history stands in its own."""
    path = Path(name)
    if path.is_dir() and source.path is not None:
        path /= source.path.relative_to(source.folder) if source.folder else source.path.name
    return source._replace(name=str(path), path=path)
