"""Blunt ways to shorten tool returns, to hold rules against: they know nothing of a tool and keep no indicators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from reducer.codecs.json_text import read_json
from reducer.values import Unreducible, dump, plain

CLEARED = "[cleared]"
"""What stands in place of a return that is not sent any more."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A blunt way: `left` gives what it leaves of a content; `last` is how many requests send the returns they bring, None for all."""

    name: str
    left: Callable[[Any], Any]
    last: int | None = None


def baseline(text: str) -> Baseline:
    """Read `truncate:N` (the first N characters), `head:N` (the first N items of every list) or `keep-last:N` (the returns of the last N requests).

    Raises `ValueError` with what was expected.
    """
    name, _, number = text.partition(":")
    make = _BASELINES.get(name)
    if make is None:
        near = get_close_matches(name, _BASELINES, 1)
        raise ValueError(f"unknown baseline {text}: {f'did you mean {near[0]}:{number or 5}?' if near else _EXPECTED}")
    if not number.isdecimal() or not int(number[:9]) > 0:
        raise ValueError(f"unknown baseline {text}: expected a whole number of at least 1 behind `{name}:`")
    return make(text, int(number[:9]))


def _truncate(name: str, most: int) -> Baseline:
    def left(content: Any) -> Any:
        text = _text(content)
        return content if text is None or len(text) <= most else text[:most]

    return Baseline(name, left)


def _head(name: str, most: int) -> Baseline:
    def first(value: Any) -> Any:
        if type(value) is list:
            return [first(item) for item in value[:most]]
        return {key: first(item) for key, item in value.items()} if type(value) is dict else value

    def left(content: Any) -> Any:
        opened = read_json(content) if type(content) is str else content
        try:
            short = first(opened)
        except RecursionError:
            return content
        if type(content) is not str:
            return short
        return content if opened is content or short == opened else dump(short)

    return Baseline(name, left)


def _keep_last(name: str, last: int) -> Baseline:
    return Baseline(name, lambda content: content, last)


def _text(content: Any) -> str | None:
    try:
        return content if type(content) is str else dump(plain(content))
    except (Unreducible, ValueError):
        return None


_BASELINES: dict[str, Callable[[str, int], Baseline]] = {"truncate": _truncate, "head": _head, "keep-last": _keep_last}
_EXPECTED = "there are truncate:2000, head:5 and keep-last:5"
