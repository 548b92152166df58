"""Find IPv4 addresses and domains in folded bytes, anchored on dots.

Text that looks like a domain may also be a file, a call, an attribute, a package, a detection name, or two sentences
without a space between them. `evidence.py` weighs the name and the text around it.
"""

from __future__ import annotations

import re

from reducer.entities.entity import Match
from reducer.entities.evidence import NO_NAME, TLDS, is_version, needed, suffices

_KEPT = b"abcdefghijklmnopqrstuvwxyz0123456789.-_/\\%\x81"
# Characters of hosts and paths become lower case, defanged dots become dots, and anything else becomes a space.
MASK = bytes(46 if c == 1 else c if c in _KEPT else c + 32 if 65 <= c <= 90 else 32 for c in range(256))
_OCTET = rb"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_FOUR = rb"(?<=[0-9]\.)(?:O\.){2}O(?![0-9]|\.[0-9a-z])".replace(b"O", _OCTET)
_LAST = rb"(?:[a-z][a-z0-9-]{1,62}+|\x81{2,20}+)(?!\.?[a-z0-9\x81-]|\._|_+[a-z0-9\x81-])"
# The last dot of a name or an address. One regex finds both, because dots are the most frequent anchor.
_DOTS = re.compile(rb"\.(?:%b|%b)" % (_LAST, _FOUR))
_OCTETS = frozenset(b"%d" % number for number in range(256))
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789")
_NO_HOST = (b"0.", b"2.5.4.", b"2.5.29.")  # reserved addresses, and object ids in certificates
_ESCAPE = re.compile(rb"\\(?:[nrt]|x[0-9A-Fa-f]{2})")
_CODED = re.compile(rb"%[0-9a-f]{2}")
_DNSMASQ = re.compile(rb"(?:address|server|local)=/\Z")
_MAX_BACK = 300  # a domain has at most 253 characters; searching further back would take quadratic time


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
        level = needed(data[start:end])
        if level == NO_NAME:
            start = _start(data, mask, start, dot, end=end)
            if start < 0:
                path_end = mask.find(b" ", end)
                if path_end < 0:
                    path_end = size
                continue
            level = needed(data[start:end])
            if level == NO_NAME:
                continue
        done = end
        if suffices(data, level, start, end, found[-1][1] if found else 0):
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
    return None if is_version(data, start, end) else address


def _start(data: bytes, mask: bytes, start: int, dot: int, *, end: int) -> int:
    """Return where a name that ends at `end` starts in `mask[start:dot]`, after escapes, `//`, dots and dashes.

    Return -1 in a path.
    """
    head = mask[start:dot]
    after = data[end : end + 1]
    if head[:1] == b"%" and (after == b"%" or not _CODED.match(head)):  # LIKE '%evil.com%'
        start += 1
        head = head[1:]
    elif (head[:2] == b"\\\\" and after == b"@") or _DNSMASQ.search(data, max(0, start - 8), start + 1):
        # \\evil.com@80\share, address=/evil.com/0.0.0.0
        start = mask.rfind(head[:1], start, start + 2) + 1
        head = mask[start:dot]
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
