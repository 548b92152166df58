"""The laws of DESIGN 2 that speak of one content: each function raises `AssertionError` where its law is broken."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
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

    `preserved` has the types that every step and `max_chars` preserve, `protected` the values that later messages
    reference, and `read` reads the content where it is in a format of its own.
    """

    ruleset: Ruleset
    content: Any
    preserved: frozenset[str] = frozenset()
    all_keys: bool = False
    unwraps: bool = False
    protected: frozenset[str] = frozenset()
    read: Read | None = None
    tool: str = "t"

    def reduce(self, content: Any) -> Any:
        """Reduce a content as this case does."""
        return reduce_content(self.ruleset, self.tool, content, protected=self.protected or None)


def written(content: Any) -> str:
    """Return a content as JSON, with live objects as they are stored."""
    return dump(plain(content))


def case_of(
    rule: dict[str, Any], content: Any, protected: frozenset[str] = frozenset(), read: Read | None = None
) -> Case:
    """Return the case of a rule that is given as data and compiles."""
    ruleset = compiled(rule)
    assert ruleset is not None
    preserved = frozenset(expand(rule.get("preserve", ())))
    for step in rule["steps"]:
        preserved &= frozenset(expand(step.get("preserve", preserved)))
    unwraps = any("unwrap" in step for step in rule["steps"])
    return Case(ruleset, content, preserved, rule.get("keys") == "all", unwraps, protected, read)


def expressed(content: Any) -> Any:
    """Return a content in which every text that has structure is the value that it expresses."""
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
    assert type(result) is type(case.content)
    assert type(decoded(result)) is type(decoded(case.content))


def law_3_root_keys(case: Case, result: Any) -> None:
    old, new = decoded(case.content), decoded(result)
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
    assert is_subset(case.content, result, case.read) or (
        case.unwraps and is_unwrapped(decoded(case.content), decoded(result))
    ), result


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
    found = list(texts(expressed(decoded(result))))
    for value in first.values():
        assert any(is_bounded(value, text) for text in found), value


def law_8_no_halves(case: Case, result: Any) -> None:
    found = list(texts(expressed(decoded(case.content))))
    arrived = {entity.value for entity in _entities(case.content)}
    for entity in _entities(result):
        assert entity.value in arrived or any(is_bounded(entity.value, text) for text in found), entity


def _entities(content: Any, types: frozenset[str] | None = None) -> Iterator[Entity]:
    return (entity for text in texts(expressed(decoded(content))) for entity in scan(text, types))


def references_stay(case: Case, result: Any) -> None:
    search = searcher(case.protected)
    assert search(searched(result)) >= search(searched(case.content))


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
    return result


def assert_most_are_reduced(cases: st.SearchStrategy[Case], at_least: float = 0.4, faults: float = 0.1) -> None:
    """Law 12: check that rules reduce most generated contents, and that few are left alone because of a fault."""
    counts = {"all": 0, "changed": 0, "faults": 0}

    @settings(laws, max_examples=100, database=None, derandomize=True)
    @given(cases)
    def count(case: Case) -> None:
        outcome = attempt(case.ruleset, "t", case.content, case.protected or None)
        counts["all"] += 1
        counts["changed"] += outcome.content is not case.content
        counts["faults"] += bool(outcome.fault)

    count()
    assert counts["changed"] >= at_least * counts["all"], counts
    assert counts["faults"] <= faults * counts["all"], counts


# --- subsets, read with the standard library where it can


def is_subset(old: Any, new: Any, read: Read | None = None) -> bool:
    """Return whether `new` is `old` without some keys, items and ranges of text, with true markers in their places.

    A text that has structure keeps its notation: tuples stay tuples, JSON lines stay JSON lines.
    """
    if type(old) is not type(new):
        return False
    if isinstance(old, str):
        return new in ("", old) or is_cut(old, new) or _is_subset_within(old, new, read or _reader(old))
    if isinstance(old, dict):
        return [key for key in old if key in new] == list(new) and all(is_subset(old[key], new[key]) for key in new)
    if isinstance(old, (list, tuple)):
        return _is_subsequence(old, new) or (_ends_with_marker(old, new) and _is_subsequence(old, new[:-1]))
    return bool(old == new)


