"""`entities`: finds indicators and threat names in text and JSON."""

from __future__ import annotations

import json
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from reducer.cli.arguments import parse, parser
from reducer.cli.inputs import Source, find_sources
from reducer.cli.messages import CommandError, suggestion
from reducer.cli.rules import choose_rules, load
from reducer.entities import Entity
from reducer.entities.entity import Scan, types_for
from reducer.entities.vocabulary import BUILT_IN, Vocabulary
from reducer.formats import decode
from reducer.paths.written import Token, path_text
from reducer.screen import console, visible

_Spot = tuple[Entity, str, str]
"""An entity, its file and its position."""
_EXAMPLES = """\
examples:
  python -m reducer entities report.txt              each entity once, with its count and first position
  python -m reducer entities a.json --type ioc --type cve
                                                     only these types and groups, with JSON paths
  python -m reducer entities *.txt --format jsonl    every occurrence as a line of JSON

Types: ipv4 ipv6 domain url email md5 sha1 sha256 sha512 cve mitre_attack threat_actor malware; groups: ip hash ioc.
Exit codes: 0 done, 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("entities", "Find indicators and threat names, also defanged ones.", _EXAMPLES)
    add = reader.add_argument
    add("files", nargs="+", metavar="FILE", help="text, JSON, or JSON lines; - for standard input")
    add("--type", action="append", default=[], metavar="TYPE", help="only this type or group; can be repeated")
    add("--rules", action="append", default=[], metavar="DIR|FILE", help="also use the types that rules define")
    add("--refang", action="store_true", help="show refanged values in the table (JSON lines have both)")
    add("--format", choices=("table", "jsonl"), default="table", help="output format (default: table)")
    options = parse(reader, arguments)
    vocabulary = load(choose_rules(options.rules), "read").vocabulary if options.rules else BUILT_IN
    scan = _scanner(vocabulary, options.type)
    sources = find_sources(options.files)
    spots = (spot for source in sources for spot in _spots(source, scan))
    if options.format == "jsonl":
        for entity, file, position in spots:
            print(json.dumps({**entity._asdict(), "file": file, "place": position}))
    else:
        _print_table(spots, options.refang, len(sources) > 1)
    return 0


def _scanner(vocabulary: Vocabulary, types: Sequence[str]) -> Scan:
    for name in types:
        if name not in vocabulary.names:
            near = types_for(name, vocabulary.names) or vocabulary.names
            raise CommandError(f"unknown entity type {name}; {suggestion(name, near)}")
    return vocabulary.scanner(vocabulary.expand(types)) if types else vocabulary.everything()


def _spots(source: Source, scan: Scan) -> Iterator[_Spot]:
    """Yield the entities of a file with their positions: `line:column` in a text, a path in JSON, or `line:path`."""
    data = source.read()
    # Bytes that are not UTF-8 contain no entities, but may be next to some.
    text = data.decode("utf-16" if data[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig", "replace")
    values = _values(text)
    for number, value in values:
        for place, leaf in _texts(value):
            yield from ((entity, source.name, f"{number}{path_text(place)}") for entity in scan(leaf))
    line, begin = 1, 0
    for entity in () if values else scan(text):
        line += text.count("\n", begin, entity.start)
        begin = entity.start
        yield entity, source.name, f"{line}:{begin - text.rfind(chr(10), 0, begin)}"


def _values(text: str) -> list[tuple[str, Any]]:
    """Return the value of JSON, or those of JSON lines with `line:`; nothing for any other text."""
    value = decode(text)
    if type(value) is not str:
        return [("", value)]
    values = [(f"{number}:", decode(line)) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [] if any(type(value) is str for _, value in values) else values


def _texts(value: Any) -> Iterator[tuple[Sequence[Token], str]]:
    """Yield every text in a JSON value with its path, a key before its value; without recursion, for deep input."""
    waiting: list[tuple[tuple[Token, ...], Any]] = [((), value)]
    while waiting:
        place, item = waiting.pop()
        if type(item) is str:
            yield place, item
        elif type(item) is list:
            waiting.extend(((*place, index), inner) for index, inner in reversed(list(enumerate(item))))
        elif type(item) is dict:
            for key, inner in reversed(item.items()):
                waiting += [((*place, key), inner), ((*place, key), key)]


def _print_table(spots: Iterator[_Spot], refang: bool, is_named: bool) -> None:
    """Print each entity once: its type, its first form, its count, and its first position."""
    from rich.table import Table
    from rich.text import Text

    first: dict[tuple[str, str], _Spot] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for spot in spots:
        key = (spot[0].type, spot[0].canonical)
        first.setdefault(key, spot)
        counts[key] += 1
    screen = console(sys.stdout, 200)
    if not first:
        screen.print("no entities")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("Type", "Entity", "Count", "First at"):
        table.add_column(title, justify="right" if title == "Count" else "left", overflow="fold")
    for key, (entity, file, position) in first.items():
        shown, place = entity.canonical if refang else entity.value, f"{file} {position}" if is_named else position
        table.add_row(entity.type, Text(visible(shown)), f"{counts[key]:,}", Text(visible(place)))
    screen.print(table)
    screen.print(f"{len(first):,} entities, {counts.total():,} occurrences")
