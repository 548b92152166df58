"""`query`: shows what a JMESPath expression selects in answers of tools."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from reducer.analysis.query import Found, compile_query, query
from reducer.analysis.texts import excerpt
from reducer.cli.answers import Answer, each_answer
from reducer.cli.arguments import integer, parse, parser
from reducer.cli.messages import CommandError, counted
from reducer.paths import Path, PathError
from reducer.screen import visible
from reducer.values import Unreducible, dump

_ABOUT = """\
Show what a path selects in a sample or in the tool returns of histories, as a rule would: each place with its value.
An expression that names no places, such as `length(hosts)`, is evaluated. If nothing is found, the output says why.
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

Quote the path for the shell. In a path, write numbers in backticks and texts in '…'.
Exit codes: 0 found, 1 nothing found (or the condition never holds), 2 cannot run.
"""
_WIDTH = 100


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("query", _ABOUT, _EXAMPLES)
    add = reader.add_argument
    add("path", metavar="PATH", help="a JMESPath expression, as in `path` or in a condition of a rule")
    add("files", nargs="+", metavar="FILE", help="samples, stored histories, folders, or - for standard input")
    add("--tool", metavar="GLOB", help="only returns of the tools that match")
    add("--call", metavar="ID", help="only the return with this call id; ID#2 is the second return with it")
    add(
        "--max-places",
        type=integer("a number", 1),
        default=20,
        metavar="N",
        help="show at most N places per answer (default: 20)",
    )
    add(
        "--format",
        choices=("text", "json"),
        default="text",
        help="output format; json contains all places and whole values (default: text)",
    )
    options = parse(reader, arguments)
    try:
        expression = compile_query(options.path)
    except PathError as error:
        _print_error(options.path, error)
        raise CommandError(f"column {error.column} of the path: {error.message}") from None
    names_places = isinstance(expression, Path)
    written: list[dict[str, Any]] = []
    reasons: Counter[str] = Counter()
    holds = False
    for answer in each_answer(options.files, options.tool, options.call):
        try:
            found = query(expression, answer.content)
        except Unreducible as error:
            reasons[str(error)] += 1
            continue
        holds = holds or found.holds
        if options.format == "json":
            written.append(_as_json(answer, found, names_places))
        elif found.places or not names_places:
            _print(answer, found, names_places, options.max_places)
        else:
            reasons[found.nothing.message] += 1
    if options.format == "json":
        result = {"expression": options.path, "names_places": names_places, "answers": written}
        print(json.dumps(result, indent=2))
    else:
        for why, count in reasons.most_common():
            print(f"nothing found{f' in {count:,} answers' if count > 1 else ''}: {visible(why)}")
    return 0 if holds else 1


def _print(answer: Answer, found: Found, names_places: bool, max_places: int) -> None:
    print(visible(" ".join(filter(None, (answer.file, answer.call, answer.tool and f"({answer.tool})")))))
    if not names_places:
        print(f"  {_shortened(found.value)}")
        return
    shown = found.places[:max_places]
    width = min(60, max((len(visible(place)) for place, _ in shown), default=0))
    for place, value in shown:
        print(f"  {visible(place):<{width}}  {_shortened(value)}")
    count = len(found.places)
    more = f"; first {max_places:,} shown, `--max-places {count}` shows all" if count > len(shown) else ""
    print(f"  {counted(count, 'place')}{more}")


def _as_json(answer: Answer, found: Found, names_places: bool) -> dict[str, Any]:
    written: dict[str, Any] = {"file": answer.file, "tool": answer.tool or None, "call": answer.call or None}
    if not names_places:
        return {**written, "value": found.value}
    places = [{"path": place, "value": value} for place, value in found.places]
    why, suggestion = found.nothing.message or None, found.nothing.path or None
    return {**written, "count": len(places), "places": places, "nothing": why, "suggestion": suggestion}


def _shortened(value: Any) -> str:
    # A text is quoted, so that "5" differs from 5.
    return visible(excerpt(dump(value[: 2 * _WIDTH]) if type(value) is str else value, _WIDTH))


def _print_error(text: str, error: PathError) -> None:
    """Print the expression with a caret, if it fits a line."""
    if "\n" not in text and len(text) <= 2 * _WIDTH:
        print(f"  {visible(text)}\n  {' ' * (error.column - 1)}{'^' * error.width}", file=sys.stderr)
    if error.help:
        print(f"  help: {visible(error.help)}", file=sys.stderr)
