"""Find names of threat actors, malware and tools. One automaton finds listed names and the anchors of code names.

`tests/tools/build_names.py` writes the list `names.txt`, NOTICE states its sources. Names match in any case, and `-`,
`_` and space are equal; CobaltStrike is Cobalt Strike. Ambiguous or short names match only as written in the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from reducer.entities.entity import Match, may_start
from reducer.entities.evidence import is_mentioned
from reducer.entities.tokens import SHAPE
from reducer.entities.words import word_lists

_KINDS = dict(zip(b"amt", ("threat_actor", "malware", "tool"), strict=True))
_LINE = re.compile(rb"([amt]+)([=~?])([^|\n]+)\|?(.*)")
_LOW = bytes(c + 32 if 65 <= c <= 90 else 32 if c in b"-_" else c for c in range(256))
_ESCAPED = b"N "  # the automaton reads this in place of an escape; a name starts after it or with its letter
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")

# A code name is a prefix with a number (the automaton reads digits as `0`), or a word with an animal or a storm.
_PREFIXES = (
    *(b"apt0", b"apt 0", b"apt c 0", b"apt q 0", b"unc00", b"unc 00", b"ta000", b"ta 000", b"fin0", b"fin 0"),
    *(b"storm 0000", b"dev 0000", b"uac 0000", b"uat 0000", b"tag 00", b"itg00", b"cl sta 0000", b"cl cri 0000"),
    *(b"cl unk 0000", b"utg q 000", b"larva 00000"),
)
_NUMBERED = re.compile(
    rb"""(?: (?:APT|apt|Apt) (?:[ -]?[0-9]{1,2} | -[CQ]-[0-9]{2,3}) | UNC[ -]?[0-9]{2,4}
    | TA[ -]?[1-9][0-9]{2,3} | FIN[ -]?[0-9]{1,2} | Fin-?[0-9]{1,2} | (?:Storm|STORM|DEV|Dev)-[0-9]{4}
    | UA[CT]-[0-9]{4,5} | TAG-[0-9]{2,3} | ITG[0-9]{2} | CL-(?:STA|CRI|UNK)-[0-9]{4} | UTG-Q-[0-9]{3}
    | Larva-[0-9]{5} )(?![0-9A-Za-z_])""",
    re.VERBOSE,
)
_THREAT = (
    rb"ransomware|RaaS|gangs?|groups?|crew|actors?|operators?|affiliates?|malware|stealer|loader|RAT|backdoor|botnet"
)
_THREAT_AFTER = re.compile(rb"[ -](?:%b)(?![A-Za-z])" % _THREAT)
_THREAT_BEFORE = re.compile(rb"(?:%b)(?: called| named| known as| dubbed| such as|:)? [\"']?\Z" % _THREAT)
_HUMP = re.compile(rb"[a-z][A-Z]")
_SENTENCE = re.compile(rb"""[\n.!?:>*"'(\[-][ ]{0,3}\Z""")
_IN_SENTENCE = re.compile(rb" [a-z]+[ ,.]")
_ACTS = re.compile(
    rb"[^.\n]{0,80}?[ -](?:%b|APT|espionage|campaigns?|victims?|attack(?:s|ed|ers?)|target(?:s|ed)|deploy(?:s|ed)"
    rb"|exploit(?:s|ed)|encrypt(?:s|ed))(?![A-Za-z])" % _THREAT
)
_PRODUCT = re.compile(rb"/[0-9]{1,3}\.[0-9]|-RIPE(?![A-Za-z])")  # Trident/4.0 of a browser, the handle TA8110-RIPE
_PLAIN_CODE = re.compile(rb"\A(apt|ta|fin|unc)[ -]?([0-9]+)\Z", re.IGNORECASE)  # "APT 28" and "apt-28" are APT28
_FAMILIES = tuple(b" " + family for family in sorted(word_lists()[b"families"]))
_FIRST = re.compile(rb"[a-z]{2,14}[A-Z](?![A-Za-z0-9_])|[A-Z]{3,15}(?![A-Za-z0-9_])")  # matches reversed bytes
_ORDINARY = word_lists()[b"ordinary"]
_PART, _LONGEST = 1 << 20, 256  # bytes of a part of a text, and of an anchor


