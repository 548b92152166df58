"""Find entities of a fixed shape: hashes, CVE numbers, ATT&CK ids, IPv6 addresses.

The anchors are literals in a translated copy of the bytes, in which each hex digit is `h` or each digit is `0`:
`bytes.find` searches 1,500 MB/s, and a regex that may start with any of 22 characters 100 MB/s.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from reducer.entities.canonical import address_of
from reducer.entities.entity import Match, may_start

# For hashes and IPv6 addresses: hex digits become `h`, other letters `w`, and anything but colons becomes a space.
HEX = bytes(
    104 if chr(c) in "0123456789abcdefABCDEF" else 119 if chr(c).isalnum() and c < 128 else 58 if c == 58 else 32
    for c in range(256)
)
_RUN = re.compile(rb"h+")
_HASHES = {32: "md5", 40: "sha1", 64: "sha256", 128: "sha512"}
# For numbers and names: letters become lower case, digits `0`, and anything else but backslashes becomes a space.
SHAPE = bytes(
    48 if 48 <= c <= 57 else c + 32 if 65 <= c <= 90 else c if 97 <= c <= 122 or c == 92 else 32 for c in range(256)
)
_NUMBER = re.compile(rb"cve {0,3}(0{4}) {1,3}(0{4,7})(?![0a-z])")
_DASHES = re.compile(rb"[ ]?[-_\x04][ ]?")  # between the parts of a CVE number
_ATTACK = re.compile(
    rb"[Tt](?:(?P<tactic>[Aa]0[0-9]{3})|(?P<technique>[01][0-9]{3})(?:(?:[./]|[\[(]\.[\])])(?P<sub>[0-9]{3})(?![0-9A-Za-z]))?)"
    rb"(?![0-9A-Za-z])"
)
_ATTACK_ANCHOR = re.compile(rb"ta?0000")
_COLONS = re.compile(rb":(?::|hh{0,3}:hh{0,3}:hh{0,3}:)")
_PORT = re.compile(rb"\.[0-9]{1,5}\Z")
_JOINED = re.compile(rb"[A-Za-z0-9_]|\x01[A-Za-z0-9]|//")  # `001:[]://` is a broken scheme
_SIX = re.compile(rb"[0-9A-Fa-f:.]{2,46}")


def hashes(data: bytes, mask: bytes) -> list[Match]:
    """Return the hashes of `data`, runs of 32, 40, 64 or 128 hex digits. `mask` is its translation by HEX."""
    found: list[Match] = []
    start = mask.find(b"h" * 32)
    while start >= 0:
        end = _RUN.match(mask, start).end()  # type: ignore[union-attr]
        kind = _HASHES.get(end - start)
        if kind and mask[end : end + 1] != b"w" and may_start(data, start):
            written = data[start:end]
            value = written.lower()
            # Only one real hash in a million has no letter, or consists of its first four digits only.
            if value.translate(None, value[:4]) and not value.isdigit():
                found.append((start, end, kind, value if value != written else b""))
        start = mask.find(b"h" * 32, end)
    return found


def identifiers(data: bytes, shape: bytes) -> list[Match]:
    """Return the CVE numbers and the ATT&CK tactics (TA0043), techniques (T1059) and sub-techniques (T1059.001).

    `shape` is the translation of `data` by SHAPE.
    """
    found: list[Match] = []
    for number in _NUMBER.finditer(shape):
        at, end = number.span()
        year, last = number.span(1)
        before = data[at + 3 : year]
        is_joined = before in (b"", b" ", b".") or _DASHES.fullmatch(before)
        if data[year] in b"12" and is_joined and _DASHES.fullmatch(data, last, number.start(2)) and may_start(data, at):
            found.append((at, end, "cve", b"CVE-%b-%b" % (data[year:last], data[number.start(2) : end])))
    for anchor in _ATTACK_ANCHOR.finditer(shape):
        at = anchor.start()
        m = _ATTACK.match(data, at)
        if m and may_start(data, at) and data[max(0, at - 4) : at].upper() != b"AML.":  # ATLAS
            canonical = m[0].upper().replace(b"/", b".").translate(None, b"[]()")
            found.append((at, m.end(), "mitre_attack", canonical if canonical != m[0] else b""))
    return found


def ipv6s(data: bytes, mask: bytes, taken: list[Match]) -> list[Match]:
    """Return the IPv6 addresses of `data` outside the matches in `taken`. `mask` is its translation by HEX."""
    found: list[Match] = []
    done = 0
    for m in _COLONS.finditer(mask):
        start = at = m.start()
        if at < done:
            continue
        while start > done and at - start < 40 and data[start - 1] in b"0123456789abcdefABCDEF:":
            start -= 1
        done = _SIX.match(data, start).end()  # type: ignore[union-attr]
        end = start + len(data[start:done].rstrip(b"."))
        if data[end - 1 : end] == b":" and data[end - 2 : end] != b"::":
            end -= 1
        port = _PORT.search(data, start, end)
        if port and not _is_ipv6(data[start:end]) and b" > " in (data[end : end + 3], data[max(0, start - 3) : start]):
            end = port.start()  # tcpdump: 2001:db8::1.443 > 2001:db8::2.51000
        value = data[start:end]
        if _JOINED.match(data, end):
            continue
        before = bisect_left(taken, (end,))
        is_taken = before > 0 and taken[before - 1][1] > start
        if not is_taken and may_start(data, start) and _is_ipv6(value):
            canonical = address_of(value.decode()).encode()
            found.append((start, end, "ipv6", canonical if canonical != value else b""))
    return found


def _is_ipv6(value: bytes) -> bool:
    """Return whether a value is an IPv6 address and not a time, a MAC address, a serial number or `a::b`."""
    if not address_of(value.decode()):
        return False
    lengths = {len(group) for group in value.split(b":")}
    if b"::" not in value:
        return lengths != {2}
    has_digit = value.translate(None, b"0123456789") != value
    return value == b"::1" or (max(lengths) > 2 and has_digit)
