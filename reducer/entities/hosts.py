"""Find IPv4 addresses and domains in folded bytes, anchored on dots."""

from __future__ import annotations

import re

from reducer.entities.domains import NO_NAME, TLDS, fits, judge
from reducer.entities.entity import Match

_KEPT = b"abcdefghijklmnopqrstuvwxyz0123456789.-_/\\%\x81"
# The characters of hosts and paths stay, in lower case. Every dot becomes a dot, anything else a space.
MASK = bytes(46 if c == 1 else c if c in _KEPT else c + 32 if 65 <= c <= 90 else 32 for c in range(256))
_OCTET = rb"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_FOUR = rb"(?<=[0-9]\.)(?:O\.){2}O(?![0-9]|\.[0-9a-z])".replace(b"O", _OCTET)
_LAST = rb"(?:[a-z][a-z0-9-]{1,62}+|\x81{2,20}+)(?!\.?[a-z0-9\x81-]|\._|_+[a-z0-9\x81-])"
# The dots of an address and of the last label of a name, in one pass, because dots are the most frequent anchor.
_DOTS = {
    (four, name): re.compile(rb"\.(?:%b)" % b"|".join([_LAST] * name + [_FOUR] * four))
    for four in (False, True)
    for name in (False, True)
}
_OCTETS = frozenset(b"%d" % number for number in range(256))
_VERSIONS = b"version versions ver v build release rev revision firmware update patch upgrade".split()
_UNTIL = (b"before", b"prior to", b"update to", b"updated to", b"upgrade to", b"upgraded to", b"fixed in")
# What before an address shows that it is a version. It matches reversed bytes: a search would try 24 positions.
_VERSION = re.compile(
    rb"""[\"':= .()\[\]<>_-]{0,6}(?:%b)(?![a-z])|[ ]{1,2}(?:%b)(?![a-z])|[ ]{0,2}(?:=<|=>|[ ]<|,\[|,\()"""
    % tuple(b"|".join(re.escape(words[::-1]) for words in some) for some in (_VERSIONS, _UNTIL)),
    re.IGNORECASE,
)
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789")
_RELEASE = re.compile(rb" (?:and|or) (?:earlier|prior|later|below|older|newer)| release(?![a-z])", re.IGNORECASE)
_LEADS = frozenset(b"\"':= .()[]<>_-,")  # the last byte of a match of `_VERSION`, unless it is a letter
_NO_HOST = (b"0.", b"2.5.4.", b"2.5.29.")  # reserved addresses, and object ids in certificates
_ESCAPE = re.compile(rb"\\(?:[nrt]|u[0-9a-f]{4}|x[0-9a-f]{2})")
_CODED = re.compile(rb"%[0-9a-f]{2}")
_MAX_BACK = 300  # a domain has at most 253 characters; searching further back would take quadratic time


def dotted(data: bytes, mask: bytes, want_ipv4: bool, want_domain: bool) -> list[Match]:
    """Return the IPv4 addresses and the domains in `mask`, the translation of `data` by MASK without other entities."""
    found: list[Match] = []
    size = len(data)
    done = 0  # end of the last name
    path_end = 0  # no domains before the end of a path
    for m in _DOTS[want_ipv4, want_domain].finditer(mask):
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
            # Markdown: _evil.com_
            start = end - len(mask[start:end].lstrip(b"_"))
        # Most texts that are not names are paths: check the slash first, to keep paths out of the cache of `judge`.
        is_path = mask.find(b"/", start + 3, dot) >= 0 and mask.find(b"\\", start, dot) < 0
        verdict = NO_NAME if is_path else judge(data[start:end])
        if verdict == NO_NAME:
            start = -1 if is_path else _start(data, mask, start, dot)
            if start < 0:
                path_end = mask.find(b" ", end)
                if path_end < 0:
                    path_end = size
                continue
            verdict = judge(data[start:end])
            if verdict == NO_NAME:
                continue
        done = end
        if verdict and fits(data, verdict, start, end):
            canonical = mask[start:end]
            found.append((start, end, "domain", canonical if canonical != data[start:end] else b""))
    return found


def _address(data: bytes, mask: bytes, dot: int, end: int, *, found: list[Match]) -> Match | None:
    """Return the IPv4 address with its first dot at `dot`, None if the four numbers are not one."""
    start = dot - 1
    while start > 0 and dot - start < 4 and 48 <= mask[start - 1] <= 57:
        start -= 1
    if mask[start:dot] not in _OCTETS:
        return None
    defanged = 1 in data[start:end]
    if not _fits_address(data, mask, start, end, defanged=defanged, found=found):
        return None
    return start, end, "ipv4", mask[start:end] if defanged else b""


def _fits_address(data: bytes, mask: bytes, start: int, end: int, *, defanged: bool, found: list[Match]) -> bool:
    """Return whether the context of four numbers allows an address, not a version, a product or an object id.

    The end of a range is an address if its start is the last match.
    """
    after = mask[end] if end < len(mask) else 32
    if after in _LETTERS or (after == 45 and mask[end + 1 : end + 2].isalpha()):
        return False
    last = mask[start - 1] if start else 32
    before = mask[start - 2] if start > 1 else 32
    if last in _LETTERS:
        return last in b"nrt" and before == 92
    if last in b".%":
        return False
    if defanged:
        return True
    if last in b"-/":
        return before not in _LETTERS or (last == 45 and bool(found) and found[-1][1:3] == (start - 1, "ipv4"))
    if mask.startswith(_NO_HOST, start, end) and mask[start:end] != b"0.0.0.0":
        return False
    # The check of one byte comes first, because the regex takes longer than all other checks.
    if start and data[start - 1] in _LEADS and _VERSION.match(data[max(0, start - 24) : start][::-1]):
        return False
    return not data.startswith(b" ", end) or not _RELEASE.match(data, end)


def _start(data: bytes, mask: bytes, start: int, dot: int) -> int:
    """Return where a name may start in `mask[start:dot]`, after escapes, `//`, dots and dashes, -1 in a path."""
    head = mask[start:dot]
    if head[:1] == b"%" and not _CODED.match(head):  # LIKE '%evil.com%'
        start += 1
        head = head[1:]
    if b"\\" in head:
        if (data[start - 1 : start] == b":" and start) or b"\\\\" in head:
            return -1
        escapes = [m.end() for m in _ESCAPE.finditer(head)]
        if not escapes or b"\\" in _ESCAPE.sub(b"", head):
            return -1
        start += escapes[-1]
        head = head[escapes[-1] :]
    if head.startswith(b"//"):
        start += 2
        head = head[2:]
    if b"/" in head or b"%" in head:
        return -1
    return start + len(head) - len(head.lstrip(b".-"))
