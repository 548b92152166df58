"""`entities`: finds indicators and names of threats in any text or JSON."""

from __future__ import annotations

import json
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from reducer.cli.parser import parsed, parser
from reducer.cli.rules import choose_rules, load
from reducer.cli.stop import Stop
from reducer.codecs import decode
from reducer.entities import Entity
from reducer.entities.foreign import meant
from reducer.entities.own import BUILT_IN, Scan, Vocabulary
from reducer.screen import console, visible

_EXAMPLES = """\
examples:
  python -m reducer entities report.txt              a table: each entity once, how often, and where first
  python -m reducer entities a.json --type ioc --type cve
                                                     only these types and groups, with JSON paths
  curl … | python -m reducer entities - --refang     from standard input; evil[.]com is shown as evil.com
  python -m reducer entities *.txt --format jsonl    every occurrence as a line of JSON
  python -m reducer entities log.jsonl --rules rules --type ticket
                                                     a type that rule files describe under `entities:`

Types: ipv4 ipv6 domain url email md5 sha1 sha256 sha512 cve mitre_attack threat_actor malware; groups: ip hash ioc.
Exit codes: 0 done, 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop` for what cannot be read."""
    reader = parser("entities", "Find indicators and names of threats, defanged ones too.", _EXAMPLES)
    reader.add_argument("files", nargs="+", metavar="FILE", help="a file of text, JSON, or one JSON value a line; - is standard input")
    reader.add_argument("--type", action="append", metavar="TYPE", help="only entities of this type or group; can be given more than once")
    reader.add_argument("--rules", action="append", metavar="RULES", help="also the types of these rule files, or folders of them, as these have them")
    reader.add_argument("--refang", action="store_true", help="show values refanged in the table (JSON lines have both)")
    reader.add_argument("--format", choices=("table", "jsonl"), default="table", help="what is printed (default: table)")
    options = parsed(reader, arguments)
    vocabulary = load(choose_rules(options.rules), "read").vocabulary if options.rules else BUILT_IN
    return entities(options.files, _scan(vocabulary, options.type or ()), options.format, options.refang)


class Spot(NamedTuple):
    """One entity and where it was read: `place` is line and column in a text, the path of keys and indexes in JSON, line and path in JSON lines."""

    entity: Entity
    file: str
    place: str


def entities(files: Sequence[str], scan: Scan, format: str, refang: bool) -> int:
    """Print the entities that `scan` finds in `files` (`-` is standard input) and give the exit code. Raises `Stop` for what cannot be read."""
    spots = (spot for name in files for spot in _spots(name, _read(name), scan))
    if format == "jsonl":
        for spot in spots:
            found = spot.entity
            print(json.dumps({"type": found.type, "value": found.value, "canonical": found.canonical, "file": spot.file, "place": spot.place,
                              "start": found.start, "end": found.end}))  # fmt: skip
    else:
        _table(spots, refang, len(files) > 1)
    return 0


def _scan(vocabulary: Vocabulary, types: Sequence[str]) -> Scan:
    for name in types:
        if name not in vocabulary.names:
            near = meant(name, vocabulary.names) or get_close_matches(name, vocabulary.names, 1)
            help = f"did you mean {near[0]}?" if near else f"there are {', '.join(vocabulary.names)}"
            raise Stop(f"unknown entity type {name}: {help}")
    return vocabulary.scanner(vocabulary.expand(types)) if types else vocabulary.everything()


def _read(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise Stop(f"{name}: {error.strerror or error}") from None
    # What is no UTF-8 is no entity either: it may stand beside some.
    return data.decode("utf-16" if data[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig", "replace")


def _spots(name: str, text: str, scan: Scan) -> Iterator[Spot]:
    file = "standard input" if name == "-" else name
    value = decode(text)
    if type(value) is not str:
        yield from (Spot(entity, file, place) for place, leaf in _texts(value) for entity in scan(leaf))
        return
    values = _lines(text)
    if values:
        yield from (Spot(entity, file, f"{number}:{place}") for number, value in values for place, leaf in _texts(value) for entity in scan(leaf))
        return
    line, begin = 1, 0
    for entity in scan(text):
        line += text.count("\n", begin, entity.start)
        begin = entity.start
        yield Spot(entity, file, f"{line}:{entity.start - text.rfind(chr(10), 0, entity.start)}")


def _lines(text: str) -> list[tuple[int, Any]]:
    """Give the JSON objects and lists of a text that has one a line, each with its line number; nothing for any other text."""
    values = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            value = decode(line)
            if type(value) is str:
                return []
            values.append((number, value))
    return values


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Give every text in a JSON value with its path, keys before what they hold; without recursion, as input may be deep."""
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


def _table(spots: Iterator[Spot], refang: bool, named: bool) -> None:
    """Print each entity once: its type, how it is written first, how often it stands there, and where first."""
    from rich.table import Table
    from rich.text import Text

    seen: dict[tuple[str, str], tuple[Spot, int]] = {}
    for spot in spots:
        key = (spot.entity.type, spot.entity.canonical)
        first, count = seen.get(key, (spot, 0))
        seen[key] = (first, count + 1)
    screen = console(sys.stdout, 200)
    if not seen:
        screen.print("no entities")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("Type", "Entity", "Times", "First at"):
        table.add_column(title, justify="right" if title == "Times" else "left", overflow="fold")
    for (kind, canonical), (spot, count) in seen.items():
        shown = canonical if refang else spot.entity.value
        table.add_row(kind, Text(visible(shown)), f"{count:,}", Text(visible(f"{spot.file} {spot.place}" if named else spot.place)))
    screen.print(table)
    screen.print(f"{len(seen):,} entities, {sum(count for _, count in seen.values()):,} times")
