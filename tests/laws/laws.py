"""The laws of DESIGN 2 about a single content. Each function raises `AssertionError` if its law is broken."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from reducer.engine import attempt, reduce_content
from reducer.entities import Entity, expand, scan
from reducer.references import searched, searcher
from reducer.rules import Ruleset
from reducer.values import chars, dump, is_media, plain
from tests.helpers import compiled, decoded, decoded_nested, is_bounded, texts
from tests.laws.strategies import laws

_TEXT_MARKER = re.compile(r" ?…\[([1-9][0-9]*) more characters(\]|; mentions )")
_ITEM_MARKER = re.compile(r"…\[([1-9][0-9]*) more items[;\]]")

Read = Callable[[str], Any]


@dataclass(frozen=True)
class Case:
    """A content, the ruleset that reduces it as a return of `tool`, and what the laws depend on.

    preserved: the entity types that every step and `max_chars` preserve
    protected: the values that later messages reference
    read: a parser for contents in a notation that the laws do not know
    """

    ruleset: Ruleset
    content: Any
    preserved: frozenset[str] = frozenset()
    all_keys: bool = False
    unwraps: bool = False
    protected: frozenset[str] = frozenset()
    read: Read | None = None
    tool: str = "t"
    lines: bool = False

    def reduce(self, content: Any) -> Any:
        """Reduce a content with the ruleset of this case."""
        return reduce_content(self.ruleset, self.tool, content, protected=self.protected or None)


def written(content: Any) -> str:
    """Return the stored form of a content as JSON."""
    return dump(plain(content))


def _unbounded(preserve: Any) -> frozenset[str]:
    """Return the types that a `preserve` keeps without a bound."""
    return frozenset(() if isinstance(preserve, dict) else expand(preserve))


def case_of(
    rule: dict[str, Any], content: Any, protected: frozenset[str] = frozenset(), read: Read | None = None
) -> Case:
    """Return the case of a valid rule that is given as data."""
    ruleset = compiled(rule)
    assert ruleset is not None
    preserved = _unbounded(rule.get("preserve", ()))
    for step in rule["steps"]:
        preserved &= _unbounded(step.get("preserve", sorted(preserved)))
    unwraps = any("unwrap" in step for step in rule["steps"])
    lines = any("lines" in step for step in rule["steps"])
    return Case(ruleset, content, preserved, rule.get("keys") == "all", unwraps, protected, read, lines=lines)


def case_of_drawn(drawn: tuple[dict[str, Any], Ruleset, Any]) -> Case:
    """Return the case that `strategies.cases` drew."""
    rule, _, content = drawn
    return case_of(rule, content)


def structure(content: Any) -> Any:
    """Return the structure that the stored form of a content expresses."""
    return decoded(plain(content))


def expressed(content: Any) -> Any:
    """Replace every text that contains structure with the value that it expresses."""
    if isinstance(content, str):
        found = decoded_nested(content)
        return content if found is content else expressed(found)
    if isinstance(content, list):
        return [expressed(item) for item in content]
    if isinstance(content, dict) and not is_media(content):
        return {key: expressed(item) for key, item in content.items()}
    return content


# --- the laws


def law_2_types(case: Case, result: Any) -> None:
    assert type(result) is type(case.content) or type(case.content) not in (dict, list, str, tuple)
    assert type(plain(result)) is type(plain(case.content))
    assert type(structure(result)) is type(structure(case.content))


def law_3_root_keys(case: Case, result: Any) -> None:
    old, new = structure(case.content), structure(result)
    if isinstance(old, dict):
        assert list(new) == list(old)
    elif isinstance(old, (list, str)) and old:
        assert new
        assert isinstance(old, str) or "" not in new or "" in old
    if case.all_keys:
        _assert_all_keys(old, new)


def _assert_all_keys(old: Any, new: Any) -> None:
    if isinstance(old, dict) and isinstance(new, dict) and new:
        assert list(new) == list(old)
        for key in old:
            _assert_all_keys(old[key], new[key])


def law_4_subset(case: Case, result: Any) -> None:
    old, new = structure(case.content), structure(result)
    is_unwrapped = case.unwraps and is_subset(old, new, unwraps=True, lines=case.lines)
    assert is_unwrapped or is_subset(plain(case.content), plain(result), case.read, lines=case.lines), result


def law_5_idempotent(case: Case, result: Any) -> None:
    assert written(case.reduce(result)) == written(result)
    if not isinstance(result, str):
        assert written(case.reduce(json.loads(written(result)))) == written(result)


def law_7_never_larger(case: Case, result: Any) -> None:
    assert chars(result) <= chars(case.content)


def law_8_preserved(case: Case, result: Any) -> None:
    first: dict[tuple[str, str], str] = {}
    for entity in _entities(case.content, case.preserved):
        first.setdefault((entity.type, entity.canonical), entity.value)
    found = list(texts(expressed(structure(result))))
    for value in first.values():
        assert any(is_bounded(value, text) for text in found), value


def law_8_no_halves(case: Case, result: Any) -> None:
    found = list(texts(expressed(structure(case.content))))
    arrived = {entity.value for entity in _entities(case.content)}
    for entity in _entities(result):
        assert entity.value in arrived or any(is_bounded(entity.value, text) for text in found), entity


def _entities(content: Any, types: frozenset[str] | None = None) -> Iterator[Entity]:
    return (entity for text in texts(expressed(structure(content))) for entity in scan(text, types))


def law_11_live_as_stored(case: Case, result: Any) -> None:
    stored = plain(case.content)
    assert stored is case.content or written(case.reduce(stored)) == written(result)


def references_stay(case: Case, result: Any) -> None:
    search = searcher(case.protected)
    assert search(searched(plain(result))) >= search(searched(plain(case.content)))


def media_stays(case: Case, result: Any) -> None:
    if isinstance(case.content, list):
        assert [item for item in result if is_media(item)] == [item for item in case.content if is_media(item)]


LAWS = (
    law_2_types,
    law_3_root_keys,
    law_4_subset,
    law_5_idempotent,
    law_7_never_larger,
    law_8_preserved,
    law_8_no_halves,
    law_11_live_as_stored,
    references_stay,
    media_stays,
)


def check(case: Case) -> Any:
    """Reduce a case, check all laws on the result, and return it."""
    before = written(case.content)
    result = case.reduce(case.content)
    assert written(case.content) == before, "the content was changed in place"
    if written(result) != before:
        for law in LAWS:
            law(case, result)
    else:
        assert result is case.content
        law_11_live_as_stored(case, result)
    return result


Test = Callable[[], None]


def law_tests(cases: st.SearchStrategy[Case], *pinned: Case) -> tuple[Test, Test]:
    """Return two tests of a topic: the laws hold on generated and pinned cases, and rules reduce enough cases (law 12).

    Rules reduce every pinned case and at least 40% of the generated ones, and at most 10% have a fault.
    """

    @laws
    @given(cases)
    def hold(case: Case) -> None:
        check(case)

    for case in pinned:
        hold = example(case)(hold)

    def are_reduced() -> None:
        assert all(case.reduce(case.content) is not case.content for case in pinned)
        counts: Counter[str] = Counter()

        @settings(laws, max_examples=200, database=None, derandomize=True)
        @given(cases)
        def count(case: Case) -> None:
            outcome = attempt(case.ruleset, case.tool, case.content, case.protected or None)
            counts.update(all=1, changed=outcome.content is not case.content, faults=bool(outcome.fault))

        count()
        assert counts["changed"] >= 0.4 * counts["all"], counts
        assert counts["faults"] <= 0.05 * counts["all"], counts

    return hold, are_reduced


# --- subsets, parsed with the standard library where possible


def is_subset(old: Any, new: Any, read: Read | None = None, *, unwraps: bool = False, lines: bool = False) -> bool:
    """Return whether `new` is `old` without some keys, items and ranges of text, with correct markers in their places.

    A text with structure keeps its notation: tuples stay tuples, JSON lines stay JSON lines. With `unwraps`, the value
    that a text expresses may replace the text. With `lines`, whole lines of a text may be left out.
    """
    if unwraps and isinstance(old, str):
        found, left = (decoded_nested(value) if isinstance(value, str) else value for value in (old, new))
        if found is not old and left is not old and is_subset(found, left, unwraps=True, lines=lines):
            return True
    if type(old) is not type(new):
        return False
    if isinstance(old, str):
        if new in ("", old) or is_cut(old, new):
            return True
        read = read or _reader(old)
        if read is None and lines:
            end = "\r\n" if old.count("\r\n") == old.count("\n") else "\n"
            return is_subset(*(text.removesuffix(end).split(end) for text in (old, new)))
        with suppress(ValueError, SyntaxError):
            return read is not None and is_subset(read(old), read(new), lines=lines)
        return False
    if isinstance(old, dict):
        is_same = [key for key in old if key in new] == list(new)
        return is_same and all(is_subset(old[key], new[key], unwraps=unwraps, lines=lines) for key in new)
    if isinstance(old, (list, tuple)):
        rests = [new, new[:-1]] if _ends_with_marker(old, new) else [new]
        return any(_is_subsequence(old, rest, unwraps, lines) for rest in rests)
    return bool(old == new)


def _is_subsequence(old: Any, new: Any, unwraps: bool, lines: bool) -> bool:
    remaining = iter(old)
    # Taking the first item that fits leaves most items for the others.
    return all(any(is_subset(candidate, item, unwraps=unwraps, lines=lines) for candidate in remaining) for item in new)


def _ends_with_marker(old: Any, new: Any) -> bool:
    marker = _ITEM_MARKER.match(new[-1]) if new and isinstance(new[-1], str) else None
    if marker is None:
        return False
    arrived = old and isinstance(old[-1], str) and _ITEM_MARKER.match(old[-1])
    return bool(arrived) or int(marker[1]) == len(old) - len(new) + 1


def is_cut(old: str, new: str) -> bool:
    """Return whether `new` consists of ranges of `old` in order, with a marker between two of them."""
    # The new marker includes the count of an earlier one, which a tool may have forged.
    arrived = _TEXT_MARKER.finditer(new) if _TEXT_MARKER.search(old) else ()
    return pieces(old, new) is not None or any(old.startswith(new[: marker.start()]) for marker in arrived)


def pieces(old: str, new: str) -> list[tuple[int, int]] | None:
    """Return the ranges of `old` that `new` keeps between its markers, or None if a marker has a wrong count."""

    def ranges(at: int, start: int) -> list[tuple[int, int]] | None:
        if start <= len(old) and old[start:] == new[at:]:
            return [(start, len(old))]
        for match in _TEXT_MARKER.finditer(new, at):
            kept = new[at : match.start()]
            if not old.startswith(kept, start):
                continue
            after = start + len(kept) + int(match[1])
            for end in _ends(new, match):
                found = ranges(end, after)
                if found is not None:
                    return [(start, start + len(kept)), *found]
        return None

    return ranges(0, 0)


def _ends(text: str, marker: re.Match[str]) -> Iterator[int]:
    """Yield the positions where a marker may end: its mentions may contain brackets, and a kept sentence may follow."""
    brackets = [marker.end() - 1] if marker[2] == "]" else range(marker.end(), len(text))
    for bracket in brackets:
        if text[bracket] == "]":
            yield bracket + 1
            if text.startswith("…", bracket + 1):
                yield bracket + 2


@lru_cache(maxsize=4096)  # a text of many lines is read from each line on
def _reader(text: str) -> Read | None:
    """Return the parser for the notation of a text, or None for plain text."""
    for read in (_read_json, _read_lines, ast.literal_eval, _read_headed, decoded):
        try:
            if isinstance(read(text), (dict, list, tuple)):
                return read
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return None


def _read_json(text: str) -> Any:
    value = json.loads(text)
    return (value,) if isinstance(value, str) and _reader(value) else value


def _read_lines(text: str) -> Any:
    first, *others = map(json.loads, text.split("\n"))
    # A single line is not a list of lines, and lines without structure are plain text.
    return [first, *others] if others and all(isinstance(line, (dict, list)) for line in (first, *others)) else None


def _read_headed(text: str) -> Any:
    heading, _, rest = text.partition("\n")
    return (heading, rest) if rest[:1] in ("[", "{", "(") and _reader(rest) else None
