"""Show the places and values that a path selects in a sample or in the tool returns of histories, as in a rule.
An expression that names no places, such as `length(hosts)`, is evaluated. If it finds nothing, the output explains why.

examples:
  python -m reducer query 'hosts[*].name' answer.json
                                                   places and values in a sample: one answer of a tool, JSON or text
  python -m reducer query hosts session.json --tool 'search*'
                                                   in the returns of some tools of a history
  python -m reducer query 'length(hosts)' answer.json
                                                   the value of a condition

Quote the path for the shell. In a path, write numbers in backticks and texts in '…'.
Exit codes: 0 found, 1 nothing found (or the condition never holds), 2 cannot run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reducer.analysis.query import Found, compile_query, query
from reducer.analysis.texts import excerpt
from reducer.cli.arguments import integer, parse, parser
from reducer.cli.files import Selection, find_sources
from reducer.cli.screen import CommandError, counted, print_json, visible
from reducer.errors import HistoryError
from reducer.formats.json_text import read_json, read_string
from reducer.histories.stored import Return, returns
from reducer.paths import Path, PathError
from reducer.values import Unreducible, dump, loads

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a tool, with the call as `--call` names it. A sample has no call, and its tool may be empty."""

    file: str
    tool: str
    call: str
    content: Any


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("query", __doc__)
    add = reader.add_argument
    add("path", metavar="PATH", help="a JMESPath expression, as in `path` or in a condition of a rule")
    add("files", nargs="+", metavar="FILE", help="samples, stored histories, folders, or - for standard input")
    add("--tool", metavar="GLOB", help="only returns of the tools that match")
    add("--call", metavar="ID", help="only the return with this call id; ID#2 is the second return with it")
    number = integer("a number", 1)
    add("--max-places", type=number, default=20, metavar="N", help="show at most N places per answer (default: 20)")
    add("--format", choices=("text", "json"), default="text", help="json has all places and whole values")
    options = parse(reader, arguments)
    try:
        expression = compile_query(options.path)
    except PathError as error:
        help = f"; {error.help}" if error.help else ""
        raise CommandError(f"column {error.column} of the path: {error.message}{help}") from None
    names_places = isinstance(expression, Path)
    answers: list[dict[str, Any]] = []
    reasons: Counter[str] = Counter()
    holds = False
    for answer in each_answer(options.files, options.tool, options.call):
        try:
            result = query(expression, answer.content)
        except Unreducible as error:
            reasons[str(error)] += 1
            continue
        holds = holds or result.holds
        if options.format == "json":
            answers.append(_as_json(answer, result, names_places))
        elif result.places or not names_places:
            _print(answer, result, names_places, options.max_places)
        else:
            reasons[result.nothing.message] += 1
    if options.format == "json":
        print_json({"expression": options.path, "names_places": names_places, "answers": answers})
    else:
        for why, count in reasons.most_common():
            print(f"nothing found{f' in {count:,} answers' if count > 1 else ''}: {visible(why)}")
    return 0 if holds else 1


def each_answer(names: Sequence[str], tool: str | None, call: str | None = None) -> Iterator[Answer]:
    """Yield the answers that `--tool` and `--call` select in histories and samples.

    Raises `CommandError`, also if there are no answers.
    """
    selection = Selection(tool, call)
    is_found = False
    for source in find_sources(names):
        data = source.read()
        entries = _of_history(source.name, data)
        if entries is None and call is None:
            is_found = True
            yield Answer(source.name, tool or "", "", _of_sample(source.name, data))
        for entry in filter(selection.matches, entries or ()):
            is_found = True
            name = f"{entry.call_id}#{entry.nth}" if entry.nth > 1 else entry.call_id
            yield Answer(source.name, entry.tool, name, entry.content)
    if not is_found:
        raise selection.nothing_found()


def _of_history(name: str, data: bytes) -> list[Return] | None:
    """Return the reducible returns of a history or of JSON lines, or None for a sample. Raises `CommandError`."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    in_lines = len(lines) > 1 and _looks_like_history(lines[0])
    entries: list[Return] = []
    for number, text in enumerate(lines if in_lines else [data], 1):
        try:
            entries += (entry for entry in returns(text) if not entry.untouched)
        except HistoryError as error:
            if in_lines or _looks_like_history(data):
                raise CommandError(f"{name}:{number}: {error}" if in_lines else f"{name}: {error}") from None
            return None
    return entries


def _looks_like_history(data: bytes) -> bool:
    """Tell whether data is probably meant as a history: a JSON list that starts with an object with parts."""
    try:
        value = loads(data)
    except (ValueError, RecursionError):
        return False
    first = value[0] if type(value) is list and value else None
    return type(first) is dict and type(first.get("parts")) is list and ("kind" in first or "role" in first)


def _of_sample(name: str, data: bytes) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at byte {error.start + 1:,}"
        raise CommandError(f"{name}: not UTF-8 text: {byte}; expected JSON, or the text of an answer") from None
    if not text.strip():
        raise CommandError(f"{name}: empty; expected a history, or one answer of a tool")
    # Anything else is a text, including JSON that rules do not read.
    value = read_json(text)
    if value is None and text.lstrip()[:1] == '"':
        value = read_string(text)
    return text if value is None else value


def _print(answer: Answer, result: Found, names_places: bool, max_places: int) -> None:
    print(visible(" ".join(filter(None, (answer.file, answer.call, answer.tool and f"({answer.tool})")))))
    if not names_places:
        print(f"  {_shortened(result.value)}")
        return
    shown = [(visible(place), _shortened(value)) for place, value in result.places[:max_places]]
    width = min(60, max(len(place) for place, _ in shown))
    for place, value in shown:
        print(f"  {place:<{width}}  {value}")
    count = len(result.places)
    more = f"; first {max_places:,} shown, `--max-places {count}` shows all" if count > len(shown) else ""
    print(f"  {counted(count, 'place')}{more}")


def _shortened(value: Any) -> str:
    # Quote texts, so that "5" differs from 5.
    return visible(excerpt(dump(value[: 2 * _WIDTH]) if type(value) is str else value, _WIDTH))


def _as_json(answer: Answer, result: Found, names_places: bool) -> dict[str, Any]:
    source = {"file": answer.file, "tool": answer.tool or None, "call": answer.call or None}
    if not names_places:
        return {**source, "value": result.value}
    places = [{"path": place, "value": value} for place, value in result.places]
    why = {"nothing": result.nothing.message or None, "suggestion": result.nothing.path or None}
    return {**source, "count": len(places), "places": places, **why}
