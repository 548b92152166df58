"""Find IPv4 addresses and domains in folded bytes, anchored on dots."""

from __future__ import annotations

import re

from reducer.entities.entity import Found
from reducer.entities.lookalikes import NO_NAME, plausible, verdict
from reducer.entities.tlds import TLDS

# What may stand in a host or a path stays, in lower case; every dot is a dot; all else is a blank.
MASK = bytes(46 if c == 1 else c if chr(c) in "abcdefghijklmnopqrstuvwxyz0123456789.-_/\\%\x81" else c + 32 if 65 <= c <= 90 else 32 for c in range(256))
_OCTET = rb"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_FOUR = rb"(?<=[0-9]\.)(?:O\.){2}O(?![0-9]|\.[0-9a-z])".replace(b"O", _OCTET)
_LAST = rb"(?:[a-z][a-z0-9-]{1,62}+|\x81{2,20}+)(?!\.?[a-z0-9\x81-]|\._|_+[a-z0-9\x81-])"
# The dots of an address and of the last label of a name, found in one pass: there are more dots than all else that is looked for.
_DOTS = {(four, name): re.compile(rb"\.(?:%b)" % b"|".join([_LAST] * name + [_FOUR] * four)) for four in (False, True) for name in (False, True)}
_OCTETS = frozenset(b"%d" % number for number in range(256))
_VERSIONS = b"version versions ver v build release rev revision firmware update patch upgrade".split()
_UNTIL = (b"before", b"prior to", b"update to", b"updated to", b"upgrade to", b"upgraded to", b"fixed in")
# What before an address says that it is a version, read backwards from there: a search for it would try 24 places.
_VERSION = re.compile(
    rb"""[\"':= .()\[\]<>_-]{0,6}(?:%b)(?![a-z])|[ ]{1,2}(?:%b)(?![a-z])|[ ]{0,2}(?:=<|=>|[ ]<|,\[|,\()"""
    % tuple(b"|".join(re.escape(words[::-1]) for words in some) for some in (_VERSIONS, _UNTIL)),
    re.IGNORECASE,
)
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789")
_RELEASE = re.compile(rb" (?:and|or) (?:earlier|prior|later|below|older|newer)| release(?![a-z])", re.IGNORECASE)
_LEADS = frozenset(b"\"':= .()[]<>_-,")  # how what `_VERSION` finds may end, but for letters
_NO_HOST = (b"0.", b"2.5.4.", b"2.5.29.")  # nobody's addresses, and the object ids of what certificates name
_ESCAPE = re.compile(rb"\\(?:[nrt]|u[0-9a-f]{4}|x[0-9a-f]{2})")
_CODED = re.compile(rb"%[0-9a-f]{2}")
_REACH = 300  # a domain has at most 253 characters: looking further back for its start would make long runs quadratic


def _address(data: bytes, mask: bytes, start: int, end: int, fanged: bool, found: list[Found]) -> bool:
    """Tell whether four numbers are an address: what stands around them shows a version, a product, an object id, or the end of a range that
    begins with the last that was found."""
    after = mask[end] if end < len(mask) else 32
    if after in _LETTERS or (after == 45 and mask[end + 1 : end + 2].isalpha()):
        return False
    last = mask[start - 1] if start else 32
    before = mask[start - 2] if start > 1 else 32
    if last in _LETTERS:
        return last in b"nrt" and before == 92
    if last in b".%":
        return False
    if fanged:
        return True
    if last in b"-/":
        return before not in _LETTERS or (last == 45 and bool(found) and found[-1][1:3] == (start - 1, "ipv4"))
    if mask.startswith(_NO_HOST, start, end) and mask[start:end] != b"0.0.0.0":
        return False
    # Asked first what byte stands there: a search takes longer than all else that is asked about an address.
    if start and data[start - 1] in _LEADS and _VERSION.match(data[max(0, start - 24) : start][::-1]):
        return False
    return not data.startswith(b" ", end) or not _RELEASE.match(data, end)


def dotted(data: bytes, mask: bytes, four: bool, name: bool) -> list[Found]:
    """Give the IPv4 addresses (if `four`) and the domains (if `name`) that `mask` (`data` without what is taken) shows."""
    found: list[Found] = []
    size = len(data)
    done = 0  # end of the last name looked at
    dead = 0  # end of a path: no domains before
    for m in _DOTS[four, name].finditer(mask):
        dot, end = m.span()
        if mask[dot + 1] < 58:  # a digit
            start = dot - 1
            while start > 0 and dot - start < 4 and 48 <= mask[start - 1] <= 57:
                start -= 1
            if mask[start:dot] not in _OCTETS:
                continue
            value = mask[start:end]
            fanged = 1 in data[start:end]
            # Alone in its line, as in most records: only what it is itself can turn it down.
            alone = (not start or data[start - 1] == 10) and (end == size or data[end] == 10) and not fanged
            if (not value.startswith(_NO_HOST) or value == b"0.0.0.0") if alone else _address(data, mask, start, end, fanged, found):
                found.append((start, end, "ipv4", value if fanged else b""))
            continue
        if dot < dead or (mask[dot + 1 : end] not in TLDS and mask[dot + 1] != 0x81):
            continue
        low = max(done, dot - _REACH)
        start = mask.rfind(b" ", low, dot) + 1
        if not start:
            if low and low != done:
                continue
            start = low
        if mask[end : end + 1] == b"_":
            if mask[start] != 95:
                continue
            # _evil.com_, as Markdown has it
            start = end - len(mask[start:end].lstrip(b"_"))
        # Most of what is no name is a path: told by its slash it need not be judged, nor push the names out that are remembered.
        path = mask.find(b"/", start + 3, dot) >= 0 and mask.find(b"\\", start, dot) < 0
        judged = NO_NAME if path else verdict(data[start:end])
        if judged == NO_NAME:
            start = -1 if path else _start(data, mask, start, dot)
            if start < 0:
                dead = mask.find(b" ", end)
                if dead < 0:
                    dead = size
                continue
            judged = verdict(data[start:end])
            if judged == NO_NAME:
                continue
        done = end
        if judged and plausible(data, judged, start, end):
            canonical = mask[start:end]
            found.append((start, end, "domain", canonical if canonical != data[start:end] else b""))
    return found


def _start(data: bytes, mask: bytes, start: int, dot: int) -> int:
    """Give where in mask[start:dot] a name may start, past escapes, `//`, quotes' dots and dashes; -1 in a path."""
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
