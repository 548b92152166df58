"""Fold a text into bytes that the finders read: one byte a character, defanging undone, with the way back to the text.

In the folded bytes 0x01 is a dot that was written defanged (`[.]`, `(dot)`, a full-width dot): it counts as a dot, and as evidence that
somebody meant a host. A letter of a script whose words stand between blanks is 0x81 (`münchen.de`), every other character that is not
ASCII is 0x80, so no emoji makes the text four bytes a character.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from reducer.entities.entity import Found

_SAME = {"‐": "-", "‑": "-", "－": "-", "﹣": "-", "：": ":", "﹕": ":", "／": "/", "＠": "@"}  # U+2011 is set in CVE numbers
_WIDE_DOTS = "．。｡․﹒"
_WIDE_DOT = re.compile(f"(?<=[A-Za-z0-9À-֏])[{_WIDE_DOTS}](?=[A-Za-z0-9À-֏])")
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_LAST_SPACED = "\u058f"  # Latin, Greek, Cyrillic, Armenian; Chinese needs no blanks around an address
_NON_ASCII = bytes.maketrans(b"\x02?", b"?\x80")
_BLANKED = bytes.maketrans(b"\x01\x03", b"  ")

# All brackets read as square ones, so that the patterns start with one literal: `re` finds that at 1,000 MB/s, a set of four at 150.
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
_BESIDE_DOT = frozenset((b" ", b"_", b"\\", b"\x03", b"\x81"))  # what besides letters and digits may follow a dot in a host
_CLOSE = re.compile(rb"\](?<=[A-Za-z0-9\x81]\.\])(?=[A-Za-z0-9\x81])")
_ESCAPE = re.compile(
    rb"""\\ (?=[._/u\\-]) (?:
      (?<=[A-Za-z0-9\x81/=&?.-]\\) ([._-]) (?=[A-Za-z0-9\x81])
    | (/)
    | u00(?:26|3[dD])
    | (?:(?<=[tTxXpP][pPsS]:\\)|(?<=[tTxXpP][pPsS]\[:\]\\)) \\{1,3} (?=[A-Za-z0-9])  # hxxp:\\evil.com, hxxp[:]\\evil.com
    )""",
    re.VERBOSE,
)
_HIDDEN = re.compile(rb"\x03\x03*")  # begun with a literal: `\x03+` is tried at every byte, 70 MB/s
_FOREIGN = re.compile(rb"\x80\x80*")


class Folded(NamedTuple):
    """Where refanged bytes differ from the bytes of the text: the replaced pieces in order, by position in the ones and in the others."""

    new_start: list[int]
    new_end: list[int]
    old_start: list[int]
    old_end: list[int]

    def back(self, found: list[Found], data: bytes) -> list[Found]:
        """Give what was found in the refanged `data`, by the positions in the text, without what begins or ends within a replaced piece."""
        new_start, new_end, old_start, old_end = self
        last = len(new_start) - 1
        out: list[Found] = []
        found.sort()
        k = -1  # the last piece that starts at or before the entity: entities come in order, so that one walk serves all
        for start, end, kind, canonical in found:
            canonical = canonical or data[start:end]
            while k < last and new_start[k + 1] <= start:
                k += 1
            if k >= 0:
                if start >= new_end[k]:
                    first = start + old_end[k] - new_end[k]
                elif start == new_start[k]:
                    first = old_start[k]
                else:
                    continue
            else:
                first = start
            j = k
            while j < last and new_start[j + 1] < end:
                j += 1
            if j >= 0:
                if end < new_end[j]:
                    continue
                end += old_end[j] - new_end[j]
            out.append((first, end, kind, canonical))
        return out


def flat(text: str) -> bytes:
    """Give a text as bytes, one a character: ASCII as it is, wide dots as 0x01, invisible characters as 0x03, all else as 0x80."""
    if not text.isascii():
        return _ascii(text)
    data = text.encode()
    return data.translate(_BLANKED) if 1 in data or 3 in data else data


def spaced(char: str) -> bool:
    """Tell whether a character is a letter, no ASCII one, of a script whose words stand between blanks, or an accent set on one."""
    return "\x7f" < char <= _LAST_SPACED and (char.isalpha() or "\u0300" <= char <= "\u036f")


def refang(data: bytes) -> tuple[bytes, Folded | None]:
    """Undo the defanging in the bytes of a text; give a `Folded` if positions in them differ from those in the text."""
    pieces = _pieces(data)
    return _replace(data, pieces) if pieces else (data, None)


def _ascii(text: str) -> bytes:
    for old, new in _SAME.items():
        if old in text:
            text = text.replace(old, new)
    for control in "\x01\x02\x03":
        if control in text:
            text = text.replace(control, " ")
    # `?` is what the codec writes for all it cannot: the real ones step aside first.
    data = text.replace("?", "\x02").encode("ascii", "replace").translate(_NON_ASCII)
    wide = any(c in text for c in _WIDE_DOTS)
    hidden = [c for c in _INVISIBLE if c in text]
    changed = bytearray(data)
    for run in _FOREIGN.finditer(data):
        start, end = run.span()
        letters = text[start:end]
        if end - start == 1:
            if letters <= _LAST_SPACED and spaced(letters):
                changed[start] = 0x81
        elif min(letters) <= _LAST_SPACED:  # most are quotes, dashes, Chinese: asked at C speed
            word = letters.isalpha() and max(letters) <= _LAST_SPACED
            changed[start:end] = b"\x81" * (end - start) if word else [0x81 if spaced(c) else 0x80 for c in letters]
    if wide:
        for m in _WIDE_DOT.finditer(text):
            changed[m.start()] = 1
    for c in hidden:
        at = text.find(c)
        while at >= 0:
            changed[at] = 3
            at = text.find(c, at + 1)
    return bytes(changed)


def _pieces(data: bytes) -> list[tuple[int, int, bytes]]:
    """Give what to replace: start, end, by what."""
    pieces: list[tuple[int, int, bytes]] = []
    square = None
    if 91 in data or 40 in data or 123 in data:
        square = data.translate(_BRACKETS)
        for m in _OPEN.finditer(square):
            start, end = m.span()
            kind = m.lastgroup
            if kind is None or kind == "dot":
                after = data[end : end + 1]
                if not after.isalnum() and after not in _BESIDE_DOT:
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
                # `bob [at] evil [dot] com`: the blanks belong to it when there is one on either side.
                inside = data[max(0, start - 2) : start - 1].isalnum() and data[end + 1 : end + 2].isalnum()
                start, end = (start - 1, end + 1) if inside else (start, end)
            pieces.append((start, end, new))
    if 93 in data:
        pieces += [(m.start() - 1, m.end(), b"\x01") for m in _CLOSE.finditer(data)]
    if 92 in data:
        for m in _ESCAPE.finditer(data):
            last = data[m.end() - 1]
            pieces.append((m.start(), m.end(), m[1] or m[2] or (b"//" if last == 92 else b"&" if last == 54 else b"=")))
    if 3 in data:
        pieces += [(m.start(), m.end(), b"") for m in _HIDDEN.finditer(data)]
    pieces.sort()
    return pieces


def _replace(data: bytes, pieces: list[tuple[int, int, bytes]]) -> tuple[bytes, Folded | None]:
    out: list[bytes] = []
    folded = Folded([], [], [], [])
    done = at = 0
    for start, end, new in pieces:
        if start < done:
            continue
        out.append(data[done:start])
        out.append(new)
        at += start - done
        folded.old_start.append(start)
        folded.old_end.append(end)
        folded.new_start.append(at)
        at += len(new)
        folded.new_end.append(at)
        done = end
    out.append(data[done:])
    return b"".join(out), folded
