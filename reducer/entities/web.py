"""Find URLs (anchor `://`) and e-mail addresses (anchor `@`) in folded bytes."""

from __future__ import annotations

import re

from reducer.entities.tlds import TLDS

Found = tuple[int, int, str, bytes]  # start and end in the folded bytes, type, canonical value (0x01 still for a defanged dot)

_SCHEME = re.compile(rb"(?:h(?:tt|xx|\*\*|tx|xt|__|--)p(s?)|(s?ftps?|wss?|ldaps?|rmi|tcp|udp|ssh|git|smb|irc|telnet))\Z", re.IGNORECASE)
_AFTER = re.compile(
    rb"""
    /? (?: [A-Za-z0-9._~%!$&*+=:;,-]{1,128} @ )?
    (?: \[ (?P<six>[0-9A-Fa-f:.]{2,45}) \] | (?P<host> (?: [A-Za-z0-9_-]{1,63} [.\x01]){0,40} [A-Za-z0-9_-]{1,63}) )
    \.? (?: : [0-9]{1,5} (?![0-9]) )?
    (?P<rest> [/?\#] [!\x01\#-;=?-\[\]_a-z~]*+ )?
    """,
    re.VERBOSE,
)
_ODD = re.compile(rb"[,()\[\]'*;&+]")
_STOP = re.compile(
    rb"""
      , (?= [A-Z"'] | \Z | h(?:tt|xx)ps?:// | www\. )
    | ; (?= \Z | h(?:tt|xx)ps?:// )
    | & (?: quot | lt | gt | apos | nbsp | \#(?:39|34|x27|x22) ) ;
    | ' (?= [^A-Za-z0-9] | \Z )
    | \*\*
    | \[ (?! [A-Za-z0-9_.-]{0,64} \] =? )
    """,
    re.VERBOSE,
)
_LOCAL = re.compile(rb"[A-Za-z0-9._%+'=-]{1,64}")  # on the reversed head
_MAIL_HOST = re.compile(rb"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?[.\x01]){1,40}([A-Za-z][A-Za-z0-9-]{1,62})")
_TRAIL = b".,;:!?'*_~\x01-"


def urls(data: bytes) -> list[Found]:
    """Give the URLs of `data` in order; they do not overlap."""
    found: list[Found] = []
    done = 0
    at = data.find(b"://")
    while at >= 0:
        hit = _url(data, at, done)
        if hit:
            found.append(hit)
            done = hit[1]
            at = data.find(b"://", done)
        else:
            at = data.find(b"://", at + 3)
    return found


def _url(data: bytes, at: int, done: int) -> Found | None:
    scheme = _SCHEME.search(data, max(done, at - 8), at)
    if scheme is None:
        return None
    start = scheme.start()
    if not bounded(data, start):
        return None
    m = _AFTER.match(data, at + 3)
    if m is None:
        return None
    host = m["host"]
    if host is not None:
        tail = host[max(host.rfind(b"."), host.rfind(b"\x01")) + 1 :].lower()
        if tail not in TLDS and not (tail.isdigit() and _IP.fullmatch(host)) and tail != b"localhost":
            return None
    end = m.end()
    rest = m.start("rest")
    if rest >= 0:
        end = rest + _cut(data[rest:end], data[start - 1 : start])
    while end > at and data[end - 1] in _TRAIL:
        end -= 1
    if end <= at + 3:
        return None
    if scheme[2]:
        name = scheme[2].lower()
    else:
        name = b"https" if scheme[1] else b"http"
    host_end = m.end("host") if host is not None else m.end("six")
    body = data[m.start() : host_end].lower() + data[host_end:end]
    return start, end, "url", (name + b"://" + body.lstrip(b"/")).rstrip(b"/")


_IP = re.compile(rb"(?:[0-9]{1,3}[.\x01]){3}[0-9]{1,3}")


def bounded(data: bytes, start: int) -> bool:
    """Tell whether a word may start here: after no letter or digit, or after an escape such as `\\n`."""
    before = data[start - 1 : start]
    if not before.isalnum():
        return True
    return before in b"nrt" and data[start - 2 : start - 1] == b"\\"


def _cut(rest: bytes, before: bytes) -> int:
    """Give how many bytes of what follows the host belong to the URL."""
    end = len(rest)
    if not _ODD.search(rest):
        return end
    if before == b",":
        stop = rest.find(b",")
        if stop >= 0:
            end = stop
    elif before in (b"'", b"+", b"*", b"("):
        stop = rest.find({b"(": b")"}.get(before, before))
        if stop >= 0 and before != b"(":
            end = stop
    m = _STOP.search(rest, 0, end)
    if m:
        end = m.start()
    return _balanced(rest, end)


def _balanced(rest: bytes, end: int) -> int:
    """Give the place of the first closing bracket without an opening one, or of a last opening one."""
    for opening, closing in ((b"(", b")"), (b"[", b"]")):
        depth = 0
        for m in re.finditer(rb"[()]" if opening == b"(" else rb"[\[\]]", rest[:end]):
            depth += 1 if m[0] == opening else -1
            if depth < 0:
                end = m.start()
                break
    return end


def emails(data: bytes, taken: list[Found]) -> list[Found]:
    """Give the e-mail addresses of `data` outside the spans of `taken`, in order."""
    found: list[Found] = []
    at = data.find(b"@")
    k = 0
    done = 0
    while at >= 0:
        while k < len(taken) and taken[k][1] <= at:
            k += 1
        if k < len(taken) and taken[k][0] <= at:
            at = data.find(b"@", taken[k][1])
            continue
        hit = _email(data, at, max(done, taken[k - 1][1] if k else 0))
        if hit:
            found.append(hit)
            done = hit[1]
        at = data.find(b"@", at + 1)
    return found


def _email(data: bytes, at: int, done: int) -> Found | None:
    m = _MAIL_HOST.match(data, at + 1)
    if m is None or m[1].lower() not in TLDS or data[m.end() : m.end() + 1] in (b"_", b"@"):
        return None
    head = data[max(done, at - 65) : at][::-1]
    local = _LOCAL.match(head)
    if local is None:
        return None
    name = local[0][::-1].lstrip(b".'=%+")
    start = at - len(name)
    if not name or name.endswith(b"."):
        return None
    if data[start - 1 : start] == b"\\" and name[:1] in b"nrt" and len(name) > 1:
        start += 1
        name = name[1:]
    end = m.end()
    return start, end, "email", (name + b"@" + data[at + 1 : end]).lower()
