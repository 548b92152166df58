"""Check laws 1 to 4 and 7 on a reduced history and its original, independently of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from reducer.engine import attempt
from reducer.errors import HistoryError
from reducer.formats import NOTATIONS, decode, line_end, parse, read_as, unwrapped
from reducer.histories.format import Path
from reducer.histories.ranges import is_cut
from reducer.histories.repeats import Repeats
from reducer.histories.source import described, encode, short
from reducer.histories.stored import Content, returns
from reducer.histories.validate import Finding, Positions, locate
from reducer.markers import MAX_COUNT, PREFIX, Marker, read_item, repeats_in
from reducer.references import searched
from reducer.values import Unreducible, chars

_MAX_FINDINGS = 50
_MAX_COMPARED = 1_000_000
"""Comparisons of values per content. When they are used up, list items count as different."""
_Contents = Sequence[tuple[Content, str]]
"""The contents of a history in order, each with the reason why rules never apply to it."""


def compare(new: bytes, old: bytes, first_line: int = 1) -> list[Finding]:
    """Return the places where a stored history is not a reduction of the original. Never raise.

    The history starts on `first_line` of its file.
    """
    if new == old:
        return []
    after, before = _contents(new), _contents(old)
    repeats = _believed(new)
    positions = Positions(new)
    findings = list(_check_outside(new, after, old, before, positions))
    pairs = zip(after, before, strict=True) if len(after) == len(before) else ()
    for (mine, _), (theirs, untouched) in pairs:
        path = positions.path(mine.start)
        if new[mine.start : mine.end] == old[theirs.start : theirs.end]:
            continue
        if untouched:
            findings.append(Finding("V103", path, f"rules never reduce this content: {untouched}"))
        else:
            findings += check_content(theirs.content, mine.content, path, repeats=repeats)
    return locate(new, findings, first_line)


def _contents(data: bytes) -> _Contents:
    try:
        found = [(copy, one.untouched) for one in returns(data) for copy in one.copies]
    except HistoryError:
        return []
    return sorted(found, key=lambda one: one[0].start)


def _believed(data: bytes) -> frozenset[str]:
    """Return the markers of repeats in a history whose calls come before them and show as much as they say."""
    repeats = Repeats(attempt)
    believed: frozenset[str] = frozenset()
    with suppress(HistoryError):
        for one in returns(data):
            if not one.untouched:
                believed |= repeats.believed(one.content)
                repeats.show(one.tool, one.call_id, one.content)
    return believed


def _check_outside(
    new: bytes, after: _Contents, old: bytes, before: _Contents, positions: Positions
) -> Iterator[Finding]:
    """Yield a finding for the first difference outside the contents."""
    for (start, mine), (_, theirs) in zip_longest(
        _outside(new, after), _outside(old, before), fillvalue=(len(new), b"")
    ):
        if mine != theirs:
            same = _common_length(mine, theirs)
            found, expected = (piece[same : same + 20].decode(errors="replace") for piece in (mine, theirs))
            words = f"differs outside the contents: {_difference(found, expected)}"
            yield Finding("V101", positions.path(start + same), words)
            return


def _outside(data: bytes, contents: _Contents) -> Iterator[tuple[int, bytes]]:
    end = 0
    for content, _ in contents:
        yield end, data[end : content.start]
        end = content.end
    yield end, data[end:]


def _common_length(one: str | bytes, other: str | bytes) -> int:
    for index, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return index
    return min(len(one), len(other))


def _difference(new: Any, old: Any) -> str:
    return f"found {described(new)}; the original has {described(old)}"


class _Comparison(NamedTuple):
    """What is left of the comparisons of a content, and what can take the place of a text.

    - `unwraps`: its value.
    - `repeats`: markers of repeats, also in place of lines and items.
    """

    remaining: Iterator[int]
    unwraps: bool
    repeats: frozenset[str]


def check_content(
    old: Any, new: Any, path: Path = (), unwraps: bool = True, repeats: frozenset[str] = frozenset()
) -> list[Finding]:
    """Return the places where a decoded content is not a reduction of the original.

    With `unwraps`, a text below the root can be replaced with the value that it encodes. Markers in `repeats` can take
    the place of texts, lines and items.
    """
    comparison = _Comparison(iter(range(_MAX_COMPARED)), unwraps, repeats)
    try:
        findings = list(islice(_check_whole(path, old, new, comparison), _MAX_FINDINGS))
        after, before = chars(new), chars(old)
    except (RecursionError, Unreducible):
        return [Finding("V109", path, "nested too deeply to compare")]
    if after > before:
        findings.append(Finding("V112", path, f"{after:,} characters; the original has {before:,}"))
    return findings


def _check_whole(path: Path, old: Any, new: Any, comparison: _Comparison) -> Iterator[Finding]:
    """Check a content, or what it contains if it is a wrapper of MCP, of which nothing else changes."""
    before, after = unwrapped(old), unwrapped(new)
    if before is old:
        yield from _check_root(path, old, new, comparison)
        return
    structure, reduced = (decode(one) if type(one) is str else one for one in (old, new))
    if type(structure) is not type(reduced) or _envelope(structure) != _envelope(reduced):
        yield Finding("V104", path, f"found {described(new)}; the original is a wrapper of MCP")
    else:
        yield from _check_root(path, before, after, comparison)


def _envelope(wrapper: Any) -> dict[str, Any]:
    """Return what a wrapper of MCP contains beside the two copies of its value."""
    if type(wrapper) is not dict:
        return {}
    return {
        key: value if key not in ("content", "structuredContent") else type(value) for key, value in wrapper.items()
    }


def _check_root(path: Path, old: Any, new: Any, comparison: _Comparison) -> Iterator[Finding]:
    if type(old) is not type(new):
        yield Finding("V104", path, _difference(new, old))
        return
    if type(old) is str:
        yield from _check_notation(path, old, new)
        old, new = decode(old), decode(new)
    if type(old) is dict and type(new) is dict:
        for key in old:
            if key not in new:
                words = f"the root key {short(key)} is missing; expected it with an empty value"
                yield Finding("V106", (*path, key), words)
    elif type(old) is type(new) and old and not new:
        yield Finding("V106", path, _difference(new, old))
    elif type(new) is list and "" in new and "" not in old:
        yield Finding("V106", (*path, new.index("")), "an empty text, which providers refuse")
    yield from _check_value(path, old, new, comparison)


def _check_value(path: Path, old: Any, new: Any, comparison: _Comparison) -> Iterator[Finding]:
    if type(old) is str and type(new) in (dict, list) and comparison.unwraps:
        old = decode(old)  # `unwrap` replaces a text with its value
    if type(old) is not type(new):
        yield Finding("V104", path, _difference(new, old))
    elif type(old) is str:
        yield from _check_text(path, old, new, comparison)
    elif type(old) is dict:
        yield from _check_object(path, old, new, comparison)
    elif type(old) is list:
        yield from _check_list(path, old, new, comparison)
    elif old != new and (old == old or new == new):  # NaN is not equal to itself
        yield Finding("V105", path, _difference(new, old))


def _check_notation(path: Path, old: str, new: str) -> Iterator[Finding]:
    before, after = parse(old), parse(new)
    if not before or not after:
        return
    notation, expected = after[1].name, before[1].name
    # A reduced Python literal can also be JSON, such as `[1, 2]`.
    if notation not in (expected, expected.replace("Python literal", "JSON")):
        yield Finding("V104", path, f"the text is {notation}; the original is {expected}")


def _check_object(path: Path, old: dict[str, Any], new: dict[str, Any], comparison: _Comparison) -> Iterator[Finding]:
    for key, value in new.items():
        if key in old:
            yield from _check_value((*path, key), old[key], value, comparison)
        else:
            yield Finding("V107", (*path, key), f"the original has no key {short(key)} here")
    order, expected = filter(old.__contains__, new), filter(new.__contains__, old)
    for key, other in zip(order, expected, strict=True):
        if key != other:
            yield Finding("V108", (*path, key), f"the key {short(key)} is at another position in the original")
            return


def _check_list(path: Path, old: list[Any], new: list[Any], comparison: _Comparison) -> Iterator[Finding]:
    start = repeated = written = 0
    for index, item in enumerate(new):
        if type(item) is str and item in comparison.repeats:
            repeated += next(repeats_in(item)).count
            written += 1
            continue
        # Matching the first possible item leaves the most items for the rest.
        fits = (at for at in range(start, len(old)) if _fits(old[at], item, comparison))
        here, found = (*path, index), next(fits, None)
        marker = read_item(item, _known_in(old)) if index == len(new) - 1 else None
        if found is not None:
            start = found + 1
        elif marker is not None:
            removed = len(old) - index + written
            yield from _check_count(here, marker, old, removed, repeated)
        elif len(new) == len(old):
            yield from _check_value(here, old[index], item, comparison)
            start = index + 1
        else:
            yield Finding("V109", here, f"the original has no such item here: {described(item)}")


def _check_count(path: Path, marker: Marker, old: list[Any], removed: int, repeated: int) -> Iterator[Finding]:
    """Check a marker in place of `removed` items, without up to `repeated` that earlier returns show.

    It can include the count of an earlier marker.
    """
    earlier = read_item(old[-1], lambda name: True) if old else None
    expected = removed if earlier is None else min(removed - 1 + earlier.count, MAX_COUNT)
    if not any(most - repeated <= marker.count <= most for most in (removed, expected)):
        yield Finding("V111", path, f"the marker counts {marker.count:,} items; {expected:,} were removed")


def _fits(old: Any, new: Any, comparison: _Comparison) -> bool:
    return next(comparison.remaining, None) is not None and next(_check_value((), old, new, comparison), None) is None


def _check_text(path: Path, old: str, new: str, comparison: _Comparison) -> Iterator[Finding]:
    if not new or new == old or new in comparison.repeats:
        return
    if is_cut(old, _with_lines(old, new, comparison.repeats), _known_in(old)):
        return
    before, after = decode(old), decode(new)
    if type(before) is type(after) and type(before) is not str:
        yield from _check_notation(path, old, new)
        yield from _check_value(path, before, after, comparison)
    elif not any(_is_part(before, after, comparison) for before, after in _readings(old, new)):
        same = _common_length(old, new)
        yield Finding("V110", path, f"differs from the original after {same:,} characters, without a correct marker")


def _with_lines(old: str, new: str, repeats: frozenset[str]) -> str:
    """Return a text with lines of the original in place of the markers of repeats.

    Lines are counted from the start before the first cut, and from the end after it.
    """
    end = line_end(old)
    before, after = old.split(end), new.split(end)
    if repeats.isdisjoint(after):
        return new
    is_cut_line = [PREFIX in line and line not in repeats for line in after]
    cut = is_cut_line.index(True) if any(is_cut_line) else len(after)
    head = _filled(before, after[:cut], repeats)
    tail = _filled(before[::-1], after[:cut:-1], repeats)
    return end.join([*head, *after[cut : cut + 1], *tail[::-1]])


def _filled(old: Sequence[str], new: Sequence[str], repeats: frozenset[str]) -> list[str]:
    filled: list[str] = []
    for line in new:
        count = next(repeats_in(line)).count if line in repeats else 0
        filled += old[len(filled) : len(filled) + count] if count else [line]
    return filled


def _is_part(old: Any, new: Any, comparison: _Comparison) -> bool:
    return next(_check_value((), old, new, comparison), None) is None


def _readings(old: str, new: str) -> Iterator[tuple[Any, Any]]:
    """Yield the values of a text and its reduction in each notation in which both can be read."""
    if "\n" in old:
        yield _lines(old, new)
    for notation in NOTATIONS:
        if notation == "lines":
            continue
        before = read_as(old, [notation])
        after = read_as(new, [notation]) if before else None
        if before and after:
            yield before[0], after[0]


def _lines(old: str, new: str) -> tuple[list[str], list[str]]:
    # The line end of the original splits both: `new` can lack the lines that end differently.
    end = line_end(old)
    return old.removesuffix(end).split(end), new.removesuffix(end).split(end)


def _known_in(old: Any) -> Callable[[str], bool]:
    """Return a function that tells whether a marker can mention a value, because the original contains it."""
    encoded = cache(lambda: encode(old))
    text = cache(lambda: searched(old))  # without the escapes of nested JSON
    return cache(lambda name: encode(name)[1:-1] in encoded() or name in text())