def is_unwrapped(old: Any, new: Any) -> bool:
    """Return whether `new` is a subset of `old` in which some texts are the values that they express."""
    if isinstance(old, str):
        found = decoded_nested(old)
        left = decoded_nested(new) if isinstance(new, str) else new
        return is_subset(old, new) or (found is not old and left is not old and is_unwrapped(found, left))
    if isinstance(old, dict) and isinstance(new, dict):
        return [key for key in old if key in new] == list(new) and all(is_unwrapped(old[key], new[key]) for key in new)
    if isinstance(old, list) and isinstance(new, list):
        remaining = iter(old)
        return all(any(is_unwrapped(candidate, item) for candidate in remaining) for item in new)
    return is_subset(old, new)


def is_cut(old: str, new: str) -> bool:
    """Return whether `new` consists of ranges of `old` in order, with a marker for what is between two of them."""
    return pieces(old, new) is not None or (_TEXT_MARKER.search(old) is not None and _starts_alike(old, new))


def pieces(old: str, new: str) -> list[tuple[int, int]] | None:
    """Return the ranges of `old` that `new` keeps between its markers; None if a marker counts wrongly."""

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
    """Yield where a marker may end: what it mentions may contain brackets, and a kept sentence may follow."""
    brackets = [marker.end() - 1] if marker[2] == "]" else range(marker.end(), len(text))
    for bracket in brackets:
        if text[bracket] == "]":
            yield bracket + 1
            if text.startswith("…", bracket + 1):
                yield bracket + 2


def _starts_alike(old: str, new: str) -> bool:
    # The count of a marker that arrived is added to the new one, and a tool may have forged it.
    return any(old.startswith(new[: marker.start()]) for marker in _TEXT_MARKER.finditer(new))


def _ends_with_marker(old: Any, new: Any) -> bool:
    marker = _ITEM_MARKER.match(new[-1]) if new and isinstance(new[-1], str) else None
    if marker is None:
        return False
    arrived = old and isinstance(old[-1], str) and _ITEM_MARKER.match(old[-1])
    return bool(arrived) or int(marker[1]) == len(old) - len(new) + 1


def _is_subsequence(old: Any, new: Any) -> bool:
    remaining = iter(old)
    # The first item that fits leaves the most for the others.
    return all(any(is_subset(candidate, item) for candidate in remaining) for item in new)


def _is_subset_within(old: str, new: str, read: Read | None) -> bool:
    if read is None:
        return False
    try:
        return is_subset(read(old), read(new))
    except (ValueError, SyntaxError):
        return False


def _reader(text: str) -> Read | None:
    """Return what reads the notation of a text; None for plain text."""
    for read in (_read_json, _read_lines, _read_python, _read_headed, _read_repr):
        try:
            read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return read
    return None


def _read_json(text: str) -> Any:
    value = json.loads(text)
    return value if isinstance(value, str) and _reader(value) else _structure(value)


def _read_lines(text: str) -> Any:
    lines = text.split("\n")
    return [_structure(json.loads(line)) for line in _at_least_two(lines)]


def _read_python(text: str) -> Any:
    return _structure(ast.literal_eval(text))


def _read_headed(text: str) -> Any:
    heading, rest = _at_least_two(text.split("\n", 1))
    if _reader(rest) is None:
        raise ValueError("plain text")
    return heading, rest


def _read_repr(text: str) -> Any:
    return _structure(decoded(text))


def _structure(value: Any) -> Any:
    if isinstance(value, (dict, list, tuple)):
        return value
    raise ValueError("no structure")


def _at_least_two(lines: list[str]) -> list[str]:
    if len(lines) < 2:
        raise ValueError("one line")
    return lines
