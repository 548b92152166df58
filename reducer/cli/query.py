"""Show the places and values that a path selects in a sample or in the tool
returns of histories, as in a rule.
An expression that names no places, such as `length(hosts)`, is evaluated. If it
finds nothing, the output explains why.

examples:
  python -m reducer query 'hosts[*].name' sample.json
      places and values in a sample, JSON or text
  python -m reducer query hosts session.json --tool 'search*'
      in the returns of some tools of a history
  python -m reducer query 'length(hosts)' sample.json
      the value of a condition

Quote the path for the shell. In a path, write numbers in backticks and texts
in '…'.
Exit codes: 0 found, 1 nothing found (or the condition never holds),
2 cannot run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import indent
from typing import Any

from reducer.analysis.query import Found, Nothing, compile_query, query
from reducer.analysis.texts import excerpt
from reducer.cli.arguments import parse, parser
from reducer.cli.inputs import each_recorded
from reducer.cli.screen import CommandError, counted, visible
from reducer.formats import NOTATIONS
from reducer.inputs.recorded import Selection
from reducer.paths import Path, PathError
from reducer.values import Unreducible, dump

_WIDTH = 100


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("query", __doc__, ("--tool", "--call"))
    add = reader.add_argument
    add("path", metavar="PATH", help="a JMESPath expression, as in `path` or in a condition of a rule")
    add("files", nargs="+", metavar="FILE", help="samples, stored histories, folders, or - for standard input")
    add("--text", metavar="NOTATION", choices=NOTATIONS, help=f"how to read a plain text: {', '.join(NOTATIONS)}")
    options = parse(reader, arguments)
    notations = (options.text,) if options.text else ()
    try:
        expression = compile_query(options.path)
    except PathError as error:
        correction = f"; {error.help}" if error.help else ""
        raise CommandError(f"column {error.column} of the path: {error.message}{correction}") from None
    names_places = isinstance(expression, Path)
    reasons: Counter[str] = Counter()
    is_found = False
    for entry in each_recorded(options.files, Selection(options.tool, options.call)):
        try:
            found = query(expression, entry.content, notations)
        except Unreducible as error:
            found = Found(False, nothing=Nothing(str(error)))
        is_found |= found.holds
        if found.nothing.message:
            reasons[found.nothing.message] += 1
        else:
            tool = f"({entry.tool})" if entry.tool else ""
            print(visible(" ".join(filter(None, (entry.file, entry.call, tool)))))
            print(indent("\n".join(_places(found) if names_places else [_shortened(found.value)]), "  "))
    for why, count in reasons.most_common():
        print(f"nothing found{f' in {count:,} returns' if count > 1 else ''}: {visible(why)}")
    return 0 if is_found else 1


def _places(found: Found) -> list[str]:
    """Return a line for each place, and their number."""
    shown = [f"{visible(place)}  {_shortened(value)}" for place, value in found.places]
    return [*shown, counted(len(shown), "place")]


def _shortened(value: Any) -> str:
    # Quote texts, so that "5" differs from 5.
    return visible(excerpt(dump(value[: 2 * _WIDTH]) if type(value) is str else value, _WIDTH))
