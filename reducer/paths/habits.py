"""Corrects expressions that people write out of habit from other languages; the rows are in `habits.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, wraps
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
WORDS: Mapping[str, str] = {
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
    "=?": "[=!]=",
    "<?": "[<>]=?",
    "TEST": r"[^\[\]?]*(?:[=!<>]=|[<>])[^\[\]]*",
    "WORDS": r"[^'\"%*\[\]]+",
    "CALL": r"!?(?:contains|starts_with|ends_with|matches)\([^\[\]]*\)",
    "QUOTED": r"(?:[^'\"\\]|\\\w)+",
    "HAS": "(?:not )?(?:like|contains|has|includes|starts with|ends with|startswith|endswith|matches|rlike|regexp?)",
    "NAME": r"[\w.-]+",
    "REGEX": r"\^[^']*|[^']*\$|[^']*(?:\.\*|\.\+|\\d)[^']*",
}
"""Patterns of the words in capitals, and of any operator of two kinds."""


class Row(NamedTuple):
    """A wrong form, the right form with the same words in capitals, and the reason."""

    wrong: re.Pattern[str]
    right: str
    words: re.Pattern[str]
    groups: Mapping[str, int]
    is_of_text: bool
    reason: str = ""

    def corrected(self, text: str) -> str:
        """Replace every wrong form in a text."""
        return self.wrong.sub(self._right, text)

    def _right(self, found: re.Match[str]) -> str:
        return self.words.sub(lambda word: found[self.groups[word[0]]], self.right)


def row_of(wrong: str, right: str, words: Mapping[str, str], reason: str = "") -> Row:
    """Compile a row of a table. A blank is white space, and `^` the start or end of the text."""
    names = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))
    inner = wrong.removeprefix("^").removesuffix("^")
    pattern = _before(inner) if inner == wrong.removesuffix("^") else r"\A\s*"
    groups: dict[str, int] = {}
    end = 0
    for name in names.finditer(inner):
        pattern += _literal(inner, end, name.start()) + f"({words[name[0]]})"
        groups[name[0]] = len(groups) + 1
        end = name.end()
    pattern += _literal(inner, end, len(inner))
    pattern += _after(inner) if inner == wrong.removeprefix("^") else r"\s*\Z"
    return Row(re.compile(pattern, re.IGNORECASE), right, names, groups, not {"'", '"'}.isdisjoint(wrong), reason)


def _before(text: str) -> str:
    return r"(?<![\w.])" if text[0].isalnum() else f"(?<!{_OPERATOR})" if re.match(_OPERATOR, text) else ""


def _after(text: str) -> str:
    return r"(?!\w)" if text[-1].isalnum() else f"(?!{_OPERATOR})" if re.match(_OPERATOR, text[-1]) else ""


def _literal(text: str, start: int, end: int) -> str:
    """Return the pattern of a part of a wrong form; white space is optional next to a sign."""
    pattern = ""
    for at in range(start, end):
        around = text[max(at - 1, 0)] + text[min(at + 1, len(text) - 1)]
        if text[at] != " ":
            pattern += re.escape(text[at])
        else:
            pattern += r"\s+" if around.isalnum() or " " in around else r"\s*"
    return pattern


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(files("reducer.paths").joinpath("habits.toml").read_text(encoding="utf-8"))


@cache
def _rows(table: str) -> tuple[Row, ...]:
    return tuple(table_rows(_tables()[table], WORDS))


@cache
def _suspicious() -> tuple[Row, ...]:
    found: list[Row] = []
    for reason, table in _tables()["suspicious"].items():
        found += table_rows(table, WORDS, reason)
    return tuple(found)


def table_rows(table: Mapping[str, Iterable[str]], words: Mapping[str, str], reason: str = "") -> Iterator[Row]:
    """Compile a table of right forms with their wrong forms."""
    for right, forms in table.items():
        for wrong in forms:
            yield row_of(wrong, right, words, reason)


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
