"""Whether a stored history is a reduction of another: the same bytes outside the contents (law 1), and contents that lie within the originals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from reducer.errors import HistoryError
from reducer.stored import Copy, Return, returns
from reducer.validate import placed
from reducer.validate.document import Document, documents
from reducer.validate.finding import Finding, Path, described, short
from reducer.validate.locate import paths_at
from reducer.validate.within import check_content

_MOST = 100
"""Differences outside the contents that are told."""


def against(stored: bytes, original: bytes) -> list[Finding]:
    """Check that `stored` is a reduction of `original`: give what breaks laws 1 to 4 and 7, with line and column in `stored`.

    Both: a stored history of any form, or one on each line. Contents that are the same bytes are not looked into. Raises nothing.
    """
    return [] if stored == original else compared(list(documents(stored)), original)


def compared(new: Sequence[Document], original: bytes) -> list[Finding]:
    """Do what `against` does, for what was read already."""
    old = list(documents(original))
    if len(new) != len(old):
        return [Finding("V101", (), f"{len(new):,} histories; the original has {len(old):,}", 1, 1)]
    return [finding for pair in zip(old, new, strict=True) for finding in compared_one(*pair)]


def compared_one(old: Document, new: Document) -> list[Finding]:
    """Compare one history, or line, with its original."""
    if old.text == new.text:
        return []
    try:
        before, after = _contents(old), _contents(new)
    except HistoryError:
        before = after = []
    findings: list[Finding] = []
    if len(after) == len(before):
        # What is touched goes by the original: a content cannot become one that is not.
        after = [one._replace(found=one.found._replace(untouched=other.found.untouched)) for one, other in zip(after, before, strict=True)]
    differs = _first_difference(old.text, before, new.text, after)
    if differs is None:
        # The contents stand in the same order in both, whatever copies of one another they are taken for.
        pairs = list(zip(before, after, strict=True))
    else:
        findings += _elsewhere(old, new, before, differs)
        theirs = {one.key: one for one in before}
        pairs = [(theirs[one.key], one) for one in after if one.key in theirs]
    for other, one in pairs:
        if other.found.untouched or old.text[other.place.start : other.place.end] == new.text[one.place.start : one.place.end]:
            continue
        wrong = check_content((), other.place.content, one.place.content)
        if wrong:
            path = paths_at(new.text, [one.place.start]).get(one.place.start, ())
            findings += [finding._replace(path=path + finding.path) for finding in wrong]
    return placed(new, findings)


class _Content(NamedTuple):
    """One content of a tool return: which of its copies it is, and where it stands."""

    found: Return
    number: int
    place: Return | Copy

    @property
    def key(self) -> tuple[object, ...]:
        """Give what the same content of another history has."""
        return self.found.message, self.found.part, self.found.tool, self.found.call_id, self.number


def _contents(document: Document) -> list[_Content]:
    found = returns(document.text.encode("utf-8", "surrogatepass"))
    contents = [_Content(one, number, place) for one in found for number, place in enumerate(one.places)]
    return sorted(contents, key=lambda one: one.place.start)


def _elsewhere(old: Document, new: Document, before: Sequence[_Content], differs: int) -> list[Finding]:
    """Tell what differs outside the contents, of which the first character stands at `differs`."""
    if old.is_read and new.is_read:
        at = paths_at(old.text, [one.place.start for one in before])
        paths = {at[one.place.start]: one.found.untouched for one in before if one.place.start in at}
        found = list(islice(_outside((), old.value, new.value, paths), _MOST))
        if found:
            return found
    line = new.line + new.text.count("\n", 0, differs)
    column = differs - new.text.rfind("\n", 0, differs)
    return [Finding("V102", (), f"from here on other bytes than in the original: {short(new.text[differs : differs + 20])}", line, column)]


def _gaps(text: str, found: Sequence[_Content]) -> Iterator[tuple[int, str]]:
    """Give the stretches of a text that no rule can change, each with its start."""
    done = 0
    for one in found:
        if not one.found.untouched:
            yield done, text[done : one.place.start]
            done = one.place.end
    yield done, text[done:]


def _first_difference(old: str, before: Sequence[_Content], new: str, after: Sequence[_Content]) -> int | None:
    """Find where the texts first differ outside the contents; None where they do not."""
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
        elif not why and type(old) is not type(new):
            yield Finding("V104", path, f"found {described(new)}; the original is {described(old)}")
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
