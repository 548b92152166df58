"""Compare a reduced history with its original, without an engine: laws 1 to 4 and 7."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice, pairwise, zip_longest
from typing import Any, NamedTuple

from reducer.errors import HistoryError
from reducer.formats import decode, parse
from reducer.histories.findings import Finding, Path, described, locate, short, suggestion, values
from reducer.histories.stored import returns
from reducer.histories.validate import Document, read_documents
from reducer.values import Unreducible, chars

_MARKER = re.compile(r" ?…\[([1-9][0-9]{0,11}) more characters(?=[;\]])")
_LIST_MARKER = re.compile(r"…\[([1-9][0-9]{0,11}) more items(|;.*)\]", re.DOTALL)
_MENTIONS = "; mentions "
_MAX_FINDINGS = 50
_MAX_COMPARED = 1_000_000
"""Comparisons of items in one content, after which two lists count as different."""
_MAX_MARKERS = 16
"""Markers after one range of a text, and brackets after a marker: tool returns may contain forged markers."""
_MAX_COUNTS = 128
"""Sums of what the markers of one range can count."""
_MAX_POSITIONS = 10_000


def against(stored: bytes, original: bytes) -> list[Finding]:
    """Return where `stored` is not a reduction of `original`, with lines and columns in `stored`.

    Both are stored histories of any format, or one on each line. Raises nothing.
    """
    new, old = list(read_documents(stored)), list(read_documents(original))
    if len(new) != len(old):
        return [Finding("V101", (), f"{len(new):,} histories; the original has {len(old):,}", 1, 1)]
    return [finding for pair in zip(new, old, strict=True) for finding in compare(*pair)]


def compare(new: Document, old: Document) -> list[Finding]:
    """Return where one JSON text is not a reduction of the original one."""
    if new.text == old.text:
        return []
    after, before = _contents(new.text), _contents(old.text)
    findings = list(_check_outside(new, after, old, before))
    if len(after) == len(before):
        starts = {content.start for content in after}
        paths = {start: path for path, start in values(new.text) if start in starts}
        for mine, theirs in zip(after, before, strict=True):
            if new.text[mine.start : mine.end] == old.text[theirs.start : theirs.end]:
                continue
            path = paths.get(mine.start, ())
            if theirs.untouched:
                message = f"rules never reduce this content: {theirs.untouched}"
                findings.append(Finding("V103", path, message))
            else:
                findings += check_content(theirs.value, mine.value, path)
    return locate(new.text, findings, new.line)


class _Content(NamedTuple):
    start: int
    end: int
    value: Any
    untouched: str


def _contents(text: str) -> list[_Content]:
    data = text.encode(errors="surrogateescape")
    try:
        copies = [(copy, one.untouched) for one in returns(data) for copy in one.places]
    except HistoryError:
        return []
    offsets = sorted({offset for copy, _ in copies for offset in (copy.start, copy.end)})
    lengths = (len(data[start:end].decode()) for start, end in pairwise([0, *offsets]))
    at = dict(zip(offsets, accumulate(lengths), strict=True))  # characters before each byte offset
    contents = [_Content(at[copy.start], at[copy.end], copy.content, untouched) for copy, untouched in copies]
    return sorted(contents, key=lambda content: content.start)


def _check_outside(
    new: Document, after: Sequence[_Content], old: Document, before: Sequence[_Content]
) -> Iterator[Finding]:
    """Yield a finding at the first character outside the contents that differs."""
    for mine, theirs in zip_longest(_outside(new.text, after), _outside(old.text, before)):
        if mine is None or theirs is None or mine[1] != theirs[1]:
            start, text = mine or (len(new.text), "")
            other = theirs[1] if theirs else ""
            same = _common_length(text, other)
            at = max(min(start + same, len(new.text) - 1), 0)
            path = next((path for path, offset in reversed([*values(new.text)]) if offset <= at), ())
            words = f"found {described(text[same : same + 20])}; the original has {described(other[same : same + 20])}"
            line, column = new.text.count("\n", 0, at), at - new.text.rfind("\n", 0, at)
            yield Finding("V101", path, f"differs outside the contents: {words}", new.line + line, column)
            return


def _outside(text: str, contents: Sequence[_Content]) -> Iterator[tuple[int, str]]:
    end = 0
    for content in contents:
        yield end, text[end : content.start]
        end = content.end
    yield end, text[end:]


def check_content(old: Any, new: Any, path: Path = ()) -> list[Finding]:
    """Return where a content, at `path`, is not a reduction of the original one; both are decoded JSON."""
    try:
        findings = list(islice(_check_root(path, old, new, iter(range(_MAX_COMPARED))), _MAX_FINDINGS))
        after, before = chars(new), chars(old)
    except (RecursionError, Unreducible):
        return [Finding("V109", path, "nested too deeply to compare")]
    if after > before:
        findings.append(Finding("V112", path, f"{after:,} characters; the original has {before:,}"))
    return findings


def _check_root(path: Path, old: Any, new: Any, budget: Iterator[int]) -> Iterator[Finding]:
    if type(old) is str and type(new) is str:
        yield from _check_notation(path, old, new)
        old, new = decode(old), decode(new)
    if type(old) is dict and type(new) is dict:
        for key in [key for key in old if key not in new]:
            words = f"the root key {short(key)} is missing; expected it with an empty value"
            yield Finding("V106", (*path, key), words)
    elif type(old) is type(new) and old and not new and type(old) in (list, str):
        yield Finding("V106", path, f"found {described(new)}; the original is {described(old)}")
    elif type(old) is list and type(new) is list and "" in new and "" not in old:
        yield Finding("V106", (*path, new.index("")), "an empty text, which providers refuse")
    yield from _check_value(path, old, new, budget)


def _check_value(path: Path, old: Any, new: Any, budget: Iterator[int]) -> Iterator[Finding]:
    if type(old) is str and type(new) in (dict, list):
        old = decode(old)  # `unwrap` replaces a text with the value that it encodes
    if type(old) is not type(new):
        yield Finding("V104", path, f"found {described(new)}; the original is {described(old)}")
    elif type(old) is str:
        yield from _check_text(path, old, new, budget)
    elif type(old) is dict:
        yield from _check_object(path, old, new, budget)
    elif type(old) is list:
        yield from _check_list(path, old, new, budget)
    elif old != new:
        yield Finding("V105", path, f"found {described(new)}; the original is {described(old)}")


def _check_notation(path: Path, old: str, new: str) -> Iterator[Finding]:
    before, after = parse(old), parse(new)
    if before is None or after is None:
        return
    # What remains of a Python literal may also be JSON: `[1, 2]`.
    if before[1].name not in (after[1].name, "Python literal"):
        yield Finding("V104", path, f"the text is {after[1].name}; the original is {before[1].name}")


def _check_object(path: Path, old: dict[str, Any], new: dict[str, Any], budget: Iterator[int]) -> Iterator[Finding]:
    for key, value in new.items():
        if key in old:
            yield from _check_value((*path, key), old[key], value, budget)
        else:
            yield Finding("V107", (*path, key), f"the original has no key {short(key)} here{suggestion(key, old)}")
    order = [key for key in old if key in new]
    moved = [key for key, expected in zip((key for key in new if key in old), order, strict=True) if key != expected]
    if moved:
        yield Finding("V108", (*path, moved[0]), f"the key {short(moved[0])} is at another position in the original")


def _check_list(path: Path, old: list[Any], new: list[Any], budget: Iterator[int]) -> Iterator[Finding]:
    start = 0
    for index, item in enumerate(new):
        # The first item that fits leaves most items for the others.
        fits = (at for at in range(start, len(old)) if _fits(old[at], item, budget))
        here, found = (*path, index), next(fits, None)
        marker = _LIST_MARKER.fullmatch(item) if type(item) is str else None
        if found is not None:
            start = found + 1
        elif marker and index == len(new) - 1:
            earlier = _LIST_MARKER.fullmatch(old[-1]) if old and type(old[-1]) is str else None
            removed = len(old) - index + (int(earlier[1]) - 1 if earlier else 0)
            if int(marker[1]) != removed:
                yield Finding("V111", here, f"the marker counts {int(marker[1]):,} items; {removed:,} were removed")
            yield from _check_mentions(here, marker[2], old)
        elif len(new) == len(old):
            yield from _check_value(here, old[index], item, budget)
            start = index + 1
        else:
            yield Finding("V109", here, f"the original has no such item here: {described(item)}")


def _fits(old: Any, new: Any, budget: Iterator[int]) -> bool:
    return next(budget, None) is not None and next(_check_value((), old, new, budget), None) is None


def _check_text(path: Path, old: str, new: str, budget: Iterator[int]) -> Iterator[Finding]:
    mentions = _marked(old, new)
    if mentions is not None:
        yield from _check_mentions(path, mentions, old)
        return
    before, after = decode(old), decode(new)
    if type(before) is type(after) and type(before) is not str:
        yield from _check_notation(path, old, new)
        yield from _check_value(path, before, after, budget)
        return
    marker = _MARKER.search(new)
    if marker and old.startswith(new[: marker.start()]):
        words = f"the marker counts {int(marker[1]):,} characters, after which the original does not continue so"
        yield Finding("V111", path, words)
    else:
        same = _common_length(old, new)
        yield Finding("V110", path, f"differs from the original after {same:,} characters, without a marker")


def _common_length(one: str, other: str) -> int:
    shorter = min(len(one), len(other))
    return next((index for index in range(shorter) if one[index] != other[index]), shorter)


def _check_mentions(path: Path, mentions: str, old: Any) -> Iterator[Finding]:
    names = [name for names in mentions.split(_MENTIONS)[1:] for name in names.split(", ")]
    texts = "\0".join(_texts(old)) if names else ""
    for name in names:
        if name not in texts:
            yield Finding("V111", path, f"the marker mentions {short(name)}, which the original does not contain")


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value, with keys and the texts in structured text."""
    if type(value) is str:
        yield value
        decoded = decode(value)
        if type(decoded) is not str:
            yield from _texts(decoded)
    elif type(value) is dict:
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif type(value) is list:
        for item in value:
            yield from _texts(item)


