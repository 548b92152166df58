"""Compare the scanner with other extractors on labelled documents: `python -m tests.benchmarks.peers FOLDER`.

FOLDER contains `labelled.jsonl`. The peers are packages of PyPI: `pip install iocextract ioc-finder iocsearcher`; those
that are not installed are left out. The values of all contenders, and the labels, are refanged and canonicalised by the
same function. A contender is measured on the types that it has, and a URL that is only a labelled host is not wrong.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from time import process_time

from reducer.entities import scanner

TYPES = ("ipv4", "ipv6", "domain", "url", "email", "md5", "sha1", "sha256", "cve")
OF_IOCEXTRACT = ("ipv4", "ipv6", "url", "email", "md5", "sha1", "sha256")
NAMES = {"email_addresses": "email", "ip4": "ipv4", "ip6": "ipv6", "fqdn": "domain"} | {
    f"{name}s": name for name in TYPES
}
"""The types by the names that peers give them."""
Found = Iterable[tuple[str, str]]
DOTS = re.compile(r"[ ]?[\[({]\s?\\?(?:\.|dot)\\?\s?[\])}][ ]?|\[\.|\.\]|\\\.", re.IGNORECASE)


def canonical(kind: str, value: str) -> tuple[str, str]:
    """Return a type with a refanged value in lower case, without the last slash of a URL."""
    value = DOTS.sub(".", value.strip().lower())
    value = re.sub(r"\[?@\]?|\s?[\[(]at[\])]\s?", "@", value)
    value = re.sub(r"^(?:h..ps?|meow|hxxps?)(?=\W)", lambda m: "https" if m[0].endswith("s") else "http", value)
    value = re.sub(r"^(\w+)[\[(]?:[\])]?(?:\\?/|[\[\]]){2,}", r"\1://", value)
    return kind, value.rstrip("/.,;:'\")`+*|>").replace("\\_", "_")


def host(url: str) -> str:
    """Return the host of a URL that has no path, or ""."""
    match = re.fullmatch(r"\w+://(.*?)(?::\d+)?", url)
    return match[1] if match else ""


def ours() -> Callable[[str], Found]:
    """Return the scanner of this project, with names, which costs time and finds nothing that is compared."""
    find = scanner(frozenset((*TYPES, "threat_actor", "malware")))
    return lambda text: [(entity.type, entity.value) for entity in find(text)]


def iocextract() -> Callable[[str], Found]:
    """Return iocextract, which has no domains and no CVE numbers."""
    import iocextract as peer

    def find(text: str) -> Iterator[tuple[str, str]]:
        for kind in OF_IOCEXTRACT:
            extract = getattr(peer, f"extract_{kind}s", None) or getattr(peer, f"extract_{kind}_hashes")
            options = {"refang": True} if kind in ("ipv4", "url", "email") else {}
            yield from ((kind, value) for value in extract(text, **options))

    return find


def ioc_finder() -> Callable[[str], Found]:
    """Return ioc-finder."""
    from ioc_finder import find_iocs

    return lambda text: [(NAMES.get(name, name), value) for name, values in find_iocs(text).items() for value in values]


def iocsearcher() -> Callable[[str], Found]:
    """Return iocsearcher."""
    from iocsearcher.searcher import Searcher

    search = Searcher().search_data
    return lambda text: [(NAMES.get(ioc.name, ioc.name), ioc.value) for ioc in search(text)]


def labels(document: dict, key: str) -> Iterator[tuple[str, str]]:
    """Yield the canonical labels of a document: the `expected` or the `optional` ones."""
    return (canonical(kind, value) for kind, values in document[key].items() for value in values)


def measure(find: Callable[[str], Found], documents: list[dict], types: Iterable[str]) -> dict[str, float]:
    """Return micro-averaged precision, recall and F1 of `types` in percent, false domains, and MB per second."""
    counts, seconds = Counter[str](), 0.0
    find(documents[0]["text"])  # loads lists and patterns, which is not measured
    for document in documents:
        start = process_time()
        raw = list(find(document["text"]))
        seconds += process_time() - start
        found = {canonical(kind, value) for kind, value in raw if kind in types}
        expected = {label for label in labels(document, "expected") if label[0] in types}
        labelled = {*labels(document, "expected"), *labels(document, "optional")}
        values = {value for _, value in labelled}
        false = {(kind, value) for kind, value in found - labelled if kind != "url" or host(value) not in values}
        counts.update(right=len(found & expected), missed=len(expected - found), false=len(false))
        counts.update(domains=sum(kind == "domain" for kind, _ in false))
    right, false, missed = counts["right"], counts["false"], counts["missed"]
    return {
        "precision": 100 * right / (right + false),
        "recall": 100 * right / (right + missed),
        "F1": 200 * right / (2 * right + false + missed),
        "false domains per 100": 100 * counts["domains"] / len(documents),
        "MB/s": sum(len(document["text"]) for document in documents) / seconds / 1e6,
    }


def main(folder: str) -> None:
    """Print one line for each contender."""
    documents = [json.loads(line) for line in Path(folder, "labelled.jsonl").read_bytes().splitlines()]
    contenders = (
        (ours, TYPES),
        (ours, OF_IOCEXTRACT),
        (iocextract, OF_IOCEXTRACT),
        (ioc_finder, TYPES),
        (iocsearcher, TYPES),
    )
    for make, types in contenders:
        if make is ours or find_spec(make.__name__):
            numbers = measure(make(), documents, types)
            shown = ", ".join(f"{name} {number:.1f}" for name, number in numbers.items())
            print(f"{make.__name__} ({len(types)} types): {shown}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
