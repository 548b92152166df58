"""The laws of a reduced content as plain functions: they raise AssertionError where a law is broken."""

from __future__ import annotations

import json
import re
from typing import Any

from reducer import markers
from reducer.entities import Entity, scan
from reducer.values import chars, dump
from tests.helpers import decoded, decoded_nested, texts

EMPTY: tuple[Any, ...] = ("", [], {})
_ANY_MARK = re.compile(r" ?…\[[1-9][0-9]* more characters(?:; mentions .*?)?\]", re.DOTALL)
_ITEM_MARK = re.compile(r"…\[[1-9][0-9]* more items(?:; mentions .*)?\]", re.DOTALL)


def same_type(before: Any, after: Any) -> None:
    """Law 2."""
    assert type(before) is type(after)
    assert type(decoded(before)) is type(decoded(after))


def root_keys(before: Any, after: Any, all_keys: bool = False) -> None:
    """Law 3."""
    old, new = decoded(before), decoded(after)
    if isinstance(old, dict):
        assert list(old) == list(new)
    if isinstance(old, list) and old:
        assert new
        assert "" not in new or "" in old
    if isinstance(old, str) and old:
        assert new
    if all_keys:
        _every_key(old, new)


def _every_key(old: Any, new: Any) -> None:
    if isinstance(old, dict) and isinstance(new, dict) and new != {}:
        assert list(old) == list(new)
        for key in old:
            _every_key(old[key], new[key])


def within(before: Any, after: Any) -> None:
    """Law 4."""
    assert _within(decoded(before), decoded(after)), (before, after)


def _within(old: Any, new: Any) -> bool:
    if isinstance(old, bool) or old is None or isinstance(old, (int, float)):
        return type(old) is type(new) and old == new
    if isinstance(old, str):
        return isinstance(new, str) and (
            _pieces(old, new)
            or (
                type(decoded_nested(old)) is type(decoded_nested(new)) is not str
                and _within(decoded_nested(old), decoded_nested(new))
            )
        )
    if isinstance(old, list):
        if not isinstance(new, list):
            return False
        items = (
            new[:-1]
            if new and isinstance(new[-1], str) and _ITEM_MARK.fullmatch(new[-1]) and (not old or old[-1] != new[-1])
            else new
        )
        return _subsequence(old, items)
    if not isinstance(new, dict) or [key for key in old if key in new] != list(new):
        return False
    return all(_within(old[key], value) for key, value in new.items())


def _subsequence(old: list[Any], new: list[Any]) -> bool:
    # Greedy is right here only with the longest reach: try each match, nearest first, on small generated lists.
    reached = {0}
    for item in new:
        following = {place + 1 for start in reached for place in range(start, len(old)) if _within(old[place], item)}
        if not following:
            return False
        reached = {min(following)}
    return True


def _pieces(old: str, new: str) -> bool:
    if old == new or new == "":
        return True
    for match in _ANY_MARK.finditer(new):
        head, tail = new[: match.start()], new[match.end() :]
        if old.startswith(head) and old.endswith(tail):
            return True
    # The mark's own end is ambiguous with brackets in what it mentions: its opening is not.
    at = new.rfind(markers.PREFIX)
    while at >= 0:
        head = new[:at]
        if old.startswith((head.removesuffix(" "), head)):
            return True
        at = new.rfind(markers.PREFIX, 0, at)
    return False


def never_larger(before: Any, after: Any) -> None:
    """Law 7."""
    assert chars(after) <= chars(before)


def entities(content: Any, types: frozenset[str] | None = None) -> list[Entity]:
    return [entity for text in texts(decoded(content)) for entity in scan(text, types)]


def is_bounded(value: str, content: Any) -> bool:
    """Return whether a value is in a text of the content as written, bounded by non-word characters."""
    # The letters and digits of an escape, as in the JSON texts `\\n192.0.2.1` and `\\ud800evil[.]com`, are no part of a
    # word.
    before, after = (
        (r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=\\u[0-9a-f]{4}))" if value[0].isalnum() else ""),
        (r"(?![A-Za-z0-9])" if value[-1].isalnum() else ""),
    )
    pattern = re.compile(before + re.escape(value) + after)
    return any(value in text and pattern.search(text) for text in texts(decoded(content)))


def preserved(before: Any, after: Any, types: frozenset[str]) -> None:
    """Law 8, first half."""
    first: dict[tuple[str, str], str] = {}
    for entity in entities(before, types):
        first.setdefault((entity.type, entity.canonical), entity.value)
    for value in first.values():
        assert is_bounded(value, after), value


def no_halves(before: Any, after: Any) -> None:
    """Law 8, second half: what is read in the result is bounded in the original."""
    for entity in entities(after):
        assert is_bounded(entity.value, before), entity


def as_bytes(content: Any) -> bytes:
    return dump(content).encode()


def round_tripped(content: Any) -> Any:
    return json.loads(dump(content))
