"""Find URLs (anchor `://`) and e-mail addresses (anchor `@`) in folded bytes."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from reducer.entities.canonical import address_of
from reducer.entities.entity import Match, may_start
from reducer.entities.evidence import TLDS

_CACHED_HOSTS = 2048  # texts repeat their hosts
_AS_WRITTEN = (
    b"ftp ftps sftp ws wss ldap ldaps rmi tcp udp ssh git smb irc file"
    b" postgres postgresql mysql mariadb mongodb mongodb+srv redis rediss amqp amqps"
)
_HTTP = b"http hxxp h**p htxp hxtp h__p h--p h##p xxxp meow"
_HTTPS = b"https hxxps h**ps htxps hxtps h__ps h--ps h##ps xxxps"
_SCHEMES = {scheme: scheme for scheme in _AS_WRITTEN.split()}
_SCHEMES.update(dict.fromkeys(_HTTP.split(), b"http"))
_SCHEMES.update(dict.fromkeys(_HTTPS.split(), b"https"))
_SCHEMES[b"fxp"] = b"ftp"
_DEFAULT_PORTS = {b"http": b":80", b"https": b":443", b"ws": b":80", b"wss": b":443", b"ftp": b":21"}
_SCHEME = re.compile(rb"(?<![a-z0-9*#_-])(?:mongodb\+srv|[a-z*#_-]{2,10})\Z")
_USER = re.compile(rb"/?[A-Za-z0-9.\x01_~%!$&*+=:;,-]{1,128}@")
_PLACE = re.compile(
    rb"/?(?P<host>[A-Za-z0-9._\x01\x80-\x82-]{1,255}+|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5}(?![0-9]))?"
)
_IN_PATH = rb"[!\x01\x81#-;=?-\[\]_a-z~]*+"
# Letters of other scripts are part of a path, but not what follows a path without a space: https://evil.com/aを見る
_PATH = re.compile(
    rb"[/?#]%b(?:(?:(?<![A-Za-z0-9])\x82++|\x82++(?=[./&=_-][A-Za-z0-9\x82]))%b)*+" % (_IN_PATH, _IN_PATH)
)
_FOUR = re.compile(rb"(?:[0-9]{1,3}[.\x01]){3}[0-9]{1,3}")
_STOP = re.compile(
    rb""",(?= [A-Z"'] | \Z | h(?:tt|xx)ps?:// | www\.
      | [0-9]{1,3}(?:[.\x01][0-9]{1,3}){3}(?![0-9.\x01]) | [0-9a-fA-F]{32} | [0-9]{4}-[0-9]{2}-[0-9]{2} )  # in CSV
    | ;(?= \Z | h(?:tt|xx)ps?:// | (?:chmod|curl|wget|cd|rm|sh|bash)(?![a-z0-9=]) )
    | &(?: quot | lt | gt | apos | nbsp | \#(?:39|34|x27|x22) );
    | '(?= [^A-Za-z0-9] | \Z )
    | \*\*
    | \[(?! [A-Za-z0-9_.-]{0,64} \]= )""",
    re.VERBOSE,
)
_FIELD = re.compile(rb",[a-z][a-z_-]{1,30},")  # of a line of CSV that starts with a URL
_PATH_BYTES = 512  # of the first part of a path that is read
_MAX_LOOK_AHEAD = 80  # bytes, of `_STOP`
_LAST_LABEL = re.compile(rb"[.\x01](?:[A-Za-z]*|[\x82]{2,20})\Z")
_ROUND = re.compile(rb"[()]")
_SQUARE = re.compile(rb"[\[\]]")
_BEFORE_USER = frozenset((b"@", b":", b".", b"_", b"%", b"!", b"$", b"&", b"*", b"+", b"=", b";", b",", b"~"))
_TRAIL = b".,;:!?'*~\x01(["
_EMPHASIS = re.compile(rb"_{1,3}(?![A-Za-z0-9_\x81@-])")
_LOGIN = re.compile(rb"://[^\s/@\"'<>]{0,64}:?\Z")  # redis://:password@db.example.com
_LOCAL = re.compile(rb"[A-Za-z0-9._%+'-]{1,64}")  # matches reversed bytes
_MAIL_HOST = re.compile(
    rb"@(?:[A-Za-z0-9\x81](?:[A-Za-z0-9\x81-]{0,61}[A-Za-z0-9\x81])?[.\x01]){1,40}"
    rb"([A-Za-z][A-Za-z0-9-]{1,62}|\x81{2,20})"
)


def urls(data: bytes) -> list[Match]:
    """Return the URLs of `data` in order, without overlaps."""
    found: list[Match] = []
    done = 0
    at = data.find(b"://")
    while at >= 0:
        if url := _url(data, at, done):
            found.append(url)
            done = url[1]
        at = data.find(b"://", max(done, at + 3))
    return found


def _url(data: bytes, at: int, done: int) -> Match | None:
    """Return the URL with its `://` at `at`, or None if there is none that starts at `done` or later."""
    before = data[max(done, at - 14) : at].lower()
    head = _plain_head(before)
    written = head[-5:] if head[-1:] == b"s" else head[-4:]
    if written not in _SCHEMES:
        m = _SCHEME.search(head[-12:])
        written = m[0] if m else b""
    scheme = _SCHEMES.get(written)
    if scheme is None:
        return None
    start = at - len(written) - len(before) + len(head)
    if not may_start(data, start):
        return None
    first = at + 3
    place = _PLACE.match(data, first)
    if place is None:
        return None
    if data[place.end() : place.end() + 1] in _BEFORE_USER:
        place = _after_user(data, first) or place
    host, host_end, end = place["host"], place.end("host"), place.end()
    named = _host(host, scheme in (b"file", b"smb"))
    if named is None or (scheme == b"file" and data[first] == 47):
        return None
    host_end -= len(host) - len(named)
    if data[end : end + 1] in (b"/", b"?", b"#") and host[len(named) :].isascii():
        end = _path_end(data, end, data[start - 1 : start])
    elif len(named) != len(host):
        end = host_end
    while data[end - 1] in _TRAIL:
        end -= 1
    end = max(end, host_end)
    user = data[first : place.start("host")].removeprefix(b"/")
    port = data[place.end("host") : min(place.end(), end)]
    return start, end, "url", scheme + b"://" + user + _compared(scheme, named, port, path=data[place.end() : end])


def _compared(scheme: bytes, host: bytes, port: bytes, *, path: bytes) -> bytes:
    """Return a host and what follows it as RFC 3986 compares them: without the default port, and `/` is no path."""
    if host[0] == 91:  # [
        host = b"[%b]" % (address_of(host[1:-1].decode()).encode() or host[1:-1])
    if port == _DEFAULT_PORTS.get(scheme):
        port = b""
    if path == b"/":
        path = b""
    elif path[:1] in (b"?", b"#"):
        path = b"/" + path
    return host + port + path


def _plain_head(before: bytes) -> bytes:
    """Return what is before `://` without what defangs it: `hxxps ://`, `http[s]://`. The result is not longer."""
    if before.endswith((b"xxp ", b"xxps ")):
        return before[:-1]
    return before[:-3] + b"s" if before.endswith((b"p[s]", b"p(s)")) else before


def _after_user(data: bytes, start: int) -> re.Match[bytes] | None:
    """Return the match of the host and the port after a user and a password, or None if there is no user."""
    user = _USER.match(data, start)
    return _PLACE.match(data, user.end()) if user else None


def _path_end(data: bytes, start: int, before: bytes) -> int:
    """Return the end of the path that starts at `start`. `before` is the byte before the URL.

    Adjacent URLs (`http://a.co/1,http://a.co/2`) look like one long path: reading all of it for each URL would take
    quadratic time.
    """
    size = _PATH_BYTES
    while True:
        path = _PATH.match(data, start, start + size)[0]  # type: ignore[index]
        end = _cut(path, before)
        if len(path) < size:
            return start + (len(path.rstrip(before)) if end == len(path) and before in (b"+", b"_") else end)
        if end < size - _MAX_LOOK_AHEAD:
            return start + end
        size *= 4


@lru_cache(maxsize=_CACHED_HOSTS)
def _host(host: bytes, is_local: bool) -> bytes | None:
    """Return the host of a URL in lower case without trailing dots and dashes, or None if it cannot be a host.

    `is_local` also allows a name without a dot. Letters of scripts without spaces may also be text after the host.
    """
    if host[-1] == 93:  # ]
        return host.lower()
    for other in (b"\x80", b"\x82"):
        if other in host and not _LAST_LABEL.search(host):
            host = host.partition(other)[0]
    named = host.rstrip(b".\x01-_").lower()
    dot = max(named.rfind(b"."), named.rfind(b"\x01"))
    if dot < 1:
        return named if named == b"localhost" or (is_local and named) else None
    last = named[dot + 1 :]
    # In a URL, a host may also end in `.bazar` or `.local`.
    is_name = last in TLDS or (len(last) > 1 and last.replace(b"\x81", b"a").replace(b"\x82", b"a").isalpha())
    return named if is_name or _FOUR.fullmatch(named) else None


def _cut(path: bytes, before: bytes) -> int:
    """Return how many bytes of `path` belong to the URL. `before` is the byte before the URL."""
    end = len(path)
    if before in (b",", b"'", b"*") and before in path:
        end = path.find(before)
    elif before in (b"", b"\n") and (m := _FIELD.search(path)):
        end = m.start()
    quotes = counted = 0
    for m in _STOP.finditer(path, 0, end):
        at = m.start()
        if m[0] == b"'" and path[at + 1 : at + 2] == b")" and before != b"'":
            quotes += path.count(b"'", counted, at)
            counted = at
            if quotes % 2:
                continue  # OData: users('name')/photo
        end = at
        break
    for brackets, open_bracket in ((_ROUND, b"("), (_SQUARE, b"[")):
        depth = 0
        for m in brackets.finditer(path, 0, end):
            depth += 1 if m[0] == open_bracket else -1
            if depth < 0:
                end = m.start()
                break
    return end


def emails(data: bytes, taken: list[Match]) -> list[Match]:
    """Return the e-mail addresses of `data` outside the matches in `taken`, in order."""
    found: list[Match] = []
    done = 0
    for host in _MAIL_HOST.finditer(data):
        at = host.start()
        before = bisect_right(taken, (at + 1,))
        end = taken[before - 1][1] if before else 0
        if end <= at and (email := _email(data, host, max(done, end))):
            found.append(email)
            done = email[1]
    return found


def _email(data: bytes, m: re.Match[bytes], done: int) -> Match | None:
    """Return the address with this `@` and host, or None if there is none that starts at `done` or later."""
    at, end = m.span()
    after = data[end] if end < len(data) else 32
    if (m[1].lower() not in TLDS and m[1][0] != 0x81) or after == 64:
        return None
    local = _LOCAL.match(data[max(done, at - 65) : at][::-1])
    if local is None:
        return None
    name = local[0][::-1]
    start = at - len(name)
    if start and data[start - 1] == 92 and name[0] in b"nrt":
        name = name[1:]
    if after == 95:  # Markdown: _bob@evil.com_
        if name[:1] != b"_" or not _EMPHASIS.match(data, end):
            return None
        name = name.lstrip(b"_")
    name = name.lstrip(b".'%+-")
    start = at - len(name)
    if not name or name.endswith(b".") or not may_start(data, start):
        return None
    if data[start - 1 : start] in (b":", b"/") and _LOGIN.search(data, max(0, start - 80), start):
        return None
    return start, end, "email", data[start:end].lower()
