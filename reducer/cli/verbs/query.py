"""`query`: shows what a JMESPath path finds in answers of tools."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reducer.cli.parser import parsed, parser
from reducer.cli.stop import Stop
from reducer.screen import visible

if TYPE_CHECKING:
    from reducer.cli.answers import Answer
    from reducer.path import PathError
    from reducer.report.query import Found

_ABOUT = """\
Show what a path finds in a sample, or in the tool returns of histories: each place with its value, as a rule would find it there.
An expression that names no places, such as `length(hosts)`, is evaluated. Where nothing is found, the data says why.
"""
_EXAMPLES = """\
examples:
  python -m reducer query 'hosts[*].name' answer.json
                                                   places and values in a sample: JSON or text, one answer of a tool
  python -m reducer query hosts session.json --tool 'search*'
                                                   in the returns of some tools of a history
  python -m reducer query 'hosts[?risk > `5`]' session.json --call call_7#2
                                                   in one return
  python -m reducer query 'length(hosts)' answer.json
                                                   the value of a condition
  curl … | python -m reducer query '@' - --format json

In the shell a path stands in quotes; in a path a number stands in backticks and a text in '…'.
Exit codes: 0 found, 1 found nowhere (or: holds nowhere), 2 cannot run.
"""
_WIDTH = 100


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop`."""
    reader = parser("query", _ABOUT, _EXAMPLES)
    reader.add_argument("path", metavar="PATH", help="a JMESPath expression, as `path` or a condition of a rule has it")
    reader.add_argument("files", nargs="+", metavar="FILE", help="a sample, a stored history, a folder of these, or - for standard input")
    reader.add_argument("--tool", metavar="GLOB", help="only the returns of the tools with such names")
    reader.add_argument("--call", metavar="ID", help="only the return with this call id; ID#2 is the second return that has it")
    reader.add_argument("--most", type=_count, default=20, metavar="N", help="places that are shown of one answer; all are counted (default: 20)")
    reader.add_argument("--format", choices=("text", "json"), default="text", help="what is printed; JSON has all places and whole values (default: text)")
    options = parsed(reader, arguments)
    from reducer.cli.answers import each_answer
    from reducer.path import PathError
    from reducer.report.query import Query
    from reducer.values import Unreducible

    try:
        query = Query(options.path)
    except PathError as error:
        _point(options.path, error)
        raise Stop(f"column {error.column} of the path: {error.message}") from None
    told: list[dict[str, Any]] = []
    nothing: dict[str, int] = {}
    holds = False
    for answer in each_answer(options.files, options.tool, options.call):
        try:
            found = query.ask(answer.content)
        except Unreducible as error:
            nothing[str(error)] = nothing.get(str(error), 0) + 1
            continue
        holds = holds or found.holds
        if options.format == "json":
            told.append(_as_json(answer, found, query.names_places))
        elif found.places or not query.names_places:
            _print(answer, found, query.names_places, options.most)
        else:
            why = found.nothing.message
            nothing[why] = nothing.get(why, 0) + 1
    if options.format == "json":
        print(json.dumps({"expression": options.path, "names_places": query.names_places, "answers": told}, indent=2))
        nothing = {}
    for why, count in sorted(nothing.items(), key=lambda entry: -entry[1]):
        print(f"nothing{f' in {count:,} answers' if count > 1 else ''}: {visible(why)}")
    return 0 if holds else 1


def _print(answer: Answer, found: Found, names_places: bool, most: int) -> None:
    print(visible(" ".join(filter(None, (answer.file, answer.call, answer.tool and f"({answer.tool})")))))
    if not names_places:
        print(f"  {_shortened(found.value)}")
        return
    shown = found.places[:most]
    wide = min(60, max((len(visible(place)) for place, _ in shown), default=0))
    for place, value in shown:
        print(f"  {visible(place):<{wide}}  {_shortened(value)}")
    count = len(found.places)
    left = f"; the first {most:,} are shown, `--most {count}` shows all" if count > len(shown) else ""
    print(f"  {count:,} place{'s' if count != 1 else ''}{left}")


def _as_json(answer: Answer, found: Found, names_places: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"file": answer.file, "tool": answer.tool or None, "call": answer.call or None}
    if not names_places:
        return {**told, "value": found.value}
    told |= {"count": len(found.places), "places": [{"path": place, "value": value} for place, value in found.places]}
    return {**told, "nothing": found.nothing.message or None, "meant": found.nothing.path or None}


def _shortened(value: Any) -> str:
    from reducer.report.changes import beginning
    from reducer.values import dump

    # A text stands in quotes, so that "5" is not taken for 5.
    return visible(beginning(dump(value[: 2 * _WIDTH]) if type(value) is str else value, _WIDTH))


def _point(text: str, error: PathError) -> None:
    """Show where in an expression something is wrong, if it fits a line."""
    if "\n" not in text and len(text) <= 2 * _WIDTH:
        print(f"  {visible(text)}\n  {' ' * (error.column - 1)}{'^' * error.width}", file=sys.stderr)
    if error.help:
        print(f"  help: {visible(error.help)}", file=sys.stderr)


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= len(text) <= 9 or int(text) < 1:
        raise ArgumentTypeError(f"expected a number from 1, not {text}")
    return int(text)
