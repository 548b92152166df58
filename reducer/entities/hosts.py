"""Find IPv4 addresses and domains in folded bytes, anchored on dots.

Text that looks like a domain may also be a file, a call, an attribute, a package, a detection name, or two sentences
without a space between them. `_judge` checks the name alone, and `_fits` checks the text around it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from reducer.entities.entity import Match, word_lists

_LISTS = word_lists()
TLDS = _LISTS[b"tlds"]
_AMBIGUOUS_COUNTRIES, _OPEN, _PLAIN = _LISTS[b"ambiguous_countries"], _LISTS[b"open"], _LISTS[b"plain"]
_FILES, _SERVICES, _SHORT = _LISTS[b"files"], _LISTS[b"services"], _LISTS[b"short"]
_SECOND_LEVEL, _NUMERIC, _VENDORS = _LISTS[b"second_level"], _LISTS[b"numeric"], _LISTS[b"vendors"]
_PACKAGE_ROOTS, _TOPS = _LISTS[b"package_roots"], _PLAIN | {b"ru", b"cn"}
_DETECTIONS, _ENGINES, _PRODUCTS = _LISTS[b"detections"], _LISTS[b"engines"], _LISTS[b"products"]
_CODE, _SELF_NAMES, _ATTRIBUTES = _LISTS[b"code"], _LISTS[b"self_names"], _LISTS[b"attributes"]
_HOSTED, _MEMBERS, _SERVICE_LABELS = _LISTS[b"hosted"], _LISTS[b"members"], _LISTS[b"service_labels"]

_NAME = re.compile(rb"[a-z0-9_\x81][a-z0-9._\x81-]*")
# Code after an attribute or a module.
_USED = re.compile(rb"\((?![0-9])|\[|==?| (?:[=!<>+*/-]?=|import) | is (?:not )?None(?![a-z])")
_CODE_AFTER = re.compile(rb" (?:is (?:not|None)|if|else|not in|or None|and not)(?![A-Za-z])")
_CODE_BEFORE = re.compile(
    rb"(?:(?<![A-Za-z])(?:return|assert|yield|elif|await|(?:if|and|or) not)|[A-Za-z0-9_] [=!<>]?=) \Z"
)
_OPENED, _CLOSED = frozenset((b"(", b"[", b"{", b"=", b"!", b"*", b"+")), frozenset((b")", b"]", b"}", b":"))
_KEPT = b"abcdefghijklmnopqrstuvwxyz0123456789.-_/\\%\x81"
# Characters of hosts and paths become lower case, defanged dots become dots, and anything else becomes a space.
MASK = bytes(46 if c == 1 else c if c in _KEPT else c + 32 if 65 <= c <= 90 else 32 for c in range(256))
_OCTET = rb"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_FOUR = rb"(?<=[0-9]\.)(?:O\.){2}O(?![0-9]|\.[0-9a-z])".replace(b"O", _OCTET)
_LAST = rb"(?:[a-z][a-z0-9-]{1,62}+|\x81{2,20}+)(?!\.?[a-z0-9\x81-]|\._|_+[a-z0-9\x81-])"
# The last dot of a name or an address. One regex finds both, because dots are the most frequent anchor.
_DOTS = re.compile(rb"\.(?:%b|%b)" % (_LAST, _FOUR))
_OCTETS = frozenset(b"%d" % number for number in range(256))
_VERSIONS = b"version versions ver v build release rev revision firmware update patch upgrade".split()
_UNTIL = (b"before", b"prior to", b"update to", b"updated to", b"upgrade to", b"upgraded to", b"fixed in")
# Text before an address that shows that it is a version. It matches reversed bytes: a search would try 24 positions.
_VERSION = re.compile(
    rb"""[\"':= .()\[\]<>_-]{0,6}(?:%b)(?![a-z])|[ ]{1,2}(?:%b)(?![a-z])|[ ]{0,2}(?:=<|=>|[ ]<|,\[|,\()"""
    % tuple(b"|".join(re.escape(words[::-1]) for words in some) for some in (_VERSIONS, _UNTIL)),
    re.IGNORECASE,
)
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789")
_RELEASE = re.compile(rb" (?:and|or) (?:earlier|prior|later|below|older|newer)| release(?![a-z])", re.IGNORECASE)
_LEADS = frozenset(b"\"':= .()[]<>_-,")  # the last byte of a match of `_VERSION`, unless it is a letter
_NO_HOST = (b"0.", b"2.5.4.", b"2.5.29.")  # reserved addresses, and object ids in certificates
_ESCAPE = re.compile(rb"\\(?:[nrt]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})")
_CODED = re.compile(rb"%[0-9a-f]{2}")
_MAX_BACK = 300  # a domain has at most 253 characters; searching further back would take quadratic time