class Name(NamedTuple):
    """A listed name: its canonical value by type, and its spellings, or None if any spelling matches.

    A spelling is true if it is a name only beside a word such as "ransomware", or after another name.
    """

    canonical: dict[str, bytes]
    spellings: dict[bytes, bool] | None


@lru_cache(maxsize=1)
def listed() -> tuple[BytesAhoCorasick, int, dict[bytes, Name]]:
    """Return the automaton, the number of its first anchors that belong to code names, and the listed names."""
    table: dict[bytes, Name] = {}
    for kinds, case, written, other in _LINE.findall(files("reducer.entities").joinpath("names.txt").read_bytes()):
        canonical = dict.fromkeys(map(_KINDS.__getitem__, kinds), other or written)
        key = written.translate(_LOW)
        known = table.get(key, Name({}, {}))
        is_any = known.spellings is None or case == b"~"
        spellings = None if is_any else {**known.spellings, written: case == b"?"}  # type: ignore[dict-item]
        table[key] = Name(canonical | known.canonical, spellings)
        joined = key.replace(b" ", b"")
        if case != b"?" and joined != key and len(joined) > 7:
            table.setdefault(joined, Name(canonical, {written.replace(b" ", b""): False}))
    # Anchors start with a space, so that the automaton stays in its start state inside words: 200 instead of 90 MB/s.
    codes = [anchor for prefix in _PREFIXES for anchor in _anchors(prefix)]
    anchors = dict.fromkeys((*_FAMILIES, *codes))
    for key in sorted(table):
        anchors.update(dict.fromkeys(_anchors(key.translate(SHAPE))))
    automaton = BytesAhoCorasick(list(anchors), implementation=Implementation.ContiguousNFA)
    return automaton, len(_FAMILIES) + len(codes), table


def _anchors(shape: bytes) -> list[bytes]:
    """Return the anchors of a name: after a space, and for `nemo` also after the backslash in `\\nemo`."""
    return [b" " + shape, _ESCAPED + shape[1:]] if shape[:1] in (b"n", b"r", b"t") else [b" " + shape]


def names(data: bytes, shape: bytes) -> list[Match]:
    """Return the names in the folded bytes of a text. `shape` is their translation by SHAPE."""
    automaton, code_names, table = listed()
    found: list[Match] = []  # with negative ends: sorted, the longest of the names with one start comes first
    size, families = len(data), len(_FAMILIES)
    # With the leading space, an anchor starts where its name starts.
    for index, start, past in _anchors_in(b" " + _without_backslashes(shape), automaton):
        end = past - 1
        is_bounded = end == size or data[end] not in _WORD
        if index < families and is_bounded and start:
            first = _start_of_family_name(data, start - 1, end)
            if first >= 0:
                found.append((first, -end, "threat_actor", b""))
        if not may_start(data, start) or data[start - 1 : start] == b"_":
            continue
        code = _NUMBERED.match(data, start) if families <= index < code_names else None
        if code:
            found.append((start, -code.end(), "threat_actor", b""))
        elif is_bounded and not (found and found[-1][:2] == (start, -end)):  # APT 28 is listed and has a number
            found += _listed_at(data, start, end, found, table)
    return _longest(data, found, table) if found else []


def _without_backslashes(shape: bytes) -> bytes:
    """Return a shape in which the anchors of names after escapes can be found."""
    if 92 not in shape:
        return shape
    for escape in (b"\\n", b"\\r", b"\\t"):
        shape = shape.replace(escape, _ESCAPED)
    return shape.replace(b"\\", b" ")