def _marked(old: str, new: str) -> str | None:
    """Return what the markers of a text mention; None if it does not consist of ranges of `old` and true markers."""
    if new == old or not new:
        return ""
    pending = [(0, 0, "")]
    seen: set[tuple[int, int]] = set()
    while pending and len(seen) < _MAX_POSITIONS:
        at, start, mentions = pending.pop()
        if (at, start) in seen:
            continue
        seen.add((at, start))
        if len(old) - start == len(new) - at and old.endswith(new[at:]):
            return mentions
        following = [
            (end, next_start, mentions + more)
            for marker in islice(_MARKER.finditer(new, at), _MAX_MARKERS)
            if old.startswith(new[at : marker.start()], start)
            for next_start in _next_starts(old, start + marker.start() - at, int(marker[1]))
            for end, more in _ends(new, marker)
        ]
        pending += reversed(following)
    return None


def _next_starts(old: str, start: int, count: int) -> Iterator[int]:
    """Yield where `old` can continue after `count` removed characters, some of which its own markers count."""
    counted = {0: None}
    for marker in islice(_MARKER.finditer(old, start), _MAX_MARKERS):
        more = [int(marker[1]) - (end - marker.start()) for end, _ in _ends(old, marker)]
        counted |= {known + extra: None for known in list(counted)[:_MAX_COUNTS] for extra in more}
    for extra in counted:
        if start < start + count - extra <= len(old):
            yield start + count - extra


def _ends(text: str, marker: re.Match[str]) -> Iterator[tuple[int, str]]:
    """Yield where a text can continue after a marker, and what the marker then mentions: values may contain `]`."""
    end = marker.end()
    for _ in range(_MAX_MARKERS):
        end = text.find("]", end) + 1
        mentions = text[marker.end() : end - 1]
        if not end or (mentions and (not mentions.startswith(_MENTIONS) or "…[" in mentions)):
            return
        if text.startswith("…", end):
            yield end + 1, mentions
        yield end, mentions
        if not mentions:
            return
