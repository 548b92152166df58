"""Find indicators and threat names in text and JSON, including defanged ones.

examples:
  python -m reducer entities report.txt
      each entity once, with its count and first position
  python -m reducer entities a.json --type ioc --type cve
      only these types and groups, with JSON paths
  python -m reducer entities *.txt --format csv
      every occurrence with its file and place
  python -m reducer entities --explain report.txt
      why each name and address is a host, or why not

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

import csv
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reducer.cli.arguments import parse, parser
from reducer.cli.screen import CommandError, console, counted, make_table, print_json
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
    reader = parser("entities", __doc__, ("--rules",), formats=("table", "json", "csv"))
    add = reader.add_argument
    add("files", nargs="+", metavar="FILE", help="text, JSON, or JSON lines; - for standard input")
    add("--type", action="append", default=[], metavar="TYPE", help="only this type or group; repeatable")
    add(
        "--explain",
        action="store_true",
        help="print the evidence for and against each host, also for what is none",
    )
    options = parse(reader, arguments)
    vocabulary = load(choose_rules(options.rules)).vocabulary if options.rules else BUILT_IN
    try:
        scan = vocabulary.scanner(options.type or vocabulary.all_types)
    except ValueError as error:
        raise CommandError(str(error)) from None
    sources = find_sources(options.files)
    if options.explain:
        for source in sources:
            _explain(source)
        return 0
    rows = _rows(sources, scan)
    if options.format == "json":
        print_json([*rows])
    elif options.format == "csv":
        writer = csv.DictWriter(sys.stdout, (*Entity.__struct_fields__, "file", "place"), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        _print_table(rows, with_files=len(sources) > 1)
    return 0


def _rows(sources: Iterable[Source], scan: Scan) -> Iterator[dict[str, Any]]:
    """Yield the fields of each entity in some files, with the name of the file and the place in it."""
    for source in sources:
        for entity, place in _spots(source, scan):
            yield {**entity.to_dict(), "file": source.name, "place": place}


def _explain(source: Source) -> None:
    """Print the rows of evidence for each name and address in a file, with their points."""
    from reducer.entities.search import explained

    text = _text(source)
    value = decode(text)
    texts = [text] if type(value) is str else [f"{key}: {leaf}" if key else leaf for _, key, leaf in _texts(value)]
    for each in texts:
        for name, rows in explained(each):
            total = sum(row.points for row in rows)
            print(f"{name}: {'a host' if total > 0 else 'no host'} ({total:+})")
            for row in rows:
                print(f"  {row.points:+5}  {row.shows}")


def _text(source: Source) -> str:
    data = b"".join(chunk.content for chunk in read_chunks(source))
    # Bytes that are not UTF-8 contain no entities, but entities may be next to them.
    return data.decode("utf-16" if data[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig", "replace")


def _spots(source: Source, scan: Scan) -> Iterator[tuple[Entity, str]]:
    """Yield the entities of a file with their places: a path in JSON and JSON lines, `line:column` in a text."""
    text = _text(source)
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


def _print_table(rows: Iterable[Mapping[str, Any]], with_files: bool) -> None:
    """Print each entity once: its type, its first form, its count, and its first place."""
    first: dict[tuple[str, str], Mapping[str, Any]] = {}
    counts = Counter[tuple[str, str]]()
    for row in rows:
        key = row["type"], row["canonical"]
        first.setdefault(key, row)
        counts[key] += 1
    if not first:
        print("no entities")
        return
    lines = []
    for key, row in first.items():
        where = f"{row['file']} {row['place']}" if with_files else row["place"]
        lines.append((row["type"], row["value"], f"{counts[key]:,}", where))
    console().print(make_table(("Type", "Entity", "Count", "First at"), lines, texts=(0, 1, 3)))
    print(f"{counted(len(first), 'entity', 'entities')}, {counted(counts.total(), 'occurrence')}")
