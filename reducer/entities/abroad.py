"""Give what was found in a text with letters that are not ASCII: no pieces of its words, and hosts such as `münchen.de` with their letters."""

from __future__ import annotations

from collections.abc import Iterator

from reducer.entities.entity import Found
from reducer.entities.refang import spaced
from reducer.entities.tlds import TLDS

# Top-level domains in scripts of their own: `рф` is delegated as `xn--p1ai`.
_NATIVE = frozenset(tld[4:].decode("punycode") for tld in TLDS if tld.startswith(b"xn--"))


def abroad(text: str, flat: bytes, found: list[Found]) -> list[tuple[int, int, str, str]]:
    """Give what was found in the bytes `flat` of `text`, in order, its canonical value as text; nothing if that is what is written."""
    kept: list[tuple[int, int, str, str]] = []
    for start, end, kind, folded in sorted(found):
        if (start and flat[start - 1] == 0x81) or flat[end : end + 1] == b"\x81":
            continue
        canonical = (folded or flat[start:end]).replace(b"\x01", b".").decode("latin-1") if folded or not text[start:end].isascii() else ""
        if "\x81" in canonical:
            canonical = _spelled(canonical, (c for c in text[start:end] if spaced(c)), kind)
            if not canonical:
                continue
        kept.append((start, end, kind, canonical))
    return kept


def _spelled(folded: str, letters: Iterator[str], kind: str) -> str:
    """Put the letters of the text back; nothing if the name ends in no top-level domain."""
    whole = "".join(next(letters, "") if c == "\x81" else c for c in folded)
    if kind != "url":
        # г.Москва is a city.
        owner, _, last = whole.rpartition(".")
        return whole.lower() if folded[-1] != "\x81" or (last in _NATIVE and len(owner) > 1) else ""
    scheme, _, rest = whole.partition("://")
    ends = [at for at in map(rest.find, "/?#") if at >= 0]
    host = min(ends, default=len(rest))
    return f"{scheme}://{rest[:host].lower()}{rest[host:]}"
