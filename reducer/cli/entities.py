"""`entities`: finds indicators and threat names in text and JSON."""

from __future__ import annotations

import json
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reducer.cli.arguments import parse, parser
from reducer.cli.inputs import Source, find_sources
from reducer.cli.messages import CommandError, suggestion
from reducer.cli.rules import choose_rules, load
from reducer.entities import Entity
from reducer.entities.aliases import types_for
from reducer.entities.entity import Scan
from reducer.entities.vocabulary import BUILT_IN, Vocabulary
from reducer.formats import decode
from reducer.screen import console, visible

_EXAMPLES = """\
examples:
  python -m reducer entities report.txt              each entity once, with its count and first position
  python -m reducer entities a.json --type ioc --type cve
                                                     only these types and groups, with JSON paths
  curl … | python -m reducer entities - --refang     read standard input; show evil[.]com as evil.com
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
        _print_lines(spots)
    else:
        _print_table(spots, options.refang, len(sources) > 1)
    return 0


@dataclass(frozen=True, slots=True)
class _Spot:
    """One entity and its position: `line:column` in a text, a path in JSON, `line:path` in JSON lines."""

    entity: Entity
    file: str
    position: str


def _scanner(vocabulary: Vocabulary, types: Sequence[str]) -> Scan:
    for name in types:
        if name not in vocabulary.names:
            near = types_for(name, vocabulary.names) or vocabulary.names
            raise CommandError(f"unknown entity type {name}; {suggestion(name, near)}")
    return vocabulary.scanner(vocabulary.expand(types)) if types else vocabulary.everything()


def _spots(source: Source, scan: Scan) -> Iterator[_Spot]:
    data = source.read()
    # Bytes that are not UTF-8 contain no entities, but may be next to some.
    text = data.decode("utf-16" if data[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig", "replace")
    values = _values(text)
    for number, value in values:
        for place, leaf in _texts(value):
            yield from (_Spot(entity, source.name, f"{number}{place}") for entity in scan(leaf))
    line, begin = 1, 0
    for entity in () if values else scan(text):
        line += text.count("\n", begin, entity.start)
        begin = entity.start
        yield _Spot(entity, source.name, f"{line}:{entity.start - text.rfind(chr(10), 0, entity.start)}")


def _values(text: str) -> list[tuple[str, Any]]:
    """Return the value of JSON, or those of JSON lines with `line:`; nothing for any other text."""
    value = decode(text)
    if type(value) is not str:
        return [("", value)]
    values = [(f"{number}:", decode(line)) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [] if any(type(value) is str for _, value in values) else values


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value with its path, a key before its value; without recursion, for deep input."""
    waiting = [("", value)]
    while waiting:
        place, item = waiting.pop()
        if type(item) is str:
            yield place or "@", item
        elif type(item) is list:
            waiting.extend((f"{place}[{index}]", inner) for index, inner in reversed(list(enumerate(item))))
        elif type(item) is dict:
            for key, inner in reversed(item.items()):
                name = key if key.isidentifier() else json.dumps(key, ensure_ascii=False)
                inside = f"{place}.{name}" if place else name
                waiting += [(inside, inner), (inside, key)]


def _print_lines(spots: Iterator[_Spot]) -> None:
    for spot in spots:
        print(json.dumps({**spot.entity._asdict(), "file": spot.file, "place": spot.position}))


def _print_table(spots: Iterator[_Spot], refang: bool, is_named: bool) -> None:
    """Print each entity once: its type, its first form, its count, and its first position."""
    from rich.table import Table
    from rich.text import Text

    seen: dict[tuple[str, str], tuple[_Spot, int]] = {}
    for spot in spots:
        key = (spot.entity.type, spot.entity.canonical)
        first, count = seen.get(key, (spot, 0))
        seen[key] = (first, count + 1)
    screen = console(sys.stdout, 200)
    if not seen:
        screen.print("no entities")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("Type", "Entity", "Count", "First at"):
        table.add_column(title, justify="right" if title == "Count" else "left", overflow="fold")
    for (kind, canonical), (spot, count) in seen.items():
        shown = canonical if refang else spot.entity.value
        place = f"{spot.file} {spot.position}" if is_named else spot.position
        table.add_row(kind, Text(visible(shown)), f"{count:,}", Text(visible(place)))
    screen.print(table)
    screen.print(f"{len(seen):,} entities, {sum(count for _, count in seen.values()):,} occurrences")
