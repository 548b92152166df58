"""Find the distinctive values in texts and tool-call arguments of an agent.

Addresses, paths, UUIDs, hashes, tokens with digits, snake_case, camelCase, and numbers with at least three digits are
distinctive. So are names of several words, quoted values and complete arguments, unless they consist of common words.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from reducer.values import leaves, loads

NUMBER = "№"
"""The prefix of a value that is a number: 1234, 1,234 and 1234.0 are the same value."""

_MIN_CHARS = 4
_MAX_ARGUMENT_CHARS = 200
_COMMON_NUMBERS = frozenset({"100", "200", "300", "400", "404", "500", "1000"})
_SPECIAL = re.compile(
    r"""https?://[^\s<>()\[\]"'`|,;\\]+
    | (?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]++@[A-Za-z0-9.-]+\.[A-Za-z]{2,}
    | [0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}
    | (?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2}|:\d{2,5})?
    | (?:[A-Za-z]:)?(?:[/\\][\w.@+~-]+){2,}/?""",
    re.VERBOSE,
)
_TOKEN = re.compile(r"#?[A-Za-z0-9_$]+(?:[-.:@/][A-Za-z0-9_$]+)*")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)")
# The repeats are bounded, because `A.A.A.…` would be scanned again from every A.
_NAME = re.compile(r"\b[A-Z][\w'’&.-]{1,99}+(?: [A-Z][\w'’&.-]{1,99}+){1,4}")
_QUOTED = re.compile(r'`([^`\n]{4,120})`|"([^"\n]{4,120})"|\*\*([^*\n]{4,80})\*\*')
_HASH = re.compile(r"[0-9a-fA-F]{32,64}")
_WORD = re.compile(r"[A-Za-z']+")
_YEAR = re.compile(r"199\d|20[0-2]\d|203[0-5]")
_CAMEL = re.compile(r"[a-z][A-Z]")
_DOTTED = re.compile(r"[a-z0-9]\.[a-z]{2,}")
_UNUSUAL = re.compile(r"[A-Z0-9_./@-]")
_AMOUNT = re.compile(r"[\d,.$%\s:/-]+")
_DATE = re.compile(r"[\d,.$:/-]+")


def values_of_text(text: str) -> set[str]:
    """Return the distinctive values in a text. Numbers have the prefix `NUMBER`."""
    values: set[str] = set()

    def collect(match: re.Match[str]) -> str:
        value = match[0].rstrip(".,;:!?*)'\"")
        if len(value) >= _MIN_CHARS:
            values.add(value)
        return " "

    rest = _SPECIAL.sub(collect, text)
    values.update(NUMBER + each.replace(",", "") for each in _NUMBER.findall(rest) if _is_distinctive_number(each))
    values.update(filter(_is_distinctive, map(_stripped, _TOKEN.findall(rest))))
    stop_words, _ = _word_lists()
    for name in _NAME.findall(text):
        words = _stripped(name).split(" ")
        kept = [number for number, word in enumerate(words) if word.lower() not in stop_words]
        value = _stripped(" ".join(words[kept[0] : kept[-1] + 1])) if kept else ""
        if " " in value and not _is_common(value):
            values.add(value)
    values.update(filter(_is_unusual, (_stripped("".join(groups)) for groups in _QUOTED.findall(text))))
    return values


def values_of_arguments(arguments: Any) -> set[str]:
    """Return the distinctive values in the arguments of a tool call, which are JSON values or JSON text.

    An unusual argument of up to 200 characters is a value as a whole, too.
    """
    if isinstance(arguments, str):
        text, arguments = arguments, parsed_json(arguments)
        if arguments is None:
            return values_of_text(text)
    values: set[str] = set()
    for value in leaves(arguments, _without_keys):
        if isinstance(value, str):
            argument = value.strip()
            if len(argument) <= _MAX_ARGUMENT_CHARS and "\n" not in argument and _is_unusual(argument):
                values.add(argument)
            values |= values_of_text(value)
        elif isinstance(value, (int, float)) and _is_distinctive_number(number := number_text(value)):
            values.add(NUMBER + number)
    return values


def _without_keys(value: Any) -> Any:
    """Return the values of an object or of JSON text, and any other value unchanged."""
    if isinstance(value, str):
        parsed = parsed_json(value)
        value = value if parsed is None else parsed
    return list(value.values()) if isinstance(value, dict) else value


def _is_unusual(value: str) -> bool:
    """Return whether a quoted text or an argument is distinctive as a whole."""
    is_candidate = len(value) >= _MIN_CHARS and _UNUSUAL.search(value) and not _AMOUNT.fullmatch(value)
    return bool(is_candidate) and not _is_common(value)


def parsed_json(text: str) -> Any:
    """Return the list or object that a text encodes as JSON, or None for any other text."""
    bare = text.strip()
    if bare[:1] not in ("[", "{") or bare[-1:] not in ("]", "}"):
        return None
    try:
        return loads(bare)
    except (ValueError, RecursionError):
        return None


def number_text(value: object) -> str:
    """Return a scalar as text, or "" for an integer with more digits than Python writes."""
    try:
        return str(value)
    except ValueError:
        return ""


def _is_distinctive_number(number: str) -> bool:
    digits = number.replace(",", "")
    is_common = digits in _COMMON_NUMBERS or _YEAR.fullmatch(digits)
    return not is_common and sum(map(str.isdecimal, digits)) >= 3


def _stripped(value: str) -> str:
    return value.strip().strip(".,;:!?*`\"'()[]{}<>").strip()


@lru_cache(maxsize=8192)  # an agent repeats the same tokens
def _is_distinctive(token: str) -> bool:
    if len(token) < _MIN_CHARS or _DATE.fullmatch(token) or not any(map(str.isalpha, token)):
        return False
    if any(map(str.isdigit, token)):
        return True
    if "_" in token.strip("_") or "@" in token:
        return "_" in token or not _is_common(token)
    if _CAMEL.search(token) or _DOTTED.search(token) or _HASH.fullmatch(token):
        return True
    return ("-" in token or "/" in token) and not _is_common(token)


def _is_common(value: str) -> bool:
    """Return whether a value consists of common words."""
    words = list(map(str.lower, _WORD.findall(value)))
    return bool(words) and not any(map(str.isdecimal, value)) and _word_lists()[1].issuperset(words)


@cache
def _word_lists() -> tuple[frozenset[str], frozenset[str]]:
    """Return the stop words, which are the first paragraph of `words.txt`, and all common words."""
    text = files("reducer.references").joinpath("words.txt").read_text(encoding="ascii")
    return frozenset(text.partition("\n\n")[0].split()), frozenset(text.split())
