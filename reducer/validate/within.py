"""Whether a content is a reduction of another: laws 2, 3, 4 and 7."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from reducer.codecs import decode, read
from reducer.codecs.literal import read_literal
from reducer.validate.finding import Finding, Path, described, nearest, short
from reducer.validate.texts import cut, items_left_out, mentions
from reducer.values import Unreducible, chars

_MOST = 50
"""Findings of one content: one that has more is another content."""
_COMPARED = 200_000
"""Pairs of items that are compared in one content before it is called another one; real ones take a few thousand."""
_SIMILAR = 3
"""An item with at most so many findings is taken for a changed one of the original, with more for a new one."""
_NEAR = 40


def check_content(path: Path, old: Any, new: Any) -> list[Finding]:
    """Compare the content of a tool return with the original one."""
    comparison = _Comparison()
    findings = list(islice(comparison.root(path, old, new), _MOST))
    if not findings:
        findings += comparison.mentioned(path, old, new)
    try:
        before, after = chars(old), chars(new)
    except Unreducible:
        return findings
    if after > before:
        findings.append(Finding("V112", path, f"{after:,} characters; the original has {before:,}"))
    return findings


class _Comparison:
    """How many pairs of items may still be compared, and the texts with marks that were seen."""

    def __init__(self) -> None:
        self._left = _COMPARED
        self._marked: list[tuple[Path, str]] = []
        self._only_whether = 0  # above 0 while it is asked whether values fit, not where they differ

    def root(self, path: Path, old: Any, new: Any) -> Iterator[Finding]:
        if type(old) is not type(new):
            yield Finding("V104", path, f"found {described(new)}; the original is {described(old)}")
            return
        if type(old) is str:
            if old == new:
                return
            said, says = decode(old), decode(new)
            if type(said) is not type(says):
                yield Finding("V104", path, f"the text says {described(says)}; the original says {described(said)}")
                return
            yield from _notation(path, old, new)
            old, new = said, says
        if type(old) is dict:
            for key in old:
                if key not in new:
                    yield Finding("V106", (*path, key), f"the root key {short(key)} is gone; expected it with an empty value")
        elif old and not new and type(old) in (list, str):
            yield Finding("V106", path, f"found {described(new)}; the original is {described(old)}")
            return
        elif type(old) is list and "" in new and "" not in old:
            yield Finding("V106", (*path, new.index("")), "an empty text, which the original has none of here: providers refuse it")
        yield from self.value(path, old, new)

    def value(self, path: Path, old: Any, new: Any) -> Iterator[Finding]:
        if type(old) is str and type(new) is not str:
            # `unwrap` puts in place of a text what it says.
            old = decode(old)
        kind = type(old)
        if kind is not type(new):
            yield Finding("V104", path, f"found {described(new)}; the original is {described(old)}")
        elif kind is str:
            yield from self._text(path, old, new)
        elif kind is dict:
            yield from self._object(path, old, new)
        elif kind is list:
            yield from self._list(path, old, new)
        elif old != new:
            yield Finding("V105", path, f"found {described(new)}; the original is {described(old)}")

    def _text(self, path: Path, old: str, new: str) -> Iterator[Finding]:
        code, what = cut(old, new)
        if not code:
            if what:
                self._marked.append((path, what))
            return
        said, says = decode(old), decode(new)
        if type(said) is type(says) and type(said) is not str:
            yield from _notation(path, old, new)
            yield from self.value(path, said, says)
        else:
            yield Finding(code, path, what)

    def _object(self, path: Path, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Finding]:
        order = iter(old)
        ordered = True
        for key, value in new.items():
            if key not in old:
                yield Finding("V107", (*path, key), f"the original has no key {short(key)} here{nearest(key, old)}")
                continue
            if ordered and not any(key == other for other in order):
                yield Finding(
                    "V108", (*path, key), f"the key {short(key)} stands before {short(next(reversed(new)))} in the original, or otherwise in another order"
                )
                ordered = False
            yield from self.value((*path, key), old[key], value)

    def _list(self, path: Path, old: list[Any], new: list[Any]) -> Iterator[Finding]:
        at = 0
        for index, item in enumerate(new):
            here = (*path, index)
            # The first item that fits leaves the most for the others: no need to look further.
            fits = next((place for place in range(at, len(old)) if self._fits(old[place], item)), None)
            if fits is not None:
                at = fits + 1
                continue
            if index == len(new) - 1 and (mark := items_left_out(item)) is not None:
                merged = items_left_out(old[-1]) if old else None
                went = len(old) - index + (0 if merged is None else merged[0] - 1)
                if mark[0] != went:
                    yield Finding("V111", here, f"the mark counts {mark[0]:,} items, and {went:,} went")
                elif mark[1]:
                    self._marked.append((here, mark[1]))
                continue
            if self._only_whether:
                yield Finding("V109", here, "")
                return
            if self._left <= 0:
                yield Finding("V109", here, "the lists differ too much to be compared further")
                return
            place = self._changed(old, at, item)
            if place is not None:
                yield from self.value(here, old[place], item)
                at = place + 1
            elif any(self._fits(old[place], item) for place in range(max(0, at - _NEAR), at)):
                yield Finding("V109", here, f"{described(item)} stands in the original, but before the items in front of it here")
            else:
                yield Finding("V109", here, f"the original has no such item here: {described(item)}")

    def _changed(self, old: list[Any], at: int, item: Any) -> int | None:
        """Find the item of the original that `item` was made of by changing little; None for one that is there already, or has none like it."""
        if type(item) not in (dict, list) or any(self._fits(old[place], item) for place in range(max(0, at - _NEAR), at)):
            return None
        best, fewest = None, _SIMILAR + 1
        for place in range(at, min(len(old), at + _NEAR)):
            if type(old[place]) is type(item):
                count = len(self._differences(old[place], item, fewest))
                if count < fewest:
                    best, fewest = place, count
        return best

    def _differences(self, old: Any, new: Any, most: int) -> list[Finding]:
        self._left -= 1
        marked = len(self._marked)
        self._only_whether += 1
        found = list(islice(self.value((), old, new), most)) if self._left > 0 else []
        self._only_whether -= 1
        if found:
            del self._marked[marked:]
        return found

    def _fits(self, old: Any, new: Any) -> bool:
        return self._left > 0 and not self._differences(old, new, 1)

    def mentioned(self, path: Path, old: Any, new: Any) -> Iterator[Finding]:
        """Check that what marks mention stands in the original."""
        named = [(where, name) for where, text in self._marked for name in mentions(text)]
        if not named:
            return
        whole = "\0".join(_texts(old))
        for where, name in named:
            if name not in whole:
                yield Finding("V111", where or path, f"the mark mentions {short(name)}, which the original does not have")


def _notation(path: Path, old: str, new: str) -> Iterator[Finding]:
    """Check that a text that holds structure is written in the notation of the original."""
    before, after = read(old, {}), read(new, {})
    if before is None or after is None or before[1].name == after[1].name:
        return
    # What is left of a Python literal may be JSON as well, `[1, 2]` for one.
    if before[1].name == "Python literal" and after[1].is_json and type(read_literal(new, {})) is not str:
        return
    yield Finding("V104", path, f"the text is written as {after[1].name}; the original as {before[1].name}")


def _texts(value: Any) -> Iterator[str]:
    """Give all texts in a value, keys too, and those in texts that hold structure."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if type(item) is str:
            yield item
            said = decode(item)
            if type(said) is not str:
                waiting.append(said)
        elif type(item) is list:
            waiting += item
        elif type(item) is dict:
            yield from item
            waiting += item.values()
