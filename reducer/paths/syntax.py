"""The tokens of jmespath's lexer, and explanations of the syntax errors of its lexer and parser."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from jmespath.exceptions import EmptyExpressionError, IncompleteExpressionError, LexerError, ParseError
from jmespath.lexer import Lexer

from reducer.errors import shortened

OPENING = {"lbracket": "]", "filter": "]", "lbrace": "}", "lparen": ")"}
"""The types of opening brackets with their closing brackets."""
CLOSING = frozenset({"rbracket", "rbrace", "rparen"})
_BEFORE_VALUES = ("eq", "ne", "lt", "gt", "lte", "gte", "comma", "lparen", "and", "or", "not", "filter", "pipe")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?![0-9])")


@dataclass(eq=False)
class PathError(ValueError):
    """An error in an expression.

    `column` counts from 1, `width` counts characters, and `code` is a key of `reducer/rules/diagnostics.toml`.
    `meant` is the valid expression that was probably meant, or empty.
    """

    code: str
    message: str
    column: int = 1
    width: int = 1
    help: str = ""
    meant: str = ""

    def __str__(self) -> str:
        return self.message

    @property
    def advice(self) -> str:
        """What to write instead."""
        return f"write {self.meant}" if self.meant else self.help


class Token(NamedTuple):
    """A token of jmespath's lexer: `start` is its offset, `text` its source, `depth` the number of brackets around it.

    A bracket is not inside itself.
    """

    type: str
    value: Any
    start: int
    text: str
    depth: int

    def problem(self, code: str, message: str, advice: str = "") -> PathError:
        """Return an error at this token."""
        return PathError(code, message, self.start + 1, len(self.text), help=advice)


def tokenize(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text without the final `eof`. Raises the errors of jmespath's lexer.

    A number is a `literal` where a value can be, as in `score > -1.5`.
    """
    tokens: list[Token] = []
    end = depth = 0
    for raw, following in pairwise(Lexer().tokenize(text)):
        kind, value, start = raw["type"], raw["value"], raw["start"]
        if start < end:
            continue  # the decimals of a number
        source = text[start : following["start"]].rstrip()
        number = _NUMBER.match(text, start) if kind == "number" else None
        if number is not None and (not tokens or tokens[-1].type in _BEFORE_VALUES):
            kind, value, source = "literal", json.loads(number[0]), number[0]
        depth -= kind in CLOSING
        tokens.append(Token(kind, value, start, source, depth))
        depth += kind in OPENING
        end = start + len(source)
    return tuple(tokens)


def standard(tokens: tuple[Token, ...]) -> str:
    """Write tokens as standard JMESPath, in which a number needs backticks."""
    words = []
    for token in tokens:
        is_number = token.type == "literal" and token.text[0] not in "`'"
        words.append(f"`{token.text}`" if is_number else token.text)
    return " ".join(words)


def is_call(tokens: tuple[Token, ...], position: int) -> bool:
    """Return whether the token at `position` is the name of a called function."""
    return [token.type for token in tokens[position : position + 2]] == ["unquoted_identifier", "lparen"]


def closing(tokens: tuple[Token, ...], position: int) -> int:
    """Return the position of the bracket that closes the one at `position`, or 0 if it is not closed."""
    depth = tokens[position].depth
    for end in range(position + 1, len(tokens)):
        if tokens[end].type in CLOSING and tokens[end].depth == depth:
            return end
    return 0


def syntax_error(text: str, error: Exception) -> PathError:
    """Explain an error that jmespath raises for `text`."""
    if isinstance(error, EmptyExpressionError) or not text.strip():
        return PathError("E050", "the expression is empty", help="write `@` for the whole value")
    if isinstance(error, LexerError):
        return _lexer_error(text, error)
    if isinstance(error, ParseError):  # also the subclass IncompleteExpressionError
        tokens = tokenize(text)
        starts = [token.start for token in tokenize(standard(tokens))]
        if error.lex_position in starts and not isinstance(error, IncompleteExpressionError):
            return _unclosed(text, tokens) or _parser_error(tokens, starts.index(error.lex_position))
        advice = ""
        for position, token in enumerate(tokens):
            if token.type in OPENING and not closing(tokens, position):
                advice = f"close `{token.text[:2]}` with `{OPENING[token.type]}`"
        return PathError("E051", "the expression ends too early", len(text) + 1, help=advice)
    return PathError("E064", "this is not a JMESPath expression")