# Verdicts: not a name, never a domain, always a domain, or a domain unless the context shows otherwise.
_NO_NAME, _NEVER, _ALWAYS, _UNLESS_CODE, _UNLESS_PART, _UNLESS_MEMBER = range(-1, 5)


def addresses_and_domains(data: bytes, mask: bytes) -> list[Match]:
    """Return the IPv4 addresses and domains of `data`.

    `mask` is its translation by MASK, in which spaces replace entities that are already known.
    """
    found: list[Match] = []
    size = len(data)
    done = 0  # end of the last name
    path_end = 0  # no domains before the end of a path
    for m in _DOTS.finditer(mask):
        dot, end = m.span()
        if mask[dot + 1] < 58:  # a digit
            address = _address(data, mask, dot, end, found=found)
            if address:
                found.append(address)
            continue
        if dot < path_end or (mask[dot + 1 : end] not in TLDS and mask[dot + 1] != 0x81):
            continue
        low = max(done, dot - _MAX_BACK)
        start = mask.rfind(b" ", low, dot) + 1
        if not start:
            if low and low != done:
                continue
            start = low
        if mask[end : end + 1] == b"_":
            if mask[start] != 95:
                continue
            start = end - len(mask[start:end].lstrip(b"_"))  # Markdown: _evil.com_
        # Most of the texts that are not names are paths. This check keeps them out of the cache of `_judge`.
        is_path = mask.find(b"/", start + 3, dot) >= 0 and mask.find(b"\\", start, dot) < 0
        verdict = _NO_NAME if is_path else _judge(data[start:end])
        if verdict == _NO_NAME:
            start = -1 if is_path else _start(data, mask, start, dot)
            if start < 0:
                path_end = mask.find(b" ", end)
                if path_end < 0:
                    path_end = size
                continue
            verdict = _judge(data[start:end])
            if verdict == _NO_NAME:
                continue
        done = end
        if verdict and _fits(data, verdict, start, end):
            canonical = mask[start:end]
            found.append((start, end, "domain", canonical if canonical != data[start:end] else b""))
    return found


def _address(data: bytes, mask: bytes, dot: int, end: int, *, found: list[Match]) -> Match | None:
    """Return the IPv4 address with its first dot at `dot`, None for a version, a product, an object id and the like.

    The second address of a range is an address if the first one is the last element of `found`.
    """
    start = dot - 1
    while start > 0 and dot - start < 4 and 48 <= mask[start - 1] <= 57:
        start -= 1
    if mask[start:dot] not in _OCTETS:
        return None
    after = mask[end] if end < len(mask) else 32
    if after in _LETTERS or (after == 45 and mask[end + 1 : end + 2].isalpha()):
        return None
    address = (start, end, "ipv4", mask[start:end] if 1 in data[start:end] else b"")
    last = mask[start - 1] if start else 32
    before = mask[start - 2] if start > 1 else 32
    if last in _LETTERS:
        return address if last in b"nrt" and before == 92 else None
    if last in b".%":
        return None
    if address[3]:
        return address
    if last in b"-/":
        is_range = last == 45 and bool(found) and found[-1][1:3] == (start - 1, "ipv4")
        return address if is_range or before not in _LETTERS else None
    if mask.startswith(_NO_HOST, start, end) and mask[start:end] != b"0.0.0.0":
        return None
    # The check of one byte runs first, because the regex takes longer than all other checks.
    if start and data[start - 1] in _LEADS and _VERSION.match(data[max(0, start - 24) : start][::-1]):
        return None
    return None if data.startswith(b" ", end) and _RELEASE.match(data, end) else address


def _start(data: bytes, mask: bytes, start: int, dot: int) -> int:
    """Return where a name starts in `mask[start:dot]`, after escapes, `//`, dots and dashes, or -1 in a path."""
    head = mask[start:dot]
    if head[:1] == b"%" and not _CODED.match(head):  # LIKE '%evil.com%'
        start += 1
        head = head[1:]
    if b"\\" in head:
        if (data[start - 1 : start] == b":" and start) or b"\\\\" in head:
            return -1
        # `\T` is not an escape, but the mask contains `\t` for it.
        escapes = [m.end() for m in _ESCAPE.finditer(data, start, dot)]
        if not escapes or b"\\" in _ESCAPE.sub(b"", data[start:dot]):
            return -1
        start = escapes[-1]
        head = mask[start:dot]
    if head.startswith(b"//"):
        start += 2
        head = head[2:]
    if b"/" in head or b"%" in head:
        return -1
    return start + len(head) - len(head.lstrip(b".-"))


