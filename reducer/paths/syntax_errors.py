"""Syntax errors of jmespath's lexer and parser, explained to the author of a rule."""

from __future__ import annotations

import re

from jmespath.exceptions import EmptyExpressionError, IncompleteExpressionError, LexerError, ParseError

from reducer.paths.tokens import PathError, Token, shortened, still_open, tokenize

_ARITHMETIC = "JMESPath does not calculate"
_CHARACTERS = {
    "=": ("E052", "write `==` to compare"),
    "$": ("E054", "an expression starts at the value itself: remove `$.`"),
    "+": ("E061", _ARITHMETIC),
    "/": ("E061", "separate keys with dots"),
    "%": ("E061", _ARITHMETIC),
}
_UNCLOSED = {'"': 'close the key with `"`', "'": "close the text with `'`", "`": "close the literal with a backtick"}
_QUOTE = "put a key with characters other than letters, digits and `_` in double quotes"
_PAIRS = {"lbracket": "]", "filter": "]", "lbrace": "}", "lparen": ")"}
_WORDS = {"and": "&&", "or": "||", "not": "!"}
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def syntax_error(text: str, error: Exception) -> PathError:
    """Return the explanation of an error that jmespath raised for `text`."""
    if isinstance(error, EmptyExpressionError) or not text.strip():
        return PathError("E050", "the expression is empty", help="`@` names the value itself")
    if isinstance(error, LexerError):
        return _lexer_error(text, error)
    if isinstance(error, IncompleteExpressionError):
        return _unfinished(text)
    if isinstance(error, ParseError):
        tokens = tokenize(text)
        position = next((i for i, token in enumerate(tokens) if token.start == error.lex_position), None)
        return _unfinished(text) if position is None else _parser_error(text, tokens, position)
    return PathError("E064", "not a JMESPath expression")


def _lexer_error(text: str, error: LexerError) -> PathError:
    at = min(error.lexer_position, len(text) - 1)
    character = text[at]
    if "Unclosed" in error.message:
        help = _UNCLOSED.get(character, "")
        return PathError("E051", f"the {character} is never closed", at + 1, len(text) - at, help=help)
    if character == "-":
        return _dash(text, at)
    if character in '"`':
        help = "inside quotes write a backslash as `\\\\`"
        return PathError("E069", f"the text in {character} is not valid JSON", at + 1, help=help)
    code, help = _CHARACTERS.get(character, ("E057", _QUOTE))
    return PathError(code, f"unknown character `{character}`", at + 1, help=help)


def _dash(text: str, at: int) -> PathError:
    key = next(found[0] for found in re.finditer(r"[\w-]+", text) if found.start() <= at < found.end())
    is_key = key.strip("-") != ""
    help = f'quote the key: `"{shortened(key)}"`' if is_key else _ARITHMETIC
    return PathError("E057" if is_key else "E061", "a bare key cannot contain `-`", at + 1, help=help)


def _unfinished(text: str) -> PathError:
    opened = still_open(tokenize(text))
    help = f"close `{opened[-1].text[:2]}` with `{_PAIRS[opened[-1].type]}`" if opened else ""
    return PathError("E051", "the expression ends too early", len(text) + 1, help=help)


def _parser_error(text: str, tokens: tuple[Token, ...], position: int) -> PathError:
    token, before = tokens[position], tokens[position - 1] if position else None
    for word in filter(None, (token, before)):
        operator = _WORDS.get(str(word.value).lower()) if word.type == "unquoted_identifier" else None
        if operator is not None:
            return word.problem("E053", f"`{word.value}` is not an operator", f"write `{operator}`")
    code, help = _unexpected(text, token, before)
    return token.problem(code, f"unexpected `{shortened(token.text)}`", help)


def _unexpected(text: str, token: Token, before: Token | None) -> tuple[str, str]:
    """Return the code and the help for a token that cannot follow the one before it."""
    previous = "" if before is None else before.type
    if token.type == "number" and previous != "lbracket":
        number = _NUMBER.match(text, token.start)
        return "E056", f"write the number in backticks: `` `{number[0] if number else token.text}` ``"
    if previous == "current" and token.type.endswith("identifier"):
        return "E057", f'quote a key that starts with `@`: `"@{token.value}"`'
    for kind, follows, code, help in _UNEXPECTED:
        if kind in (token.type, "") and follows in (previous, ""):
            return code, help
    return "E064", ""


_UNEXPECTED = (
    ("number", "lbracket", "E064", "write an index directly after its list, without a dot: `items[0]`"),
    ("dot", "dot", "E055", "write one dot: JMESPath has no `..` for all levels"),
    ("dot", "", "E064", ""),
    ("expref", "", "E062", "write `&&`"),
    ("", "lbracket", "E058", "write a key after a dot, as in `items.name`, and a condition in `[?...]`"),
    ("", "dot", "E064", 'write a key after a dot; quote unusual ones, as in `source."last-seen"`'),
)
"""The type of a token and of the one before it (empty for any), the code and the help."""