def _listed_at(data: bytes, start: int, end: int, found: list[Match], table: dict[bytes, Name]) -> Iterator[Match]:
    """Yield `data[start:end]` with each type of the listed name that it is, if any. `found` are the names before it."""
    written = data[start:end]
    name = table.get(written.translate(_LOW))
    if name is None:
        return
    if name.spellings is not None:
        is_weak = name.spellings.get(written)
        if is_weak is None and _HUMP.search(written):  # HellCat, listed as Hellcat
            is_weak = all(name.spellings.values())
        if is_weak is None or (is_weak and not _is_threat(data, start, end, found)):
            return
        if not is_weak and _is_first_word(data, start, end) and not _is_threat(data, start, end, found):
            return
    for kind, canonical in name.canonical.items():
        yield start, -end, kind, canonical


def _is_first_word(data: bytes, start: int, end: int) -> bool:
    """Return whether a word has its capital because it begins a sentence that is not about a threat: Tick the box."""
    if not _IN_SENTENCE.match(data, end) or not data[start:end].istitle():
        return False
    return (not start or _SENTENCE.search(data, max(0, start - 4), start) is not None) and not _ACTS.match(data, end)


def _anchors_in(shape: bytes, automaton: BytesAhoCorasick) -> Iterator[tuple[int, int, int]]:
    """Yield index, start and end of each anchor, by its end. The text is searched part by part, which saves memory."""
    for low in range(0, len(shape), _PART):
        first = max(0, low - _LONGEST)
        for index, start, past in automaton.find_matches_as_indexes(shape[first : low + _PART], overlapping=True):
            if first + past > low:
                yield index, first + start, first + past


def _start_of_family_name(data: bytes, start: int, end: int) -> int:
    """Return where the word before ` Panda` starts if both words are written like a name, otherwise -1."""
    family = data[start + 1 : end]
    m = _FIRST.match(data[max(0, start - 17) : start][::-1])
    if m is None or data[start : start + 1] != b" ":
        return -1
    word = m[0][::-1]
    if word.lower() in _ORDINARY or not (family.isupper() if word.isupper() else family.istitle()):
        return -1
    return start - len(word)


def _is_threat(data: bytes, start: int, end: int, found: list[Match]) -> bool:
    """Return whether the text around an ordinary word, or a name in `found` before it, shows that it is a name."""
    if _THREAT_AFTER.match(data, end) or is_mentioned(data, start):
        return True
    if _THREAT_BEFORE.search(data, max(0, start - 32), start):
        return True
    return bool(found) and data[-found[-1][1] : start] in (b", ", b" and ", b", and ", b"/", b" & ")


def _longest(data: bytes, candidates: list[Match], table: dict[bytes, Name]) -> list[Match]:
    """Return the first and longest of overlapping names, without those in addresses and paths.

    A name can have several types.
    """
    found: list[Match] = []
    done, last = 0, (0, 0, "")
    candidates.sort(reverse=True)
    while candidates:
        start, negative_end, kind, canonical = candidates.pop()
        end = -negative_end
        if start < done and (last[:2] != (start, end) or last[2] == kind):
            continue
        written = data[start:end]
        if (written.islower() and _is_in_address(data, start, end)) or _PRODUCT.match(data, end):
            continue
        done, last = end, (start, end, kind)
        if not canonical:
            code = _PLAIN_CODE.sub(lambda m: m[1].upper() + m[2], written)
            listed = table.get(code.translate(_LOW))
            canonical = code if code[-1:].isdigit() else code.title()
            if listed is not None:
                canonical = listed.canonical.get(kind, canonical)
        found.append((start, end, kind, canonical))
    return found


def _is_in_address(data: bytes, start: int, end: int) -> bool:
    """Return whether a name in lower case is part of a path, a host or an address."""
    before, after = data[start - 1 : start], data[end : end + 1]
    if before in (b"/", b".", b"-", b"@", b"=", b"%", b"\\") or after in (b"/", b"-", b"@", b"=", b"%"):
        return True
    return after == b"." and data[end + 1 : end + 2].isalnum()
