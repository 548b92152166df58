"""Whether a stored history is a reduction of another: the same bytes outside the contents (law 1), and contents that lie within the originals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from reducer.errors import HistoryError
from reducer.stored import Return, returns
from reducer.validate import find_messages, placed
from reducer.validate.document import Document, documents
from reducer.validate.finding import Finding, Path, described, short
from reducer.validate.within import check_content

_MOST = 100
"""Differences outside the contents that are told."""


def against(stored: bytes, original: bytes) -> list[Finding]:
    """Check that `stored` is a reduction of `original`: give what breaks laws 1 to 4 and 7, with line and column in `stored`.

    Both: a stored history, or one on each line. Contents that are the same bytes are not looked into. Raises nothing.
    """
    if stored == original:
        return []
    new, old = list(documents(stored)), list(documents(original))
    if len(new) != len(old):
        return [Finding("V101", (), f"{len(new):,} histories; the original has {len(old):,}", 1, 1)]
    return [finding for pair in zip(old, new, strict=True) for finding in _compared(*pair)]


def _compared(old: Document, new: Document) -> list[Finding]:
    if old.text == new.text:
        return []
    try:
        before, after = list(returns(_bytes(old))), list(returns(_bytes(new)))
    except HistoryError:
        before = after = []
    root = _root(new)
    findings: list[Finding] = []
    paths = {path: one.untouched for one in before if (path := _path(root, one)) is not None}
    differs = _first_difference(old.text, before, new.text, after)
    if differs is not None:
        outside = list(islice(_outside((), old.value, new.value, paths), _MOST)) if old.is_read and new.is_read else []
        if not outside:
            line = new.line + new.text.count("\n", 0, differs)
            column = differs - new.text.rfind("\n", 0, differs)
            outside = [Finding("V102", (), f"from here on other bytes than in the original: {short(new.text[differs : differs + 20])}", line, column)]
        findings += outside
    theirs = {(one.message, one.part, one.tool, one.call_id): one for one in before}
    for one in after:
        other = theirs.get((one.message, one.part, one.tool, one.call_id))
        if other is None or other.untouched or old.text[other.start : other.end] == new.text[one.start : one.end]:
            continue
        findings += check_content(_path(root, one) or (), other.content, one.content)
    return placed(new, findings)


def _bytes(document: Document) -> bytes:
    return document.text.encode("utf-8", "surrogatepass")


def _root(document: Document) -> tuple[Path, bool] | None:
    """Give where the messages stand, and whether it is one message alone."""
    found = find_messages(document.value) if document.is_read else None
    return None if found is None else (found[0], type(found[1]) is dict)


def _path(root: tuple[Path, bool] | None, one: Return) -> Path | None:
    if root is None:
        return None
    message: Path = () if root[1] else (one.message,)
    return (*root[0], *message, "parts", one.part, "content")


def _gaps(text: str, found: Sequence[Return]) -> Iterator[tuple[int, str]]:
    """Give the stretches of a text that no rule can change, each with its start."""
    done = 0
    for one in found:
        if not one.untouched:
            yield done, text[done : one.start]
            done = one.end
    yield done, text[done:]


def _first_difference(old: str, before: Sequence[Return], new: str, after: Sequence[Return]) -> int | None:
    """Find where the texts first differ outside the contents; None where they do not."""
    # What is touched goes by the original: a content cannot become one that is not.
    after = [one._replace(untouched=other.untouched) for one, other in zip(after, before, strict=False)] if len(after) == len(before) else after
    theirs = _gaps(old, before)
    for start, gap in _gaps(new, after):
        other = next(theirs, (0, ""))[1]
        if gap != other:
            same = next((index for index, (a, b) in enumerate(zip(gap, other, strict=False)) if a != b), min(len(gap), len(other)))
            return min(start + same, len(new) - 1)
    return None if next(theirs, None) is None else len(new) - 1


def _outside(path: Path, old: Any, new: Any, contents: dict[Path, str]) -> Iterator[Finding]:
    """Tell what differs, outside the contents that rules can change."""
    if path in contents:
        why = contents[path]
        if why and not _same(old, new):
            yield Finding("V103", path, f"differs from the original, and is never touched: {why}")
        return
    if type(old) is not type(new) or (type(old) not in (dict, list) and not _same(old, new)):
        yield Finding("V101", path, f"found {described(new)}; the original is {described(old)}")
    elif type(old) is dict:
        yield from (Finding("V101", (*path, key), f"the key {short(key)} of the original is gone") for key in old if key not in new)
        yield from (Finding("V101", (*path, key), f"the original has no key {short(key)} here") for key in new if key not in old)
        if list(old) != list(new) and old.keys() == new.keys():
            yield Finding("V101", path, f"the keys stand in another order: {', '.join(list(new)[:8])[:200]}; expected {', '.join(list(old)[:8])[:200]}")
        for key, value in new.items():
            if key in old:
                yield from _outside((*path, key), old[key], value, contents)
    elif type(old) is list:
        if len(old) != len(new):
            yield Finding("V101", path, f"{len(new):,} items; the original has {len(old):,}")
        for index, (before, after) in enumerate(zip(old, new, strict=False)):
            yield from _outside((*path, index), before, after, contents)


def _same(old: Any, new: Any) -> bool:
    return type(old) is type(new) and (bool(old == new) or (old != old and new != new))