def _unclosed(text: str, tokens: tuple[Token, ...]) -> PathError | None:
    """Explain a bracket that is open when the one around it ends; before `&&` and `||`, its own end is not certain."""
    opened: list[Token] = []
    for number, token in enumerate(tokens):
        if token.type in OPENING:
            opened.append(token)
        elif token.type in CLOSING and opened:
            first = opened.pop()
            closing_bracket = OPENING[first.type]
            if closing_bracket == token.text:
                continue
            problem = first.problem("E064", f"this `{first.text}` is not closed", f"close it with `{closing_bracket}`")
            if not any(other.type in ("and", "or") and other.start > first.start for other in tokens[:number]):
                problem.meant = text[: token.start] + closing_bracket + text[token.start :]
            return problem
    return None


_ARITHMETIC = "JMESPath does not calculate"
_CHARACTERS = {
    "=": ("E052", "write `==` to compare"),
    "$": ("E054", "remove `$.`: an expression starts at the value itself"),
    "+": ("E061", _ARITHMETIC),
    "/": ("E061", "separate keys with dots"),
    "%": ("E061", _ARITHMETIC),
    '"': ("E069", "inside quotes write a backslash as `\\\\`"),
    "`": ("E069", "inside quotes write a backslash as `\\\\`"),
    **dict.fromkeys("“”„‘’", ("E057", "write straight single quotes around a text")),
}
_MESSAGES = {
    "E052": "`{}` is not an operator",
    "E053": "`{}` is not an operator",
    "E055": "JMESPath has no operator that searches all levels",
    "E061": "`{}` is not an operator",
    "E069": "the text in {} is not valid JSON",
}
_UNCLOSED = {'"': 'close the key with `"`', "'": "close the text with `'`", "`": "close the literal with a backtick"}
_QUOTE = "put a key with characters other than letters, digits and `_` in double quotes"
_LEVELS = "name each level, as in `items[*].note`"
_KEY = re.compile(r"[\w-]*\w[\w-]*")


def _lexer_error(text: str, error: LexerError) -> PathError:
    at = min(error.lexer_position, len(text) - 1)
    character = text[at]
    if "Unclosed" in error.message:
        advice = _UNCLOSED.get(character, "")
        return PathError("E051", f"the {character} is never closed", at + 1, len(text) - at, help=advice)
    if character == "-":
        advice = _ARITHMETIC
        for key in _KEY.finditer(text):
            if key.start() <= at < key.end():
                advice = f'quote the key: `"{shortened(key[0])}"`'
        return PathError("E057", "a bare key cannot contain `-`", at + 1, help=advice)
    code, advice = _CHARACTERS.get(character, ("E057", _QUOTE))
    if code == "E054" and ".." in text:
        at, code, advice = text.index(".."), "E055", _LEVELS
    return PathError(code, _MESSAGES.get(code, "unknown character `{}`").format(character), at + 1, help=advice)


_WORDS = {"and": "&&", "or": "||", "not": "!"}
_UNEXPECTED = (
    ("unquoted_identifier", "unquoted_identifier", "E053", "the operators are ==, !=, <, <=, >, >=, &&, || and !"),
    ("unquoted_identifier", "current", "E057", 'quote a key that starts with `@`: `"@{}"`'),
    ("number", "lbracket", "E064", "write an index directly after its list, without a dot: `items[0]`"),
    ("number", "", "E056", "write a number after an operator and without leading zeros: `score > 5`"),
    ("dot", "dot", "E055", _LEVELS),
    ("star", "star", "E055", _LEVELS),
    ("dot", "", "E064", ""),
    ("expref", "", "E062", "write `&&`"),
    ("", "lbracket", "E058", "write a key after a dot, as in `items.name`, and a condition in `[?...]`"),
    ("", "dot", "E064", 'write a key after a dot; quote unusual ones, as in `source."last-seen"`'),
    ("", "", "E064", ""),
)
"""The types of a token and of the previous one (empty for any type), the code and the help."""


def _parser_error(tokens: tuple[Token, ...], position: int) -> PathError:
    """Explain a token that cannot follow the previous one."""
    token, before = tokens[position], tokens[max(position - 1, 0) : position]
    for word in (token, *before):
        operator = _WORDS.get(str(word.value).lower()) if word.type == "unquoted_identifier" else None
        if operator is not None:
            return word.problem("E053", f"`{word.value}` is not an operator", f"write `{operator}`")
    previous = before[0].type if before else ""
    rows = (row[2:] for row in _UNEXPECTED if row[0] in (token.type, "") and row[1] in (previous, ""))
    code, advice = next(rows)
    message = _MESSAGES.get(code, "unexpected `{}`").format(shortened(token.text))
    return token.problem(code, message, advice.format(token.value))