@lru_cache(maxsize=4096)  # texts repeat their hosts
def _judge(written: bytes) -> int:
    """Return the verdict for a name alone. A defanged name is always a domain, because its author marked it as one."""
    name = written.lower()
    defanged = 1 in name
    if defanged:
        name = name.replace(b"\x01", b".")
    if not _NAME.fullmatch(name):
        return _NO_NAME
    labels = name.split(b".")
    if len(name) > 253 or b"" in labels or b".-" in name or b"-." in name or max(map(len, labels)) > 63:
        return _NEVER
    return _ALWAYS if defanged else _plain_verdict(written, name, labels)


def _fits(data: bytes, verdict: int, start: int, end: int) -> bool:
    """Return whether the text around `data[start:end]` allows a domain. `verdict` is positive."""
    if verdict == _ALWAYS:
        return True
    if _USED.match(data, end) or data[max(0, start - 7) : start] == b"import ":
        return False
    if verdict == _UNLESS_CODE:
        return True
    before = data[start - 1 : start]
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
    is_clear = (  # the top-level domain indicates a host
        tail in _PLAIN
        or tail[0] == 0x81
        or (len(tail) == 2 and tail not in _AMBIGUOUS_COUNTRIES and tail not in _FILES)
        or tail[:4] == b"xn--"
    )
    if written != name and not _is_host_case(written, labels, is_clear):
        return _NEVER
    if 0x81 in name:
        return _ALWAYS if is_clear else _NEVER
    if tail in (b"com", b"org"):
        return _ALWAYS if count > 2 or owner not in _PACKAGE_ROOTS or (tail == b"com" and owner in _VENDORS) else _NEVER
    is_government = owner == b"gov" and is_clear and len(tail) == 2  # gov.uk, gov.br
    if (
        name in _PRODUCTS
        or (b"._" in name and any(label[:1] == b"_" and label not in _SERVICE_LABELS for label in labels[1:]))
        or (tail not in _PLAIN and labels[0] in _SELF_NAMES)
        or (count == 2 and owner in _PACKAGE_ROOTS and not is_government)
        or (count == 2 and len(owner) == 1 and tail not in (b"net", b"co", b"cn") and name not in _SHORT)
        or (count == 2 and owner in _ENGINES and tail not in _PLAIN)  # Generic.ml
        or (count > 2 and labels[0] in _PACKAGE_ROOTS and tail not in _TOPS)
        or (count > 2 and len(tail) == 2 and owner not in _SECOND_LEVEL and not _DETECTIONS.isdisjoint(labels[:-1]))
        or (count > 2 and tail not in _PLAIN and labels[0].isdigit() and labels[1][:1].isdigit())  # 1.9.0a2.dev
    ):
        return _NEVER
    if (
        is_clear
        or labels[0] == b"www"
        or b".".join(labels[-2:]) in _SERVICES
        or (count > 2 and (owner in _SECOND_LEVEL or tail == b"rs"))
    ):
        return _ALWAYS if tail in _PLAIN else _UNLESS_CODE
    if tail in _FILES or (len(tail) > 2 and tail not in _OPEN):
        return _NEVER
    if count == 2:
        long = len(owner) > 2 or len(tail) == 2 or tail in (b"top", b"live", b"pro")
        named = owner not in _CODE and long and owner.rstrip(b"0123456789") not in _SELF_NAMES
    else:
        named = owner not in _CODE or owner in _HOSTED or (len(tail) == 2 and tail not in _MEMBERS)
    return _NEVER if not named else _UNLESS_MEMBER if tail in _ATTRIBUTES else _UNLESS_PART


def _is_host_case(written: bytes, labels: list[bytes], is_clear: bool) -> bool:
    """Return whether capitals are where people write them in domains, as in GITHUB.COM or GitHub.com."""
    parts = written.split(b".")
    tail = parts[-1]
    if tail.islower():
        capitalised = sum(part[:1].isupper() for part in parts[:-1])
        if capitalised > 1 and len(tail) == 2 and labels[-2] not in _SECOND_LEVEL:
            return False  # Win32.Adware.Generic.am
        return is_clear or len(tail) == 2 or parts[-2].islower() or parts[-2].isdigit()
    if written.isupper():
        # BMW.DE is a share, XXX.XXX.XXX.XXX a placeholder for an address.
        return len(set(parts)) > 1 and is_clear and (len(tail) > 2 or len(parts) > 2 or len(parts[0]) > 4)
    return tail in (b"COM", b"ORG", b"Com", b"Org")
