"""Corrects expressions that people write out of habit from other languages; the rows are in `habits.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial, wraps
from importlib.resources import files
from typing import Any, NamedTuple, TypeVar

from reducer.paths.ranks import LEVELS
from reducer.paths.syntax import PathError

T = TypeVar("T")
_MAX_CHARS = 500
"""The maximum length of an expression that is corrected; nobody types longer ones."""
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\"(?:[^\"\\]|\\.)*\"")
_CURLY = str.maketrans(dict.fromkeys("‘’‚‛“”„", "'"))
_TEXTS, _KEYS = 0xE000, 0xF000
"""Characters that stand for texts and for keys in quotes, so that only rows with quotes change them."""
_OPERATOR = "[=!<>&|~]"
_NUMBER = r"-?\d{1,20}(?:\.\d{1,20})?"
_WORDS: Mapping[str, str] = {
    "KEY": r"(?:@|[^\W\d](?:[\w.]*\w)?|[\uf000-\uf8ff])",  # the last are names in quotes
    "OTHERKEY": r"(?:[A-Za-z]\w*|[\uf000-\uf8ff])",
    "SPACED": r"[A-Za-z]\w*(?: \w+)+",
    "REST": ".*",
    "DASHED": r"[A-Za-z]\w*(?:-[A-Za-z]\w*)+",
    "TEXT": r"[\ue000-\uefff]",
    "NUMBER": _NUMBER,
    "OTHER": _NUMBER,
    "LOW": _NUMBER,
    "INDEX": r"\d+",
    "DATE": r"\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?",
    "LIST": r"[^()\[\]]*",
    "LEVEL": "|".join(LEVELS),
    "EQUALS": "[=!]=",
    "ORDER": "[<>]=?",
    "TEST": r"[^\[\]?]*(?:[=!<>]=|[<>])[^\[\]]*",
    "WORDS": r"[^'\"%*\[\]]+",
    "CALL": r"!?(?:contains|starts_with|ends_with|matches)\([^\[\]]*\)",
    "QUOTED": r"(?:[^'\"\\]|\\\w)+",
    "HAS": "(?:not )?(?:like|contains|has|includes|starts with|ends with|startswith|endswith|matches|rlike|regexp?)",
    "NAME": r"[\w.-]+",
    "REGEX": r"\^[^']*|[^']*\$|[^']*(?:\.\*|\.\+|\\d)[^']*",
}
"""Patterns of the words in capitals."""


class Row(NamedTuple):
    """A wrong form, the right form with the same words in capitals, which `words` finds, and the reason."""

    wrong: re.Pattern[str]
    right: str
    words: re.Pattern[str]
    is_of_text: bool
    reason: str = ""

    def corrected(self, text: str) -> str:
        """Replace every wrong form in a text."""
        return self.wrong.sub(lambda found: self.words.sub(lambda word: found[word[0]], self.right), text)


@cache
def tables(package: str) -> dict[str, Any]:
    """Return the tables of the file `habits.toml` in a package."""
    return tomllib.loads(files(package).joinpath("habits.toml").read_text(encoding="utf-8"))


def table_rows(table: Mapping[str, Iterable[str]], words: Mapping[str, str], reason: str = "") -> Iterator[Row]:
    """Compile a table of right forms with their wrong forms, in which words stand for patterns.

    A blank is white space, and `^` the start or end of the text.
    """
    names = re.compile("|".join(sorted(words, key=len, reverse=True)))
    pieces = re.compile(f"{names.pattern}|.")
    for right, forms in table.items():
        for wrong in forms:
            inner = wrong.removeprefix("^").removesuffix("^")
            before = r"\A\s*" if wrong[0] == "^" else _edge(inner[0], r"(?<![\w.])", f"(?<!{_OPERATOR})")
            after = r"\s*\Z" if wrong[-1] == "^" else _edge(inner[-1], r"(?!\w)", f"(?!{_OPERATOR})")
            pattern = before + pieces.sub(partial(_piece, words), inner) + after
            is_of_text = not {"'", '"'}.isdisjoint(wrong)
            yield Row(re.compile(pattern, re.IGNORECASE), right, names, is_of_text, reason)


def _edge(character: str, of_word: str, of_operator: str) -> str:
    """Return what keeps a form from matching a part of a word or of an operator."""
    return of_word if character.isalnum() else of_operator if re.match(_OPERATOR, character) else ""


def _piece(words: Mapping[str, str], found: re.Match[str]) -> str:
    """Return the pattern of a word or character of a wrong form; white space is optional next to a sign."""
    text, around = found[0], found.string[found.start() - 1 : found.end() + 1]
    if text in words:
        return f"(?P<{text}>{words[text]})"
    if text != " ":
        return re.escape(text)
    return r"\s+" if len(around) < 3 or (around[0] + around[2]).isalnum() else r"\s*"


@cache
def _rows(table: str) -> tuple[Row, ...]:
    return tuple(table_rows(tables("reducer.paths")[table], _WORDS))


@cache
def _suspicious() -> tuple[Row, ...]:
    found: list[Row] = []
    for reason, table in tables("reducer.paths")["suspicious"].items():
        found += table_rows(table, _WORDS, reason)
    return tuple(found)


def _rewritten(text: str, tables: Iterable[str]) -> str:
    """Apply the rows of some tables. Only rows with a text in quotes look into texts."""
    text = text.translate(_CURLY)
    every = [row for table in tables for row in _rows(table)]
    for row in every:
        text = row.corrected(text) if row.is_of_text else text
    hidden = list(dict.fromkeys(_QUOTED.findall(text)))
    stand_ins = [chr((_KEYS if each[0] == '"' else _TEXTS) + number) for number, each in enumerate(hidden)]
    for stand_in, each in zip(stand_ins, hidden, strict=True):
        text = text.replace(each, stand_in)
    for row in every:
        text = text if row.is_of_text else row.corrected(text)
    text = " ".join(text.split()) or "@"
    for stand_in, each in zip(stand_ins, hidden, strict=True):
        text = text.replace(stand_in, each)
    return text


def correcting(*tables: str) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Return a decorator for a compiler of expressions: its errors say what was meant, if that is valid."""

    def decorator(compiler: Callable[[str], T]) -> Callable[[str], T]:
        @wraps(compiler)
        def compiled(text: str) -> T:
            try:
                return compiler(text)
            except PathError as error:
                error.meant = _meant(error.meant or text, tables, compiler)
                raise

        return compiled

    return decorator


def _meant(text: str, tables: Iterable[str], compiler: Callable[[str], Any]) -> str:
    """Return the valid expression that was probably meant, or an empty text."""
    if not text.strip() or len(text) > _MAX_CHARS or ".." in text or re.search("[\ue000-\uf8ff]", text):
        return ""
    meant = _rewritten(text, tables)
    try:
        compiler(meant)
    except PathError:
        return ""
    return meant


def probable_mistakes(text: str) -> Iterator[PathError]:
    """Warn about the parts of a valid expression that probably mean something else."""
    for row in _suspicious() if len(text) <= _MAX_CHARS else ():
        for found in row.wrong.finditer(text):
            advice = f"write {row.corrected(found[0])}"
            yield PathError("W014", row.reason, found.start() + 1, len(found[0]), help=advice)
