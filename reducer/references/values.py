"""Distinctive values in what an agent writes: what it can only have read somewhere.

Distinctive are addresses, paths, UUIDs, hashes, tokens of letters and digits, snake_case, camelCase, numbers of three digits and more,
names of several words, quoted values, and whole arguments of tool calls; not what consists of common words alone.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from reducer.reading import loads

NUMBER = "№"
"""Stands before a value that is a number: 1234, 1,234 and 1234.0 are one value."""

_SHORTEST = 4
_LONGEST_ARGUMENT = 200
_ROUND = frozenset({"100", "200", "300", "400", "404", "500", "1000"})
_STOP = frozenset(
    """a about after all also an and any are as at based be been before between both but by can could each error first for from her here
    his i if in into is it its just let more most my next no not note now of on only or other our over please so some step success
    such than that the their them then there these they this those to too very was we were will with would yes you your""".split()  # noqa: SIM905
)
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
_NAME = re.compile(r"\b[A-Z][\w'’&.-]{1,99}+(?: [A-Z][\w'’&.-]{1,99}+){1,4}")  # bounded: `A.A.A.…` would be read anew from every A
_QUOTED = re.compile(r'`([^`\n]{4,120})`|"([^"\n]{4,120})"|\*\*([^*\n]{4,80})\*\*')
_HASH = re.compile(r"[0-9a-fA-F]{32,64}")
_WORD = re.compile(r"[A-Za-z']+")
_YEAR = re.compile(r"199\d|20[0-2]\d|203[0-5]")
_CAMEL = re.compile(r"[a-z][A-Z]")
_DOTTED = re.compile(r"[a-z0-9]\.[a-z]{2,}")
_TELLING = re.compile(r"[A-Z0-9_./@-]")
_AMOUNT = re.compile(r"[\d,.$%\s:/-]+")
_DATE = re.compile(r"[\d,.$:/-]+")


def written(text: str) -> set[str]:
    """Give the distinctive values in a text; numbers with `NUMBER` before them."""
    found: set[str] = set()

    def special(match: re.Match[str]) -> str:
        value = match[0].rstrip(".,;:!?*)'\"")
        if len(value) >= _SHORTEST:
            found.add(value)
        return " "

    rest = _SPECIAL.sub(special, text)
    found.update(NUMBER + number.replace(",", "") for number in _NUMBER.findall(rest) if _tells(number))
    found.update(filter(_distinctive, map(_bare, _TOKEN.findall(rest))))
    for name in _NAME.findall(text):
        words = _bare(name).split(" ")
        while words and words[0].lower() in _STOP:
            del words[0]
        while words and words[-1].lower() in _STOP:
            del words[-1]
        value = _bare(" ".join(words))
        if len(words) >= 2 and not _common(value):
            found.add(value)
    for pieces in _QUOTED.findall(text):
        value = _bare("".join(pieces))
        if len(value) >= _SHORTEST and _TELLING.search(value) and not _common(value) and not _AMOUNT.fullmatch(value):
            found.add(value)
    return found


def argued(arguments: Any) -> set[str]:
    """Give the distinctive values in the arguments of a tool call: JSON, or JSON text; whole texts of up to 200 characters are values too."""
    if isinstance(arguments, str):
        try:
            arguments = loads(arguments)
        except (ValueError, RecursionError):
            return written(arguments)
    found: set[str] = set()
    waiting = [arguments]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, str):
            inner = _structure(value)
            if inner is not None:
                waiting.append(inner)
                continue
            whole = value.strip()
            if _SHORTEST <= len(whole) <= _LONGEST_ARGUMENT and "\n" not in whole and _is_value(whole):
                found.add(whole)
            found |= written(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            number = _spelled(value)
            if _tells(number):
                found.add(NUMBER + number)
    return found


def _is_value(whole: str) -> bool:
    if not _TELLING.search(whole) or _common(whole) or _AMOUNT.fullmatch(whole):
        return False
    return whole.lower() not in _STOP and whole.lower() not in _words()


def _structure(text: str) -> Any:
    bare = text.strip()
    if bare[:1] not in ("[", "{") or bare[-1:] not in ("]", "}"):
        return None
    try:
        return loads(bare)
    except (ValueError, RecursionError):
        return None


def _spelled(number: float) -> str:
    try:
        return str(number)
    except ValueError:  # more digits than Python writes
        return ""


def _tells(number: str) -> bool:
    plain = number.replace(",", "")
    if len(plain) < 3 or plain in _ROUND or _YEAR.fullmatch(plain):
        return False
    return sum(map(str.isdecimal, plain)) >= 3


def _bare(value: str) -> str:
    return value.strip().strip(".,;:!?*`\"'()[]{}<>").strip()


@lru_cache(maxsize=8192)  # an agent names the same things again and again
def _distinctive(token: str) -> bool:
    if len(token) < _SHORTEST or _DATE.fullmatch(token) or not any(map(str.isalpha, token)):
        return False
    if any(map(str.isdigit, token)):
        return True
    if "_" in token.strip("_") or "@" in token:
        return "_" in token or not _common(token)
    if _CAMEL.search(token) or _DOTTED.search(token) or _HASH.fullmatch(token):
        return True
    return ("-" in token or "/" in token) and not _common(token)


def _common(value: str) -> bool:
    """Tell whether a value consists of common words alone."""
    if any(map(str.isdecimal, value)):
        return False
    words = _WORD.findall(value)
    known = _words()
    return bool(words) and all(word.lower() in known or word.lower() in _STOP for word in words)


@cache
def _words() -> frozenset[str]:
    return frozenset(files("reducer.references").joinpath("words.txt").read_text(encoding="ascii").split())
