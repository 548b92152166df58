"""The tokens of jmespath's lexer with their places, and what they tell that its syntax tree, which has no places, does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from jmespath.lexer import Lexer


class PathError(ValueError):
    """A text that is no usable expression: `column` counts from 1 in the text, `width` is the number of characters meant.

    `code` is the one of `reducer.catalogue`. `edit` mends it: the characters from its start to its end, from 0, become its text.
    """

    def __init__(self, code: str, message: str, column: int = 1, width: int = 1, help: str = "", edit: tuple[int, int, str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.column = column
        self.width = max(1, width)
        self.help = help
        self.edit = edit


class Token(NamedTuple):
    """A token of jmespath's lexer with its place: `start` counts from 0, `text` is what is written there."""

    type: str
    value: Any
    start: int
    text: str

    def problem(self, code: str, message: str, help: str = "", new: str | None = None) -> PathError:
        """Make an error that points at this token; `new` is what should stand there."""
        return PathError(code, message, self.start + 1, len(self.text), help, None if new is None else (self.start, self.start + len(self.text), new))


def tokenize(text: str) -> tuple[Token, ...]:
    """Give the tokens of a text without the final `eof`. Raises what jmespath's lexer raises."""
    raw = list(Lexer().tokenize(text))
    ends = [token["start"] for token in raw[1:]]
    return tuple(Token(token["type"], token["value"], token["start"], text[token["start"] : end].rstrip()) for token, end in zip(raw, ends, strict=False))


def shortened(text: str) -> str:
    """Give a text as it is quoted in a message."""
    return text if len(text) <= 40 else text[:39] + "…"


def is_call(tokens: tuple[Token, ...], position: int) -> bool:
    """Tell whether the token at `position` is the name of a function that is called."""
    name, after = tokens[position], tokens[position + 1 : position + 2]
    return name.type == "unquoted_identifier" and bool(after) and after[0].type == "lparen"


_COMPARATORS = frozenset({"eq", "ne", "lt", "lte", "gt", "gte"})


def compared_keys(tokens: tuple[Token, ...]) -> tuple[PathError, ...]:
    """Warn of what is compared and reads as a key: in `risk == "high"` and `seen == true` both sides do, and nobody means that."""
    doubts = []
    for before, token, after in zip(tokens, tokens[1:], [*tokens[2:], None], strict=False):
        whole = after is None or after.type not in ("dot", "lbracket", "filter", "flatten")
        if token.type == "quoted_identifier" and before.type in _COMPARATORS and whole:
            name = shortened(token.value)
            new = None if set(token.value) & set("'\\") else f"'{token.value}'"
            doubts.append(token.problem("W010", f'"{name}" is the key of that name, not a text', f"write '{name}' for the text", new))
        elif before.type in _COMPARATORS and token.value in ("true", "false", "null") and token.type == "unquoted_identifier" and whole:
            doubts.append(token.problem("W012", f"`{token.value}` is the key of that name here", f"write `` `{token.value}` ``", f"`{token.value}`"))
    return tuple(doubts)


_OPENING = frozenset({"lbracket", "filter", "lbrace", "lparen"})
_CLOSING = frozenset({"rbracket", "rbrace", "rparen"})


def still_open(tokens: tuple[Token, ...]) -> list[Token]:
    """Give the brackets that the tokens open and do not close."""
    opened: list[Token] = []
    for token in tokens:
        if token.type in _OPENING:
            opened.append(token)
        elif token.type in _CLOSING and opened:
            opened.pop()
    return opened


def _outermost(tokens: tuple[Token, ...]) -> Iterator[tuple[int, int]]:
    """Give the positions of `[?` and its `]` for every filter that stands in no other one."""
    start, depth = -1, 0
    for position, token in enumerate(tokens):
        if start < 0:
            if token.type == "filter":
                start, depth = position, 1
        elif token.type in _OPENING:
            depth += 1
        elif token.type in _CLOSING:
            depth -= 1
            if depth == 0:
                yield start, position
                start = -1


def filter_texts(text: str, tokens: tuple[Token, ...]) -> list[str]:
    """Give the texts of the conditions of every filter that stands in no other one."""
    return [text[tokens[start].start + 2 : tokens[end].start].strip() for start, end in _outermost(tokens)]


_NEW = {
    "or": ("`||` chooses between values", "write one step for each place"),
    "and": ("`&&` makes a value", "to choose items write a filter: `items[?a && b]`"),
    "not": ("`!` makes a value", "to choose items write a filter: `items[?!seen]`"),
    "literal": ("a literal is a value of its own", 'a key is quoted with double quotes, behind a dot: `source."last-seen"`'),
    "expref": ("`&` stands before an argument of a function only", ""),
    "lbrace": ("`{...}` makes a new object", "to choose keys write `keep: [a, b]`"),
    **dict.fromkeys(_COMPARATORS, ("a comparison makes a value", "to choose items write a filter: `items[?risk == 'high']`")),
}


def new_value(tokens: tuple[Token, ...]) -> PathError | None:
    """Find the first thing in an expression, outside of filters, that makes a new value and so names no place."""
    inside = {position for start, end in _outermost(tokens) for position in range(start, end)}
    for position, token in enumerate(tokens):
        if position in inside:
            continue
        if is_call(tokens, position):
            return token.problem(
                "E065",
                f"`{shortened(token.value)}()` makes a new value; a path names places",
                "functions stand in filters and conditions only",
            )
        if token.type == "lbracket":
            dotted = position > 0 and tokens[position - 1].type == "dot"
            if dotted or not _names_place(tokens[position + 1 : position + 3]):
                help = "leave out the dot before `[`" if dotted else "to choose keys write `keep: [a, b]`"
                return token.problem("E065", "`[...]` with expressions in it makes a new list; a path names places", help)
        if token.type in _NEW:
            message, help = _NEW[token.type]
            return token.problem("E065", f"{message}; a path names places", help)
    return None


def _names_place(after: tuple[Token, ...]) -> bool:
    kinds = [token.type for token in after]
    return kinds[0] in ("number", "colon") or kinds == ["star", "rbracket"]
