"""Find IPv4 addresses and domains in folded bytes, anchored on dots.

Text that looks like a domain may also be a file, a call, an attribute, a package, a detection name, or two sentences
without a space between them. `evidence.py` weighs the name and the text around it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from sys import intern

from reducer.entities.entity import Match, may_start
from reducer.entities.evidence import NO_NAME, PLAIN, TLDS, Row, all_rows, evidence, points, version_rows

_KEPT = b"abcdefghijklmnopqrstuvwxyz0123456789.-_/\\%\x81"
# Characters of hosts and paths become lower case, defanged dots become dots, and anything else becomes a space.
MASK = bytes(46 if c == 1 else c if c in _KEPT else c + 32 if 65 <= c <= 90 else 32 for c in range(256))
_OCTET = rb"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_FOUR = rb"(?<=[0-9]\.)(?:O\.){2}O(?![0-9])".replace(b"O", _OCTET)
_LAST = rb"(?:[a-z][a-z0-9-]{1,62}+|\x81{2,20}+)(?!\.?[a-z0-9\x81-]|\._|_+[a-z0-9\x81-])"
# The last dot of a name or an address. One regex finds both, because dots are the most frequent anchor.
_DOTS = re.compile(rb"\.(?:%b|%b)" % (_LAST, _FOUR))
# A full address or domain ends at a capital after its dot, and at a port in the output of tcpdump and netstat.
_NEW_SENTENCE = re.compile(rb"\.(?=[A-Z][a-z])")
_PORT_BEFORE_TARGET = re.compile(rb"\.(?:[0-9]{1,5}|[a-z][a-z0-9-]{0,14})(?= > )")
_PORT_AFTER_DOT = re.compile(rb"\.(?:[0-9]{1,5}|[a-z][a-z0-9-]{0,14})(?=[:,\s]|\Z)")
_NETSTAT = re.compile(rb"(?:tcp|udp)[46]{0,2}[ \t]")
_OCTETS = frozenset(b"%d" % number for number in range(256))
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789")
_NO_HOST = (b"0.", b"2.5.4.", b"2.5.29.")  # reserved addresses, and object ids in certificates
_ESCAPE = re.compile(rb"\\(?:[nrt]|x[0-9A-Fa-f]{2})")
_CODED = re.compile(rb"%[0-9a-f]{2}")
_DNSMASQ = re.compile(rb"(?:address|server|local)=/\Z")
_MAX_BACK = 300  # a domain has at most 253 characters; searching further back would take quadratic time


# All letters of a label are of one script, because words stand directly before and after hosts: 访问evil.com下载
_OTHER_SCRIPT = re.compile(
    rb"""(?<![A-Za-z0-9\x81\x82._\x01@/\\-])(?=[a-z0-9.\x01-]{0,80}\x82)
    (?:(?:[a-z0-9-]{1,63}+|[\x82-]{1,63}+)[.\x01]){1,8}+(?:[a-z]{2,24}+|\x82{2,20}+)(?![A-Za-z0-9\x82_(-]|[.\x01][a-z0-9\x82])""",
    re.VERBOSE,
)


Weighed = list[tuple[int, int, tuple[Row, ...]]]
"""Start and end of what may be a domain or an address, and the rows of evidence that apply to it."""


def addresses_and_domains(data: bytes, mask: bytes, weighed: Weighed | None = None) -> list[Match]:
    """Return the IPv4 addresses and domains of `data`.

    `mask` is its translation by MASK, in which spaces replace entities that are already known. Everything that is
    weighed is added to `weighed`, unless it is None.
    """
    found: list[Match] = []
    previous = 0  # end of the last host
    done = 0  # end of the last name
    path_end = 0  # no domains before the end of a path
    for m in _DOTS.finditer(mask):
        dot, end = m.span()
        if mask[dot + 1] < 58:  # a digit
            if address := _address(data, mask, dot, end, found=found):
                found.append(address)
                previous = done = end
            continue
        if data[dot + 1] < 97:
            dot, end = _before_sentence(data, mask, dot, end)
        if dot < path_end or (mask[dot + 1 : end] not in TLDS and mask[dot + 1] != 0x81):
            continue
        start = _start_of_word(mask, dot, end, done)
        if start < 0:
            continue
        shown = evidence(data, start, end, previous)
        if shown is None:
            start = _start(data, mask, start, dot, end=end)
            if start < 0:
                path_end = _end_of_word(mask, end)
                continue
            shown = evidence(data, start, end, previous)
        if shown is None:
            continue
        done = end
        if weighed is not None and points(data[start:end]) != NO_NAME:
            weighed.append((start, end, all_rows(data, start, end, previous)))
        if shown:
            canonical = mask[start:end]
            found.append((start, end, intern(f"domain {shown}"), canonical if canonical != data[start:end] else b""))
            previous = end
    return found


def _before_sentence(data: bytes, mask: bytes, dot: int, end: int) -> tuple[int, int]:
    """Return the last dot and the end of a domain that a new sentence follows (`evil.com.The`), or the arguments."""
    before = mask.rfind(b".", max(0, dot - 64), dot)
    if before >= 0 and mask[before + 1 : dot] in PLAIN and _NEW_SENTENCE.match(data, dot):
        return before, dot
    return dot, end


def domains_of_other_scripts(data: bytes, taken: list[Match]) -> list[Match]:
    """Return the domains of `data` with letters of scripts that do not always separate words, outside `taken`."""
    found: list[Match] = []
    for m in _OTHER_SCRIPT.finditer(data):
        start, end = m.span()
        before = bisect_left(taken, (end,))
        is_taken = before > 0 and taken[before - 1][1] > start
        if is_taken or m[0].endswith(b".net"):
            continue
        if shown := evidence(data, start, end, 0):
            found.append((start, end, intern(f"domain {shown}"), m[0].replace(b"\x01", b".")))
    return found


def _start_of_word(mask: bytes, dot: int, end: int, done: int) -> int:
    """Return where the word around a last dot starts, at `done` or later, or -1 if it has no start or no end."""
    low = max(done, dot - _MAX_BACK)
    start = mask.rfind(b" ", low, dot) + 1
    if not start:
        if low and low != done:
            return -1
        start = low
    if mask[end : end + 1] == b"_":
        if mask[start] != 95:
            return -1
        start = end - len(mask[start:end].lstrip(b"_"))  # Markdown: _evil.com_
    return start


def _end_of_word(mask: bytes, start: int) -> int:
    end = mask.find(b" ", start)
    return len(mask) if end < 0 else end


def _address(data: bytes, mask: bytes, dot: int, end: int, *, found: list[Match]) -> Match | None:
    """Return the IPv4 address with its first dot at `dot`, None for a version, a product, an object id and the like.

    The second address of a range is an address if the first one is the last element of `found`.
    """
    start = dot - 1
    while start > 0 and dot - start < 4 and 48 <= mask[start - 1] <= 57:
        start -= 1
    if mask[start:dot] not in _OCTETS or _is_longer(data, mask, start, end):
        return None
    is_defanged = 1 in data[start:end]
    address = (start, end, "ipv4 defanged", mask[start:end]) if is_defanged else (start, end, "ipv4", b"")
    last = mask[start - 1] if start else 32
    if last in _LETTERS:
        return address if may_start(mask, start) else None
    if last in b".%":
        return None
    if is_defanged:
        return address
    if last in b"-/":
        is_range = last == 45 and bool(found) and found[-1][1:3] == (start - 1, "ipv4")
        return address if is_range or not _is_part(mask, start) else None
    return None if _is_no_host(data, start, end) else address


def _is_part(mask: bytes, start: int) -> bool:
    """Return whether a word before the dash or slash at `start - 1` goes on there, unlike in `host-45.77.121.232`."""
    return start > 1 and mask[start - 2] in _LETTERS and not mask.endswith((b"host-", b"ip-"), 0, start)


def _is_no_host(data: bytes, start: int, end: int) -> bool:
    """Return whether four numbers are a reserved address, an object id or a version."""
    if data.startswith(_NO_HOST, start, end) and data[start:end] != b"0.0.0.0":
        return True
    return next(version_rows(data, start, end), None) is not None


def _is_longer(data: bytes, mask: bytes, start: int, end: int) -> bool:
    """Return whether a word with an address in front goes on at `end`, other than with a port or a new sentence."""
    after = mask[end] if end < len(mask) else 32
    if after != 46:
        return after in _LETTERS or (after == 45 and mask[end + 1 : end + 2].isalpha())
    if not mask[end + 1 : end + 2].isalnum() or _NEW_SENTENCE.match(data, end) or _PORT_BEFORE_TARGET.match(data, end):
        return False
    if not _PORT_AFTER_DOT.match(data, end):
        return True
    line = max(data.rfind(b"\n", max(0, start - 120), start) + 1, start - 120, 0)
    return data[max(0, start - 3) : start] != b" > " and not _NETSTAT.match(data, line)


def _start(data: bytes, mask: bytes, start: int, dot: int, *, end: int) -> int:
    """Return where a name that ends at `end` starts in `mask[start:dot]`, after escapes, `//`, dots and dashes.

    Return -1 in a path.
    """
    start = _after_quoting(data, mask, start, dot, end=end)
    if 92 in mask[start:dot]:
        start = _after_escapes(data, mask, start, dot)
        if start < 0:
            return -1
    head = mask[start:dot]
    if head.startswith(b"//"):
        start += 2
        head = head[2:]
    if b"/" in head or b"%" in head:
        return -1
    return start + len(head) - len(head.lstrip(b".-"))


def _after_quoting(data: bytes, mask: bytes, start: int, dot: int, *, end: int) -> int:
    """Return where a name starts after what marks a pattern or a host: `LIKE '%evil.com%'`, `address=/evil.com/`."""
    head = mask[start:dot]
    after = data[end : end + 1]
    if head[:1] == b"%" and (after == b"%" or not _CODED.match(head)):
        return start + 1
    if (head[:2] == b"\\\\" and after == b"@") or _DNSMASQ.search(data, max(0, start - 8), start + 1):
        return mask.rfind(head[:1], start, start + 2) + 1  # \\evil.com@80\share, address=/evil.com/0.0.0.0
    return start


def _after_escapes(data: bytes, mask: bytes, start: int, dot: int) -> int:
    """Return where a name starts after escapes such as `\\n`, or -1 in a path."""
    if (start and data[start - 1] == 58) or b"\\\\" in mask[start:dot]:
        return -1
    # `\T` is not an escape, but the mask contains `\t` for it.
    escapes = [m.end() for m in _ESCAPE.finditer(data, start, dot)]
    if not escapes or b"\\" in _ESCAPE.sub(b"", data[start:dot]):
        return -1
    return escapes[-1]
