"""Fold a text into bytes, one per character, undo defanging in them, and map positions back to the text.

In folded bytes, 0x01 is a dot that was defanged (`[.]`, `(dot)`, a full-width dot), which shows that the author meant a
host. 0x81 is a letter of a script that separates words with spaces (`münchen.de`), 0x03 is an invisible character,
0x04 is a long dash, 0x05 is `§`, and 0x80 is any other character that is not ASCII.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from reducer.entities.entity import LAST_SPACED, Match, word_lists
from reducer.entities.evidence import TLDS

_ACCENTS = range(0x300, 0x370)
# Accents, and the letters beyond ASCII of scripts that separate words with spaces.
_SPACED = "".join(c for c in map(chr, range(128, ord(LAST_SPACED) + 1)) if c.isalpha() or ord(c) in _ACCENTS)
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
    f"[{''.join(_FOLDED)}{_SPACED}]"
    f"(?:(?<=[{_SPACED}])[{_SPACED}]*|(?<![{_WIDE_DOTS}])|(?<=[A-Za-z0-9À-֏].)(?=[A-Za-z0-9À-֏]))"
)
_NON_ASCII = bytes.maketrans(b"\x02?", b"?\x80")
_BLANKED = bytes.maketrans(b"\x01\x03\x04\x05", b"    ")
# Top-level domains in other scripts: `рф` is delegated as `xn--p1ai`.
_NATIVE_TLDS = frozenset(tld[4:].decode("punycode") for tld in TLDS if tld.startswith(b"xn--"))

# All brackets become square, so that patterns start with one literal: 1,000 MB/s instead of 150 MB/s.
_BRACKETS = bytes.maketrans(b"({)}", b"[[]]")
_OPEN = re.compile(
    rb"""\[ (?=[ .:@/\-\\\]dDaA]) (?:
      [ ]? \\? (?: \. | (?P<dot>[dD][oO][tT]) ) \\? [ ]? \]
    | (?<=[A-Za-z0-9\x81]\[) \. (?P<tail> (?:[A-Za-z0-9\x81-]{1,63} \.){0,3} [A-Za-z\x81]{2,24} ) \]
    | (?<=[A-Za-z0-9\x81]\[) \. (?P<open> (?=[A-Za-z0-9\x81]) )
    | [ ]? (?P<at> @ | [aA][tT] ) \\? [ ]? \]
    | (?P<same> : (?:\\?/){0,2} | / | - ) \\? \]
    | (?P<void> \] ) (?=://)
    )""",
    re.VERBOSE,
)
_AFTER_DOT = frozenset((b" ", b"_", b"\\", b"\x03", b"\x81"))  # besides letters and digits
_NEXT_WORD = re.compile(rb" ([a-z]{2,24})(?![A-Za-z0-9_-])")
_LAST_LABELS = TLDS - word_lists()[b"words"]  # what follows a dot and a space, but seldom begins a sentence
_CLOSE = re.compile(rb"\](?<=[A-Za-z0-9\x81]\.\])(?=[A-Za-z0-9\x81])")
_ESCAPE = re.compile(
    rb"""\\ (?=[._/u\\-]) (?:
      (?<=[A-Za-z0-9\x81/=&?.-]\\) ([._-]) (?=[A-Za-z0-9\x81])
    | (/)
    | u00(2[267]|3[cCdDeE])
    # hxxp:\\evil.com, hxxp[:]\\evil.com
    | (?:(?<=[tTxXpP][pPsS]:\\)|(?<=[tTxXpP][pPsS]\[:\]\\)) \\{1,3} (?=[A-Za-z0-9])
    )""",
    re.VERBOSE,
)
_INVISIBLE = re.compile(rb"\x03\x03*")  # starts with a literal; `\x03+` would be tried at every byte, 70 MB/s

Unfolded = tuple[int, int, str, str]
"""Start and end in a text, type, and canonical value, which is empty if it is the value as written."""
_Piece = tuple[int, int, bytes]
"""Start and end in the folded bytes, and what replaces a piece."""
Pieces = tuple["array[int]", "array[int]", "array[int]", "array[int]"]
"""Replaced pieces in order: starts and ends in the refanged bytes, starts and ends in the folded bytes.

