"""Ways to shorten tool returns that `compare` compares: rules, and baselines that know nothing of a tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from reducer.engine import reduce_content
from reducer.formats.json_text import read_json
from reducer.rules import Ruleset
from reducer.values import Unreducible, dump, plain

CLEARED = "[cleared]"
"""What is sent instead of a return that was cleared."""
_EXPECTED = "there are truncate:2000, head:5 and keep-last:5"


@dataclass(frozen=True, slots=True)
class Contender:
    """A way to shorten returns: `left(tool, content)` returns what it leaves.

    `last` is how many requests send the returns before them in full, None for all; `rules` is True for rules.
    """

    name: str
    left: Callable[[str, Any], Any]
    last: int | None = None
    rules: bool = False


def of_rules(name: str, ruleset: Ruleset) -> Contender:
    """Return rules as a contender."""
    return Contender(name, lambda tool, content: reduce_content(ruleset, tool, content), rules=True)


def baseline(text: str) -> Contender:
    """Read `truncate:N` (the first N characters), `head:N` (the first N items of every list) or `keep-last:N`.

    The last keeps the returns of the last N requests. Raises `ValueError` that says what is expected.
    """
    name, _, number = text.partition(":")
    if name not in ("truncate", "head", "keep-last"):
        near = get_close_matches(name, ("truncate", "head", "keep-last"), 1)
        raise ValueError(f"unknown baseline {text}: {f'did you mean {near[0]}:{number or 5}?' if near else _EXPECTED}")
    if not number.isdecimal() or not int(number[:9]) > 0:
        raise ValueError(f"unknown baseline {text}: expected a whole number of at least 1 behind `{name}:`")
    count = int(number[:9])
    if name == "keep-last":
        return Contender(text, lambda _, content: content, count)
    shorten = _truncated if name == "truncate" else _head
    return Contender(text, lambda _, content: shorten(content, count))


def _truncated(content: Any, count: int) -> Any:
    try:
        text = content if type(content) is str else dump(plain(content))
    except (Unreducible, ValueError):
        return content
    return content if len(text) <= count else text[:count]


def _head(content: Any, count: int) -> Any:
    def first(value: Any) -> Any:
        if type(value) is list:
            return [first(item) for item in value[:count]]
        return {key: first(item) for key, item in value.items()} if type(value) is dict else value

    opened = read_json(content) if type(content) is str else content
    try:
        short = first(opened)
    except RecursionError:
        return content
    if type(content) is not str:
        return short
    return content if opened is None or short == opened else dump(short)
