"""Run the published extractors over texts: `python peers.py TEXTS.json`, in an environment that has them; standard
library besides.

TEXTS.json holds a list of texts. Prints for each extractor `{"name", "types", "found": [[[type, value], ...] per text],
"seconds", "stuck"}`; a text that takes longer than LIMIT is given up and counted as stuck.
"""

from __future__ import annotations

import importlib.metadata
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

LIMIT = 20  # seconds a text
Pair = tuple[str, str]


def ioc_finder() -> Callable[[str], list[Pair]]:
    """Give ioc-finder as a function from text to types and values; it has no techniques."""
    from ioc_finder import find_iocs

    keys = {
        "ipv4s": "ipv4", "ipv6s": "ipv6", "domains": "domain", "urls": "url", "email_addresses": "email", "md5s": "md5", "sha1s": "sha1",
        "sha256s": "sha256", "cves": "cve",
    }  # fmt: skip

    def extract(text: str) -> list[Pair]:
        found = find_iocs(text)
        return [(kind, value) for key, kind in keys.items() for value in found.get(key, ())]

    return extract


def iocextract() -> Callable[[str], list[Pair]]:
    """Give iocextract as a function from text to types and values; it has no domains, CVE numbers and techniques."""
    import iocextract as peer

    sizes = {32: "md5", 40: "sha1", 64: "sha256"}

    def pairs(text: str) -> Iterator[Pair]:
        yield from (("url", value) for value in peer.extract_urls(text, refang=True))
        yield from (("ipv4", value) for value in peer.extract_ipv4s(text, refang=True))
        yield from (("ipv6", value) for value in peer.extract_ipv6s(text))
        yield from (("email", value) for value in peer.extract_emails(text, refang=True))
        yield from ((sizes[len(value)], value) for value in peer.extract_hashes(text) if len(value) in sizes)

    return lambda text: list(pairs(text))


class Stuck(Exception):
    """A text took longer than LIMIT."""


def stop(_number: int, _frame: FrameType | None) -> None:
    """Give the text up."""
    raise Stuck


def main(path: str) -> None:
    """Print what each extractor finds, one line of JSON each."""
    texts = json.loads(Path(path).read_text(encoding="utf-8"))
    signal.signal(signal.SIGALRM, stop)
    plain = ["ipv4", "ipv6", "url", "email", "md5", "sha1", "sha256"]
    for name, make, types in (("ioc-finder", ioc_finder, [*plain, "domain", "cve"]), ("iocextract", iocextract, plain)):
        extract = make()
        found: list[list[Pair]] = []
        stuck = 0
        start = time.process_time()
        for text in texts:
            signal.alarm(LIMIT)
            try:
                found.append(extract(text))
            except Stuck:
                stuck += 1
                found.append([])
            finally:
                signal.alarm(0)
        seconds = time.process_time() - start
        print(
            json.dumps(
                {
                    "name": f"{name} {importlib.metadata.version(name)}",
                    "types": types,
                    "found": found,
                    "seconds": seconds,
                    "stuck": stuck,
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1])
