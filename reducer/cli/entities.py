"""Find indicators and threat names in text and JSON, including defanged ones.

examples:
  python -m reducer entities report.txt
      each entity once, with its count and first position
  python -m reducer entities a.json --type ioc --type cve
      only these types and groups, with JSON paths
  python -m reducer entities *.txt --format jsonl
      every occurrence, one JSON object per line

Types: ipv4 ipv6 domain url email md5 sha1 sha256 sha512 cve mitre_attack
threat_actor malware tool
Only with --type: cidr ip_port mac asn cwe ghsa uuid file_name file_path
registry_key bitcoin ethereum ssdeep ja3 user_agent sha384
Groups: ip hash ioc observable
In JSON, the key of a text is evidence: the value of `version` is not an
address.
Exit codes: 0 done, 2 cannot run.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from reducer.cli.arguments import parse, parser
from reducer.cli.screen import CommandError, console, counted, make_table, suggestion
from reducer.cli.sources import choose_rules, load
from reducer.entities import Entity
from reducer.entities.entity import Scan, under_key
from reducer.entities.vocabulary import BUILT_IN
from reducer.formats import decode
from reducer.inputs.chunks import read_chunks
from reducer.inputs.sources import Source, find_sources
from reducer.paths.written import Token, path_text


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("entities", __doc__, ("--rules",), formats=("table", "jsonl"))
    add = reader.add_argument
    add("files", nargs="+", metavar="FILE", help="text, JSON, or JSON lines; - for standard input")
    add("--type", action="append", default=[], metavar="TYPE", help="only this type or group; repeatable")
    options = parse(reader, arguments)
    vocabulary = load(choose_rules(options.rules)).vocabulary if options.rules else BUILT_IN
    for name in options.type:
        if name not in vocabulary.names:
            raise CommandError(f"unknown entity type {name}; {suggestion(name, vocabulary.names)}")
    scan = vocabulary.scanner(vocabulary.expand(options.type)) if options.type else vocabulary.everything()
    sources = find_sources(options.files)
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for source in sources:
        for entity, place in _spots(source, scan):
            if options.format == "jsonl":
                print(json.dumps({**asdict(entity), "file": source.name, "place": place}))
            where = f"{source.name} {place}" if len(sources) > 1 else place
            found.setdefault((entity.type, entity.canonical), []).append((entity.value, where))
    if options.format == "table":
        _print_table(found)
    return 0


def _spots(source: Source, scan: Scan) -> Iterator[tuple[Entity, str]]:
    """Yield the entities of a file with their places: a path in JSON and JSON lines, `line:column` in a text."""
    data = b"".join(chunk.content for chunk in read_chunks(source))
    # Bytes that are not UTF-8 contain no entities, but entities may be next to them.
    text = data.decode("utf-16" if data[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig", "replace")
    value = decode(text)
    if type(value) is str:
        line, begin = 1, 0
        for entity in scan(text):
            line += text.count("\n", begin, entity.start)
            begin = entity.start
            yield entity, f"{line}:{begin - text.rfind(chr(10), 0, begin)}"
        return
    for place, key, leaf in _texts(value):
        for entity in under_key(scan, key, leaf):
            yield entity, path_text(place)


def _texts(value: Any, place: tuple[Token, ...] = (), key: str = "") -> Iterator[tuple[Sequence[Token], str, str]]:
    """Yield every text in a JSON value with its path and the key above it, and each key before its value."""
    if type(value) is str:
        yield place, key, value
    elif type(value) is list:
        for number, item in enumerate(value):
            yield from _texts(item, (*place, number), key)
    elif type(value) is dict:
        for name, item in value.items():
            yield (*place, name), key, name
            yield from _texts(item, (*place, name), name)


def _print_table(found: Mapping[tuple[str, str], Sequence[tuple[str, str]]]) -> None:
    """Print each entity once: its type, its first form, its count, and its first place."""
    if not found:
        print("no entities")
        return
    rows = []
    for (kind, _), spots in found.items():
        value, where = spots[0]
        rows.append((kind, value, f"{len(spots):,}", where))
    console().print(make_table(("Type", "Entity", "Count", "First at"), rows, texts=(0, 1, 3)))
    total = sum(map(len, found.values()))
    print(f"{counted(len(found), 'entity', 'entities')}, {counted(total, 'occurrence')}")
