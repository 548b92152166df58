"""Guesses what an author means by a key or value that the rule language does not accept; its data is `habits.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from functools import cache, partial
from importlib.resources import files
from typing import Any

from reducer.operations import operations
from reducer.rules.diagnostics import written

_MAX_CHARS = 200
"""The maximum length of a text whose meaning is guessed."""
_LITERAL = r"(?P<literal>'[^']*'|\"[^\"]*\"|`[^`]*`)"
_ANY = {
    "KEY": r"(?P<KEY>@|(?<![\w.])[\w.]*\w)",
    "TEXT": r"(?P<TEXT>[\w ./@:-]*)",
    "LIST": r"(?P<LIST>[^()\[\]]*)",
    "NAME": r"(?P<NAME>[A-Za-z_]\w*)",
    "HYPHENATED": r"(?P<HYPHENATED>[A-Za-z_]\w*(?:-\w+)+)",
    "REGEX": r"(?P<REGEX>[^'/]*)",
}
_NUMBER = re.compile(r"([0-9][0-9_, ]*)(k?)")
_CONDITION = re.compile(r"[=!<>]=|\s[<>]\s|&&|\|\||\w\(")


@cache
def habits() -> dict[str, Any]:
    """Return the tables of `habits.toml`."""
    return tomllib.loads(files("reducer.rules").joinpath("habits.toml").read_text(encoding="utf-8"))


@cache
def _expressions() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return a pattern for each habit in expressions, and its replacement; a pattern also matches text in quotes."""
    found = []
    for habit, meant in habits()["expressions"]:
        pattern = re.escape(habit).replace(r"\ ", r"\s+")
        for word, group in _ANY.items():
            pattern = pattern.replace(word, group, 1)
            meant = meant.replace(word, rf"\g<{word}>")
        before = r"(?<![\w\"])" if habit[0].isalpha() else r"(?<![=!<>&|~])" if habit[0] in "=!<>&" else ""
        after = r"(?!\w)" if habit[-1].isalpha() else r"(?![=!<>&|~])" if habit[-1] in "=!<>&" else ""
        found.append((re.compile(f"(?i){before}(?:{pattern}){after}|{_LITERAL}"), meant))
    return tuple(found)


def _in_jmespath(text: str) -> str:
    """Rewrite the habits of other languages in an expression."""
    for pattern, meant in _expressions():
        text = pattern.sub(partial(_replaced, meant), text)
    return text


def _replaced(meant: str, match: re.Match[str]) -> str:
    return match["literal"] or match.expand(meant)


def variants(key: str | int, value: Any) -> Iterator[Any]:
    """Yield what an author may mean by a wrong value of a key, the most likely first."""
    if type(value) is str and len(value) <= _MAX_CHARS:
        text = value.strip()
        if (word := text.casefold()) in habits()["words"]:
            yield habits()["words"][word]
        if match := _NUMBER.fullmatch(text):
            number = int(re.sub(r"\D", "", match[1])) * (1000 if match[2] else 1)
            yield from (number, f"{number}%")
        expression = _in_jmespath(text)
        yield from (expression, f"{expression}]", f"{expression})", f"{expression}'")
        if key in ("keep", "drop") and _CONDITION.search(expression):
            yield f"[?{expression}]"
        if "," in text:
            yield re.split(r"\s*,\s*", text.strip("[] "))
        value = expression if key == "when" else value
    elif type(value) is list:
        yield from value[:1] if len(value) == 1 else ()
    elif type(value) is dict:
        yield [*value]
    elif type(value) in (int, float):
        if key == "min_reduction":
            yield f"{value:.0%}" if 0 < value < 1 else f"{value}%"
        yield abs(int(value))
    if key in habits()["inside"]:
        yield {habits()["inside"][key]: value}


def advice_for_key(word: str, value: Any, known: Collection[str]) -> str:
    """Return the line to write instead of an unknown key, or an empty text; `known` are the keys that are valid."""
    line: str = habits()["keys"].get(word.lower(), "")
    return f"write {_filled(line, value)}" if line.partition(":")[0] in known else ""


def advice_elsewhere(word: str, value: Any) -> str:
    """Return where to write a key of the rule language that is not valid at its place, or an empty text."""
    advice: str = habits()["elsewhere"].get(word, "")
    if word in operations():
        advice = f"write a step of its own: - {{path: items, {word}: {{}}}}"
    return _filled(advice, value)


def _filled(line: str, value: Any) -> str:
    shown = _in_jmespath(value) if type(value) is str and "[?" in line else written(value)
    return line.replace("{}", shown if len(shown) <= _MAX_CHARS else "…")


def tool_names(text: str) -> str:
    """Return the line to write instead of tool names with commas or a regular expression."""
    glob = re.sub(r"\.[*+]|(?<=\w)\([^)]*\)", "*", text.strip("^$ ()")).replace("\\", "")
    names = [name for name in re.split(r"[,|\s]+", glob) if name]
    return f"write tool: {written(names[0] if len(names) == 1 else names)}"
