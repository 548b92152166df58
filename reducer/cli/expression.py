"""`-k`: which tests are meant, by words that stand in their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from reducer.cli.stop import Stop

Chosen = Callable[[str], bool]

_TOKEN = re.compile(r"""\s*(?:([()])|"([^"]*)"|'([^']*)'|([^\s()"']+))""")
_OPERATORS = frozenset({"and", "or", "not", "(", ")"})
_MOST = 200
"""Tokens of an expression: what keeps it off the stack's end."""


class _Token(NamedTuple):
    operator: str  # empty for a text
    text: str


def chosen_by(expression: str) -> Chosen:
    """Read `newest and not (misp or stix)`: texts, whose words stand side by side or in quotes, with `and`, `or`, `not` and parentheses.

    Gives what tells whether a line of text is meant; capitals do not count. Raises `Stop`.
    """
    tokens = list(_tokens(expression))
    if not tokens:
        raise Stop("-k: expected words of the names of tests, such as -k 'newest and not misp'")
    if len(tokens) > _MOST:
        raise Stop(f"-k: an expression of more than {_MOST} words")
    reader = _Reader(expression, tokens)
    chosen = reader.any_of()
    if reader.at < len(tokens):
        raise reader.stop()
    return chosen


def _tokens(expression: str) -> Iterator[_Token]:
    at = 0
    text: list[str] = []
    while expression[at:].strip():
        match = _TOKEN.match(expression, at)
        if match is None:
            raise Stop(f"-k {expression}: a quote is not closed")
        at = match.end()
        word = match[1] or match[4]
        if word in _OPERATORS:
            if text:
                yield _Token("", " ".join(text))
                text = []
            yield _Token(word, word)
        else:
            text.append(next(part for part in match.groups()[1:] if part is not None))
    if text:
        yield _Token("", " ".join(text))


class _Reader:
    """Reads tokens from left to right; `at` is the place of the next one."""

    def __init__(self, expression: str, tokens: list[_Token]) -> None:
        self.at = 0
        self._expression = expression
        self._tokens = tokens

    def any_of(self) -> Chosen:
        found = [self._all_of()]
        while self._takes("or"):
            found.append(self._all_of())
        return found[0] if len(found) == 1 else lambda line: any(one(line) for one in found)

    def _all_of(self) -> Chosen:
        found = [self._one()]
        while self._takes("and"):
            found.append(self._one())
        return found[0] if len(found) == 1 else lambda line: all(one(line) for one in found)

    def _one(self) -> Chosen:
        if self._takes("not"):
            but = self._one()
            return lambda line: not but(line)
        if self._takes("("):
            inner = self.any_of()
            if not self._takes(")"):
                raise self.stop()
            return inner
        if self.at == len(self._tokens) or self._tokens[self.at].operator:
            raise self.stop()
        text = self._tokens[self.at].text.casefold()
        self.at += 1
        return lambda line: text in line.casefold()

    def _takes(self, operator: str) -> bool:
        found = self.at < len(self._tokens) and self._tokens[self.at].operator == operator
        self.at += found
        return found

    def stop(self) -> Stop:
        """Say what stands where something else was expected."""
        found = f"`{self._tokens[self.at].text}`" if self.at < len(self._tokens) else "the end"
        return Stop(f"-k {self._expression}: unexpected {found}; write it as in -k 'newest and not (misp or stix)'")
