"""What people write out of habit from other tools, and the lines that they mean; the rows are in `habits.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import yaml

from reducer.entities.entity import ALL_NAMES
from reducer.paths.habits import Row, table_rows, tables
from reducer.rules.diagnostics import written

_MAX_CHARS = 300
"""The maximum length of a value that advice repeats."""
_SEPARATOR = re.compile(r"\s*[,;|]\s*")
_WORDS: Mapping[str, str] = {
    "ANY": ".+",
    "KEY": r"[\w.@-]+",
    "NAME": r"[\w.@-]+",
    "LEAF": r"[\w.@-]+",
    "NAMES": r"[\w.@-]+(?:, [\w.@-]+)*",
    "LIST": r"[\w.@*-]+(?:\s*[,;|]\s*[\w.@*-]+)+",
    "TYPES": "(?:{0})(?:, (?:{0}))*".format("|".join(ALL_NAMES)),
    "NUMBER": r"\d{1,15}",
    "OTHER": r"\d{1,15}",
    "THOUSAND": r"\d{3}",
    "DIGIT": r"\d",
    "WAY": r"[\w.@*\[\]-]+",
    "FILTER": r"\[\?[^|]+(?:\|\|[^|]+)*\]",
    "PATTERN": r".*[\\^*+(\[].*",
    "UNIT": "(?:char(?:acter)?s?|items?|entries|results?|newest|latest|first|//.*)",
}
"""Patterns of the words in capitals."""


class Line(NamedTuple):
    """A key with its value, or a step of its own, and why it is meant."""

    content: dict[str | int, Any] | list[Any]
    reason: str = ""


@cache
def _rows(table: str) -> tuple[Row, ...]:
    return tuple(table_rows(tables("reducer.rules")[table], _WORDS))


def meant_lines(key: str, value: Any, path: str) -> Iterator[Line]:
    """Yield what a line may mean, the most probable first; `path` is that of its step."""
    parent, _, leaf = path.rpartition(".")
    for row, words in _matching("lines", key, value):
        text, _, reason = row.right.partition(" # ")
        values = {
            "PATH": path,
            "PLACE": value if path == "@" else path,
            "PARENT": parent or "@",
            "LEAF": leaf,
            "ANY": value,
            "FILTER": words.pop("FILTER", ""),  # YAML would read it as a list
        }
        try:
            content = yaml.safe_load(_spelled(row.words, text, words))
            yield Line(_filled(content, values), str(_filled(_spelled(row.words, reason, words), values)))
        except (yaml.YAMLError, TypeError):
            continue  # the value does not fit into the line


def general_advice(key: str, value: Any) -> str:
    """Return advice about a line for which there is no line to copy, or an empty text."""
    return next((row.right for row, _ in _matching("advice", key, value)), "")


def _matching(table: str, key: str, value: Any) -> Iterator[tuple[Row, dict[str, str]]]:
    """Yield the rows for a line, with what the words in capitals stand for, except ANY."""
    line = f"{key}: {value if type(value) is str else written(value)}".strip()
    for row in _rows(table) if len(line) <= _MAX_CHARS else ():
        if found := row.wrong.fullmatch(line):
            words = found.groupdict()
            words.pop("ANY", None)
            if "LIST" in words:
                words["LIST"] = ", ".join(_SEPARATOR.split(words["LIST"]))
            yield row, words


def _spelled(pattern: re.Pattern[str], text: str, words: Mapping[str, str]) -> str:
    return pattern.sub(lambda word: words.get(word[0], word[0]), text)


def _filled(content: Any, values: Mapping[str, Any]) -> Any:
    """Fill words in capitals. Raises `TypeError` if a value that is not a text belongs into a text."""
    if isinstance(content, dict):
        return {key: _filled(value, values) for key, value in content.items()}
    if isinstance(content, list):
        return [_filled(item, values) for item in content]
    if type(content) is not str or content in values:
        return values.get(content, content)
    for word, value in values.items():
        if word in content:
            if type(value) is not str:
                raise TypeError(f"{word} is not a text")
            content = content.replace(word, value.removeprefix("[?").removesuffix("]") if "[?" in value[:2] else value)
    return content
