"""The tokens of jmespath's lexer with their positions, and the checks that need positions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

from jmespath.lexer import Lexer

OPENING = frozenset({"lbracket", "filter", "lbrace", "lparen"})
CLOSING = frozenset({"rbracket", "rbrace", "rparen"})
_COMPARATORS = frozenset({"eq", "ne", "lt", "lte", "gt", "gte"})


class PathError(ValueError):
    """A text that is not a usable expression.

    `column` counts from 1 in the text, `width` is in characters, `code` is a key of `reducer/rules/diagnostics.toml`.
    """

    def __init__(self, code: str, message: str, column: int = 1, width: int = 1, help: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.column = column
        self.width = max(1, width)
        self.help = help


class Token(NamedTuple):
    """A token of jmespath's lexer: `start` counts from 0, `text` is how it is written."""

    type: str
    value: Any
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def problem(self, code: str, message: str, help: str = "") -> PathError:
        """Return an error at this token."""
        return PathError(code, message, self.start + 1, len(self.text), help=help)


def tokenize(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text without the final `eof`. Raises what jmespath's lexer raises."""
    raw = list(Lexer().tokenize(text))
    ends = [token["start"] for token in raw[1:]]
    return tuple(
        Token(token["type"], token["value"], token["start"], text[token["start"] : end].rstrip())
        for token, end in zip(raw, ends, strict=False)
    )


def shortened(text: str) -> str:
    """Return a text as a message quotes it."""
    return text if len(text) <= 40 else text[:39] + "…"


def is_call(tokens: tuple[Token, ...], position: int) -> bool:
    """Return whether the token at `position` is the name of a function in a call."""
    name, after = tokens[position], tokens[position + 1 : position + 2]
    return name.type == "unquoted_identifier" and bool(after) and after[0].type == "lparen"


def compared_keys(tokens: tuple[Token, ...]) -> tuple[PathError, ...]:
    """Return a warning for each key that is compared like a value: `"high"` in `risk == "high"` is a key."""
    found = []
    for before, token, after in zip_longest(tokens, tokens[1:], tokens[2:]):
        if token is None or before.type not in _COMPARATORS:
            continue
        if after is not None and after.type in ("dot", "lbracket", "filter", "flatten"):
            continue
        if token.type == "quoted_identifier":
            name = shortened(token.value)
            message = f'"{name}" is the key of that name, not a text'
            found.append(token.problem("W010", message, f"write '{name}' for the text"))
        elif token.type == "unquoted_identifier" and token.value in ("true", "false", "null"):
            literal = f"`{token.value}`"
            found.append(token.problem("W012", f"{literal} is the key of that name here", f"write `` {literal} ``"))
    return tuple(found)


def still_open(tokens: tuple[Token, ...]) -> list[Token]:
    """Return the brackets that the tokens open and do not close."""
    opened: list[Token] = []
    for token in tokens:
        if token.type in OPENING:
            opened.append(token)
        elif token.type in CLOSING and opened:
            opened.pop()
    return opened


def filters(tokens: tuple[Token, ...]) -> Iterator[tuple[int, int]]:
    """Yield the positions of `[?` and its `]` for every filter that is not inside another one."""
    start, depth = -1, 0
    for position, token in enumerate(tokens):
        if start < 0 and token.type == "filter":
            start, depth = position, 0
        depth += (token.type in OPENING) - (token.type in CLOSING)
        if start >= 0 and depth == 0:
            yield start, position
            start = -1


def filter_texts(text: str, tokens: tuple[Token, ...]) -> list[str]:
    """Return the texts of the conditions of every filter that is not inside another one."""
    return [text[tokens[start].start + 2 : tokens[end].start].strip() for start, end in filters(tokens)]


_NEW = {
    "or": ("`||` selects between values", "write one step for each place"),
    "and": ("`&&` makes a value", "to select items write a filter: `items[?a && b]`"),
    "not": ("`!` makes a value", "to select items write a filter: `items[?!seen]`"),
    "literal": (
        "a literal is not part of the data",
        'write a key in double quotes, after a dot: `source."last-seen"`',
    ),
    "expref": ("`&` is valid only before an argument of a function", ""),
    "lbrace": ("`{...}` makes a new object", "to select keys write `keep: [a, b]`"),
    **dict.fromkeys(
        _COMPARATORS, ("a comparison makes a value", "to select items write a filter: `items[?risk == 'high']`")
    ),
}


def new_value(tokens: tuple[Token, ...]) -> PathError | None:
    """Return an error for the first token outside of filters that makes a new value and so names no place."""
    inside = {position for start, end in filters(tokens) for position in range(start, end)}
    for position, token in enumerate(tokens):
        if position in inside:
            continue
        reason: tuple[str, str] | None = _NEW.get(token.type)
        if is_call(tokens, position):
            name = shortened(token.value)
            reason = (f"`{name}()` makes a new value", "use functions only in filters and conditions")
        elif token.type == "lbracket":
            dotted = position > 0 and tokens[position - 1].type == "dot"
            if dotted or not _names_place(tokens[position + 1 : position + 3]):
                help = "remove the dot before `[`" if dotted else "to select keys write `keep: [a, b]`"
                reason = ("`[...]` with expressions in it makes a new list", help)
        if reason is not None:
            return token.problem("E065", f"{reason[0]}; a path names places", reason[1])
    return None


def _names_place(after: tuple[Token, ...]) -> bool:
    kinds = [token.type for token in after]
    return kinds[0] in ("number", "colon") or kinds == ["star", "rbracket"]
