"""Find IPv4 addresses and domains in folded bytes, anchored on dots."""

from __future__ import annotations

import re

from reducer.entities.tlds import TLDS
from reducer.entities.web import Found

# What may stand in a host or a path stays, in lower case; all else is a blank.
MASK = bytes(
    c if chr(c) in "abcdefghijklmnopqrstuvwxyz0123456789.-_/\\%" or c == 1 else c + 32 if 65 <= c <= 90 else 32 for c in range(256)
)
_IP = re.compile(rb"[.\x01]([0-9]{1,3})[.\x01]([0-9]{1,3})[.\x01]([0-9]{1,3})(?![0-9])")
_VERSION = re.compile(rb"(?:version|ver|build|release|rev|revision|firmware|update|patch|v)[\"':= .()\[\]_-]{0,6}\Z", re.IGNORECASE)
_DOT = re.compile(rb"[.\x01](?=[a-z])")
_DOMAIN = re.compile(rb"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?[.\x01]){1,40}(?:[a-z]{2,24}|xn--[a-z0-9-]{2,59})\Z")
_ESCAPE = re.compile(rb"\\(?:[nrt]|u[0-9a-f]{4}|x[0-9a-f]{2})")
_FILES = frozenset(
    b"""ai app ar as bar bat bin bz cab cc cfg cl com_ cpp cs csv da data dev_ do doc docs dot ee exe fm foo fo go gz hs id im in ink
    ini java jp_ js la lib link_ log ls mapp md mk ml mm mov mp ms name net_ no ph pi pl pm ps pt pub py re rs run sb sc sh so src
    st_ sv tf tk_ to_ ts vb vi ws_ zip properties map_ call search""".split()
)


def ipv4s(data: bytes, mask: bytes | bytearray) -> list[Found]:
    """Give the IPv4 addresses that `mask` (bytes of `data`, without what is taken) shows."""
    found: list[Found] = []
    for m in _IP.finditer(mask):
        dot = m.start()
        start = dot
        while start > 0 and dot - start < 3 and 48 <= mask[start - 1] <= 57:
            start -= 1
        end = m.end()
        octets = (mask[start:dot], m[1], m[2], m[3])
        if any(not o or int(o) > 255 or (len(o) > 1 and o[:1] == b"0") for o in octets):
            continue
        if not _ip_alone(data, mask, start, end):
            continue
        found.append((start, end, "ipv4", b".".join(bytes(o) for o in octets)))
    return found


def _ip_alone(data: bytes, mask: bytes | bytearray, start: int, end: int) -> bool:
    defanged = b"\x01" in mask[start:end]
    after = mask[end : end + 2]
    if after[:1].isalnum() or (after[:1] in (b".", b"\x01") and after[1:].isalnum()):
        return False
    if after[:1] == b"-" and after[1:].isalpha():
        return False
    before = mask[max(0, start - 2) : start]
    last = before[-1:]
    if last.isalnum():
        return last in b"nrt" and before[:1] == b"\\"
    if last in (b".", b"\x01", b"%"):
        return False
    if defanged:
        return True
    if last == b"-":
        return not before[:1].isalpha()
    if last == b"/":
        return not before[:1].isalnum()
    return not _VERSION.search(data, max(0, start - 24), start)


def domains(data: bytes, mask: bytes | bytearray) -> list[Found]:
    """Give the domains that `mask` shows."""
    found: list[Found] = []
    done = 0
    for m in _DOT.finditer(mask):
        dot = m.start()
        if dot < done:
            continue
        start = mask.rfind(b" ", 0, dot) + 1
        end = mask.find(b" ", dot)
        if end < 0:
            end = len(mask)
        done = end
        token = bytes(mask[start:end])
        if b"\\" in token:
            if data[start - 1 : start] == b":" or token[:2] == b"\\\\":
                continue
            for piece in _pieces(token):
                _domain(data, mask, token, start + piece[0], start + piece[1], found)
        else:
            _domain(data, mask, token, start, end, found)
    return found


def _pieces(token: bytes) -> list[tuple[int, int]]:
    pieces = []
    at = 0
    for m in _ESCAPE.finditer(token):
        pieces.append((at, m.start()))
        at = m.end()
    pieces.append((at, len(token)))
    if any(b"\\" in token[s:e].strip(b"\\") for s, e in pieces):
        return []
    return pieces


def _domain(data: bytes, mask: bytes | bytearray, token: bytes, start: int, end: int, found: list[Found]) -> None:
    slash = mask.find(b"/", start, end)
    if slash == start:
        if mask[start : start + 2] != b"//":
            return
        start += 2
        slash = mask.find(b"/", start, end)
    if slash >= 0:
        end = slash
    while start < end and mask[start] in b".-\x01\\":
        start += 1
    while start < end and mask[end - 1] in b".-\x01\\":
        end -= 1
    host = bytes(mask[start:end])
    cut = max(host.rfind(b"."), host.rfind(b"\x01"))
    if cut < 1 or host[cut + 1 :] not in TLDS or end - start > 253 or not _DOMAIN.match(host):
        return
    if b"\x01" not in host and not _plain(data, host, start, end):
        return
    found.append((start, end, "domain", host))


def _plain(data: bytes, host: bytes, start: int, end: int) -> bool:
    """Tell whether a name with no sign of defanging is a domain rather than a file, a call or a word."""
    if data[end : end + 1] in (b"(", b"!") or data[start - 1 : start] in (b"$", b"\x80"):
        return False
    labels = host.split(b".")
    tail = labels[-1]
    if labels[0] in (b"com", b"org", b"net") and len(labels) > 2:
        return False
    if len(labels) == 2 and (tail in _FILES or len(labels[0]) < 2):
        return False
    return not labels[0].isdigit() or tail not in _FILES
