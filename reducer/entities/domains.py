"""Decide whether a name is a domain, or a file, a call, an attribute, a package, a detection name or a missing space.

A defanged name is always a domain: its author says that it is a host. For a plain name, `judge` reads the name alone,
and `fits` reads what is next to it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files


def _read_lists() -> dict[str, frozenset[bytes]]:
    lists: dict[str, list[bytes]] = {}
    words: list[bytes] = []
    for line in files("reducer.entities").joinpath("domains.txt").read_bytes().splitlines():
        if line.startswith(b"["):
            words = lists.setdefault(line[1:-1].decode(), [])
        elif not line.startswith(b"#"):
            words += line.split()
    return {name: frozenset(words) for name, words in lists.items()}


_LISTS = _read_lists()
TLDS = _LISTS["tlds"]
_AMBIGUOUS_COUNTRIES, _OPEN, _PLAIN = _LISTS["ambiguous_countries"], _LISTS["open"], _LISTS["plain"]
_FILES, _SERVICES, _SHORT = _LISTS["files"], _LISTS["services"], _LISTS["short"]
_SECOND_LEVEL, _NUMERIC, _VENDORS = _LISTS["second_level"], _LISTS["numeric"], _LISTS["vendors"]
_PACKAGE_ROOTS, _TOPS = _LISTS["package_roots"], _PLAIN | {b"ru", b"cn"}
_DETECTIONS, _ENGINES, _PRODUCTS = _LISTS["detections"], _LISTS["engines"], _LISTS["products"]
_CODE, _SELF_NAMES, _ATTRIBUTES = _LISTS["code"], _LISTS["self_names"], _LISTS["attributes"]
_HOSTED, _MEMBERS, _SERVICE_LABELS = _LISTS["hosted"], _LISTS["members"], _LISTS["service_labels"]

_NAME = re.compile(rb"[a-z0-9_\x81][a-z0-9._\x81-]*")
# How code continues after an attribute or a module.
_USED = re.compile(rb"\((?![0-9])|\[|==?| (?:[=!<>+*/-]?=|import) | is (?:not )?None(?![a-z])")
_CODE_AFTER = re.compile(rb" (?:is (?:not|None)|if|else|not in|or None|and not)(?![A-Za-z])")
_CODE_BEFORE = re.compile(
    rb"(?:(?<![A-Za-z])(?:return|assert|yield|elif|await|(?:if|and|or) not)|[A-Za-z0-9_] [=!<>]?=) \Z"
)
_OPENED, _CLOSED = frozenset((b"(", b"[", b"{", b"=", b"!", b"*", b"+")), frozenset((b")", b"]", b"}", b":"))


NO_NAME = -1
"""The verdict for a text that cannot be a host name because of its form."""
_NEVER, _ALWAYS, _UNLESS_CODE, _UNLESS_PART, _UNLESS_MEMBER = range(5)


@lru_cache(maxsize=4096)  # texts repeat their hosts
def judge(written: bytes) -> int:
    """Return the verdict for a name: NO_NAME, 0 for never a domain, otherwise which context can reject it."""
    name = written.lower()
    defanged = 1 in name
    if defanged:
        name = name.replace(b"\x01", b".")
    if not _NAME.fullmatch(name):
        return NO_NAME
    labels = name.split(b".")
    if (
        len(name) > 253
        or b"" in labels
        or b".-" in name
        or b"-." in name
        or (len(name) > 63 and max(map(len, labels)) > 63)
    ):
        return _NEVER
    return _ALWAYS if defanged else _plain_verdict(written, name, labels)


def fits(data: bytes, verdict: int, start: int, end: int) -> bool:
    """Return whether the context of `data[start:end]` allows a domain, given a verdict above 0 for the name itself."""
    if verdict == _ALWAYS:
        return True
    if _USED.match(data, end) or data[max(0, start - 7) : start] == b"import ":
        return False
    if verdict == _UNLESS_CODE:
        return True
    before = data[start - 1 : start] if start else b""
    if before in (b".", b"$", b"-"):
        return False
    if verdict == _UNLESS_PART:
        return True
    return not (
        before in _OPENED
        or data[end : end + 1] in _CLOSED
        or _CODE_AFTER.match(data, end)
        or _CODE_BEFORE.search(data, max(0, start - 12), start)
    )


def _plain_verdict(written: bytes, name: bytes, labels: list[bytes]) -> int:
    tail = labels[-1]
    owner = labels[-2]
    count = len(labels)
    if b"_" in owner or (count == 2 and (owner.isdigit() and tail not in _NUMERIC)):
        return _NEVER
    plain = (
        tail in _PLAIN
        or tail[0] == 0x81
        or (len(tail) == 2 and tail not in _AMBIGUOUS_COUNTRIES and tail not in _FILES)
        or tail[:4] == b"xn--"
    )
    if written != name and not _cased(written, labels, plain):
        return _NEVER
    if 0x81 in name:
        return _ALWAYS if plain else _NEVER
    if tail in (b"com", b"org"):
        return _ALWAYS if count > 2 or owner not in _PACKAGE_ROOTS or (tail == b"com" and owner in _VENDORS) else _NEVER
    if name in _PRODUCTS or (
        b"._" in name and any(label[:1] == b"_" and label not in _SERVICE_LABELS for label in labels[1:])
    ):
        return _NEVER
    if tail not in _PLAIN and labels[0] in _SELF_NAMES:
        return _NEVER
    sure = _ALWAYS if tail in _PLAIN else _UNLESS_CODE
    if labels[0] in _PACKAGE_ROOTS and (count == 2 or tail not in _TOPS):
        return sure if count == 2 and owner == b"gov" and plain and len(tail) == 2 else _NEVER  # gov.uk, gov.br
    if len(owner) == 1 and count == 2 and tail not in (b"net", b"co", b"cn") and name not in _SHORT:
        return _NEVER
    if count == 2 and owner in _ENGINES and tail not in _PLAIN:
        return _NEVER  # Generic.ml
    if len(tail) == 2 and count > 2 and not _DETECTIONS.isdisjoint(labels[:-1]) and owner not in _SECOND_LEVEL:
        return _NEVER
    if count > 2 and tail not in _PLAIN and labels[0].isdigit() and labels[1][:1].isdigit():
        return _NEVER  # 1.9.0a2.dev
    if plain:
        return sure
    if labels[0] == b"www" or (count > 2 and owner in _SECOND_LEVEL):
        return sure
    if tail in _FILES:
        return sure if b".".join(labels[-2:]) in _SERVICES or (count > 2 and tail == b"rs") else _NEVER
    if len(tail) > 2 and tail not in _OPEN:
        return sure if b".".join(labels[-2:]) in _SERVICES else _NEVER
    if count == 2:
        long = len(owner) > 2 or len(tail) == 2 or tail in (b"top", b"live", b"pro")
        named = owner not in _CODE and long and owner.rstrip(b"0123456789") not in _SELF_NAMES
    else:
        named = owner not in _CODE or owner in _HOSTED or (len(tail) == 2 and tail not in _MEMBERS)
    return _NEVER if not named else _UNLESS_MEMBER if tail in _ATTRIBUTES else _UNLESS_PART


def _cased(written: bytes, labels: list[bytes], plain: bool) -> bool:
    """Return whether capitals are where people write them in domains, as in GITHUB.COM or GitHub.com."""
    parts = written.split(b".")
    tail = parts[-1]
    if tail.islower():
        titled = sum(part[:1].isupper() for part in parts[:-1])
        if titled > 1 and len(tail) == 2 and labels[-2] not in _SECOND_LEVEL:
            return False  # Win32.Adware.Generic.am
        return (
            plain
            or len(tail) == 2
            or not any(part[:1].isupper() or not (part.islower() or part.isdigit()) for part in parts[-2:-1])
        )
    if written.isupper():
        # BMW.DE is a share, XXX.XXX.XXX.XXX a placeholder for an address.
        return len(set(parts)) > 1 and (plain and (len(tail) > 2 or len(parts) > 2 or len(parts[0]) > 4))
    return tail in (b"COM", b"ORG", b"Com", b"Org")