If there are any, the first piece is an empty one at the start. Arrays need a fifth of the memory of tuples.
"""


def fold(text: str) -> bytes:
    """Return a text as folded bytes, one per character."""
    if text.isascii():
        data = text.encode()
        return data.translate(_BLANKED) if 1 in data or 3 in data or 4 in data or 5 in data else data
    # The codec writes `?` for any other character, so the real question marks become 0x02 first.
    changed = bytearray(text.replace("?", "\x02").encode("ascii", "replace").translate(_NON_ASCII))
    for match in _NEEDS_FOLDING.finditer(text):
        start, end = match.span()
        changed[start:end] = _FOLDED.get(text[start], b"\x81") * (end - start)
    return bytes(changed)


def refang(data: bytes) -> tuple[bytes, Pieces | None]:
    """Return folded bytes without defanging, and the replaced pieces, None if there are none."""
    starts, ends, old_starts, old_ends = pieces = array("q"), array("q"), array("q"), array("q")
    refanged = bytearray()
    done = 0
    for start, end, new in [(0, 0, b""), *sorted(_replacements(data))]:
        if start >= done:
            refanged += data[done:start]
            starts.append(len(refanged))
            refanged += new
            ends.append(len(refanged))
            old_starts.append(start)
            old_ends.append(end)
            done = end
    return (bytes(refanged + data[done:]), pieces) if len(starts) > 1 else (data, None)


def mapped_back(found: list[Match], data: bytes, pieces: Pieces) -> list[Match]:
    """Return the matches in refanged `data` with their positions in the text, and empty `found`, which saves memory.

    Drop matches that split a piece.
    """
    starts, ends, old_starts, old_ends = pieces
    matches: list[Match] = []
    found.reverse()
    while found:
        start, end, kind, canonical = found.pop()
        first, last = bisect_right(starts, start) - 1, bisect_left(starts, end) - 1
        is_at_start = start == starts[first] < ends[first]
        if (start >= ends[first] or is_at_start) and end >= ends[last]:
            begin = old_starts[first] if is_at_start else start - ends[first] + old_ends[first]
            matches.append((begin, end - ends[last] + old_ends[last], kind, canonical or data[start:end]))
    return matches


def _replacements(data: bytes) -> Iterator[_Piece]:
    """Yield the defanged pieces."""
    if 93 in data:
        for m in _CLOSE.finditer(data):
            yield m.start() - 1, m.end(), b"\x01"
    if 92 in data:
        for m in _ESCAPE.finditer(data):
            yield m.start(), m.end(), bytes.fromhex(m[3].decode()) if m[3] else m[1] or m[2] or b"//"
    if 3 in data:
        for m in _INVISIBLE.finditer(data):
            yield m.start(), m.end(), b""
    if 91 in data or 40 in data or 123 in data:
        for m in _OPEN.finditer(data.translate(_BRACKETS)):
            start, end = m.span()
            kind = m.lastgroup
            if kind is None or kind == "dot":
                after = data[end : end + 1]
                if not after.isalnum() and after not in _AFTER_DOT:
                    continue
                new = b"\x01"
            elif kind == "open" or kind == "tail":
                if data[start] != 91:
                    continue
                new = b"\x01" + m[kind]
            elif kind == "at":
                new = b"@"
            else:
                new = m["same"].replace(b"\\", b"") if kind == "same" else b""
            before = data[start - 1] if start else 0
            if before == 92:
                start -= 1
            elif before == 32 and kind in ("dot", "at", None) and data[end : end + 1] == b" ":
                # In `bob [at] evil [dot] com`, the spaces on both sides are part of the piece.
                is_inside = data[max(0, start - 2) : start - 1].isalnum() and data[end + 1 : end + 2].isalnum()
                start, end = (start - 1, end + 1) if is_inside else (start, end)
            elif kind in ("dot", None) and (word := _NEXT_WORD.match(data, end)) and word[1] in _LAST_LABELS:
                end += 1  # evil[.] com
            yield start, end, new


def unfolded(text: str, folded: bytes, found: list[Match], types: frozenset[str]) -> Iterator[Unfolded]:
    """Yield the matches of `types` in the folded bytes of a text, in order, and empty `found`, which saves memory.

    Drop parts of words, and write names such as `münchen.de` with the letters of the text.
    """
    found.sort(reverse=True)
    is_ascii = text.isascii()
    decoded = {b"": ""}
    while found:
        start, end, kind, canonical = found.pop()
        if kind not in types:
            continue
        if is_ascii:
            if canonical not in decoded:
                decoded[canonical] = canonical.replace(b"\x01", b".").decode()
            yield start, end, kind, decoded[canonical]
            continue
        if (start and folded[start - 1] == 0x81) or folded[end : end + 1] == b"\x81":
            continue
        name = ""
        if canonical or not text[start:end].isascii():
            name = (canonical or folded[start:end]).replace(b"\x01", b".").decode("latin-1")
        if not name.isascii():
            letters = (c for c, byte in zip(text[start:end], folded[start:end], strict=True) if byte > 127)
            name = _spelled(name, letters, kind)
            if not name:
                continue
        yield start, end, kind, name


def _spelled(name: str, letters: Iterator[str], kind: str) -> str:
    """Return a folded name with the letters of the text, or "" if it does not end in a top-level domain."""
    whole = "".join(c if c.isascii() else next(letters, "") for c in name)
    if kind != "url":
        owner, _, last = whole.rpartition(".")
        is_name = name[-1] != "\x81" or (last in _NATIVE_TLDS and len(owner) > 1)  # г.Москва is a city
        return whole.lower() if is_name else ""
    scheme, _, rest = whole.partition("://")
    host = re.match("[^/?#]*", rest)[0]  # type: ignore[index]
    return f"{scheme}://{host.lower()}{rest[len(host) :]}"
