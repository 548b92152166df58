"""Fold a text into bytes, one per character, undo defanging in them, and write matches with the letters of the text.

In folded bytes, 0x01 is a dot that was defanged (`[.]`, `(dot)`, a full-width dot), which shows that the author meant a
host. 0x81 is a letter of a script that separates words with spaces (`münchen.de`), 0x03 is an invisible character,
0x04 is a long dash, 0x05 is `§`, 0x82 is a letter of another script, as in `例え.jp`, and 0x80 is any other
character that is not ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import merge
from sys import intern

from reducer.entities.canonical import host_of
from reducer.entities.entity import LAST_SPACED, Match, Unfolded, type_and_evidence
from reducer.entities.evidence import TLDS
from reducer.entities.pieces import Pieces, replaced
from reducer.entities.words import word_lists

_ACCENTS = range(0x300, 0x370)
# Accents, and the letters beyond ASCII of scripts that separate words with spaces.
_SPACED = "".join(c for c in map(chr, range(128, ord(LAST_SPACED) + 1)) if c.isalpha() or ord(c) in _ACCENTS)
# Letters of scripts that do not always separate words: Hebrew, Arabic, of India, Thai, Georgian, Hangul, kana, Chinese.
_UNSPACED = (
    "\u0591-\u05bd\u05d0-\u05f2\u0620-\u0669\u066e-\u06d3\u06d5-\u06ff\u0900-\u0963\u0966-\u0df3\u0e01-\u0e3a\u0e40-\u0e4e"
    "\u0e50-\u0e59\u0e81-\u0eff\u10a0-\u10fa\u10fc-\u11ff\u3005-\u3007\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u318e\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d"
)
_WIDE_DOTS = "．。｡․﹒"
_FOLDED = {
    **dict.fromkeys("‐‑－﹣", b"-"),  # CVE numbers are often set with U+2011
    **dict.fromkeys("：﹕", b":"),
    **dict.fromkeys("‒–—―−", b"\x04"),
    "§": b"\x05",
    "／": b"/",
    "＠": b"@",
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", b"\x03"),
    **dict.fromkeys(_WIDE_DOTS, b"\x01"),
    **dict.fromkeys("\x01\x02\x03\x04\x05", b" "),
}
# Consecutive letters, a wide dot in a name, or one of the other characters. The regex starts with a set, because a
# search for a set takes a third of the time.
_NEEDS_FOLDING = re.compile(
    f"[{''.join(_FOLDED)}{_SPACED}{_UNSPACED}]"
    f"(?:(?<=[{_SPACED}])[{_SPACED}]*|(?<=[{_UNSPACED}])[{_UNSPACED}]*|(?<![{_WIDE_DOTS}])|(?<=[A-Za-z0-9À-֏].)(?=[A-Za-z0-9À-֏]))"
)
_NON_ASCII = bytes.maketrans(b"\x02?", b"?\x80")
_BLANKED = bytes.maketrans(b"\x01\x03\x04\x05", b"    ")
HOST = re.compile(r"(?s)((?:[A-Za-z+]+://)?(?:[^/?#]*@)?)([^/?#:]*)(.*)")
"""What is before a host, the host, and what is after it, in a host, an e-mail address and a URL."""

# All brackets become square, so that patterns start with one literal: 1,000 MB/s instead of 150 MB/s.
_BRACKETS = bytes.maketrans(b"({)}", b"[[]]")
_OPEN = re.compile(
    rb"""\[ (?=[ .:@/\-\\\]dDaA]) (?:
      [ ]? \\? (?P<dot> \. | [dD][oO][tT] ) \\? [ ]? \]
    | (?<=[A-Za-z0-9\x81]\[) \. (?P<tail> (?:[A-Za-z0-9\x81-]{1,63} \.){0,3} [A-Za-z\x81]{2,24} ) \]
      (?! [ ]?\[[ ]?\\?[.@dDaA] | \\[._-] | \.\] )  # in `evil[.com][.net]`, it is not the end of the name
    | (?<=[A-Za-z0-9\x81]\[) \. (?P<open> (?=[A-Za-z0-9\x81]) )
    | [ ]? (?P<at> @ | [aA][tT] ) \\? [ ]? \]
    | (?P<same> : (?:\\?/){0,2} | / | - ) \\? \]
    | (?P<void> \] ) (?=://)
    )""",
    re.VERBOSE,
)
_AFTER_DOT = frozenset((b" ", b"_", b"\\", b"\x03", b"\x81", b"\x82"))  # besides letters and digits
_NEXT_WORD = re.compile(rb" ([a-z]{2,24})(?![A-Za-z0-9_-])")
_LAST_LABELS = TLDS - word_lists()[b"words"]  # what follows a dot and a space, but seldom begins a sentence
_CLOSE = re.compile(rb"\.\](?<=[A-Za-z0-9\x81]\.\])(?=[A-Za-z0-9\x81])")  # evil.]com
_ESCAPE = re.compile(  # evil\\.com
    rb"""\\ (?=[._/\\-]) (?:
      (?P<escaped> (?<=[A-Za-z0-9\x81/=&?.-]\\) [._-] (?=[A-Za-z0-9\x81]) | / )
    # hxxp:\\evil.com, hxxp[:]\\evil.com
    | (?:(?<=[tTxXpP][pPsS]:\\)|(?<=[tTxXpP][pPsS]\[:\]\\)) \\{1,3} (?=[A-Za-z0-9])
    )""",
    re.VERBOSE,
)
_INVISIBLE = re.compile(rb"\x03\x03*")  # starts with a literal; `\x03+` would be tried at every byte, 70 MB/s
_REPLACED = (
    (b"&", re.compile(rb"&(?=#)#(?:46|x2[eE]);"), b"\x01"),  # a search for one literal is ten times as fast
    (b"]", _CLOSE, b"\x01"),
    (b"\\", _ESCAPE, b"//"),
    (b"\x03", _INVISIBLE, b""),
)
"""A byte that a text must contain, and what replaces the matches of a pattern, unless a group tells it."""

_Piece = tuple[int, int, bytes]
"""Start and end in the folded bytes, and what replaces the bytes between them."""


def fold(text: str) -> bytes:
    """Return a text as folded bytes, one per character."""
    if text.isascii():
        data = text.encode()
        return data.translate(_BLANKED) if 1 in data or 3 in data or 4 in data or 5 in data else data
    # The codec writes `?` for any other character, so the real question marks become 0x02 first.
    changed = bytearray(text.replace("?", "\x02").encode("ascii", "replace").translate(_NON_ASCII))
    for match in _NEEDS_FOLDING.finditer(text):
        start, end = match.span()
        letter = b"\x81" if text[start] <= LAST_SPACED else b"\x82"
        changed[start:end] = _FOLDED.get(text[start], letter) * (end - start)
    return bytes(changed)


def undefanged(data: bytes) -> tuple[bytes, Pieces | None]:
    """Return folded bytes without defanging, and the replaced pieces, None if there are none."""
    streams = [_replacements(data, pattern, meant) for anchor, pattern, meant in _REPLACED if anchor in data]
    if 91 in data or 40 in data or 123 in data:
        streams.append(_bracketed(data))
    return replaced(data, merge(*streams))


def _replacements(data: bytes, pattern: re.Pattern[bytes], meant: bytes) -> Iterator[_Piece]:
    """Yield what is replaced by the group of a match, or by `meant`."""
    for m in pattern.finditer(data):
        yield m.start(), m.end(), m[m.lastindex] if m.lastindex else meant


def _bracketed(data: bytes) -> Iterator[_Piece]:
    """Yield what is in brackets, as in `evil[.]com`."""
    for m in _OPEN.finditer(data.translate(_BRACKETS)):
        start, end = m.span()
        kind = str(m.lastgroup)
        new = _meant(data, m, kind, start, end)
        if new is not None:
            yield *_widened(data, kind, start, end), new


def _meant(data: bytes, m: re.Match[bytes], kind: str, start: int, end: int) -> bytes | None:
    """Return what replaces a match of `_OPEN`, or None if it defangs nothing."""
    if kind == "dot":
        after = data[end : end + 1]
        return b"\x01" if after.isalnum() or after in _AFTER_DOT else None
    if kind == "tail" or kind == "open":
        return b"\x01" + m[kind] if data[start] == 91 else None
    if kind == "at":
        return b"@"
    if kind == "same":
        return m["same"].replace(b"\\", b"")
    return b""


def _widened(data: bytes, kind: str, start: int, end: int) -> tuple[int, int]:
    """Return start and end of a match of `_OPEN` with the spaces and the backslash that belong to it."""
    before, after = data[start - 1 : start], data[end : end + 1]
    if before == b"\\":
        return start - 1, end
    if kind in ("dot", "at") and before == after == b" ":
        # In `bob [at] evil [dot] com`, the spaces on both sides are part of the piece.
        is_inside = data[max(0, start - 2) : start - 1].isalnum() and data[end + 1 : end + 2].isalnum()
        return (start - 1, end + 1) if is_inside else (start, end)
    word = _NEXT_WORD.match(data, end) if kind == "dot" else None
    if word and word[1] in _LAST_LABELS:
        return start, end + 1  # evil[.] com
    return start, end


def unfolded(text: str, folded: bytes, found: list[Match], types: frozenset[str]) -> Iterator[Unfolded]:
    """Yield the matches of `types` in the folded bytes of a text, in order, and empty `found`, which saves memory.

    Drop parts of words, and write names such as `münchen.de` with the letters of the text.
    """
    found.sort(reverse=True)
    is_ascii = text.isascii()
    decoded = {b"": ""}
    while found:
        start, end, kind, canonical = found.pop()
        if type_and_evidence(kind)[0] not in types:
            continue
        if 1 in canonical:
            kind = intern(f"{kind} defanged")
        if is_ascii:
            if canonical not in decoded:
                decoded[canonical] = canonical.replace(b"\x01", b".").decode()
            yield start, end, kind, decoded[canonical]
            continue
        if (start and folded[start - 1] == 0x81) or folded[end : end + 1] == b"\x81":
            continue
        name = ""
        if canonical or not text[start:end].isascii():
            name = with_letters(canonical or folded[start:end], text[start:end], folded[start:end])
        if not name.isascii():
            name = _spelled(name, kind)
            if not name:
                continue
        yield start, end, kind, name


def with_letters(data: bytes, text: str, folded: bytes) -> str:
    """Return undefanged bytes as a text, with the letters of the text that was folded."""
    name = data.replace(b"\x01", b".").decode("latin-1")
    if name.isascii():
        return name
    letters = (c for c, byte in zip(text, folded, strict=True) if byte > 127)
    return "".join(c if c.isascii() else next(letters, "") for c in name)


def _spelled(name: str, kind: str) -> str:
    """Return a name with its host as it is compared, or "" if it does not end in a top-level domain."""
    if kind == "file_name":
        return name
    before, host, after = HOST.match(name).groups()  # type: ignore[union-attr]
    canonical = host_of(host)
    if not before.endswith("/") and not name[-1].isascii():
        last = canonical[canonical.rfind(".") + 1 :]
        if last.encode() not in TLDS or host.rfind(".") < 2:  # г.Москва is a city
            return ""
    return f"{before}{canonical}{after}"
