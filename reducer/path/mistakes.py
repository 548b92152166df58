"""What jmespath's lexer and parser say of a wrong text, said to the author of a rule: where, what, and the likely fix."""

from __future__ import annotations

import re

from jmespath.exceptions import EmptyExpressionError, IncompleteExpressionError, LexerError, ParseError

from .tokens import PathError, Token, shortened, still_open, tokenize

_LEXER_HELP = {
    "=": "write `==` to compare",
    "$": "an expression starts at the value itself: leave out `$.`",
    "+": "JMESPath does not calculate",
    "/": "keys are separated by dots",
    "%": "JMESPath does not calculate",
    '"': 'close the key with `"`',
    "'": "close the text with `'`",
    "`": "close the literal with a backtick",
}
_LEXER_CODE = {"=": "E052", "$": "E054", "+": "E061", "/": "E061", "%": "E061"}


def syntax_problem(text: str, error: Exception) -> PathError:
    if isinstance(error, EmptyExpressionError) or not text.strip():
        return PathError("E050", "the expression is empty", help="`@` names the value itself")
    if isinstance(error, LexerError):
        return _lexer_problem(text, error)
    if isinstance(error, IncompleteExpressionError):
        return PathError("E051", "the expression ends too early", len(text) + 1, 1, _closing(text))
    if isinstance(error, ParseError):
        tokens = tokenize(text)
        position = next((i for i, token in enumerate(tokens) if token.start == error.lex_position), None)
        if position is None:
            return PathError("E051", "the expression ends too early", len(text) + 1, 1, _closing(text))
        return _parser_problem(tokens, position)
    digits = re.search(r"[0-9]{1000,}", text)
    if digits:
        return PathError("E063", "the number is too long", digits.start() + 1)
    return PathError("E064", "not a JMESPath expression")


def _lexer_problem(text: str, error: LexerError) -> PathError:
    at = min(error.lexer_position, len(text) - 1)
    mark = text[at]
    if "Unclosed" in error.message:
        return PathError("E051", f"the {mark} is never closed", at + 1, len(text) - at, _LEXER_HELP.get(mark, ""))
    if mark == "-":
        keys = [found[0] for found in re.finditer(r"[\w-]+", text) if found.start() <= at < found.end()]
        if not keys[0].strip("-"):
            return PathError("E061", "`-` is no part of a bare key", at + 1, 1, "JMESPath does not calculate")
        help = f'quote the key: `"{shortened(keys[0])}"`'
        return PathError("E057", "`-` is no part of a bare key", at + 1, 1, help)
    if mark in '"`':
        return PathError("E069", f"the text in {mark} is not valid JSON", at + 1, 1, "inside quotes write a backslash as `\\\\`")
    help = _LEXER_HELP.get(mark, "a key with other characters than letters, digits and `_` stands in double quotes")
    return PathError(_LEXER_CODE.get(mark, "E057"), f"unknown character `{mark}`", at + 1, 1, help)


def _closing(text: str) -> str:
    opened = still_open(tokenize(text))
    pairs = {"lbracket": "]", "filter": "]", "lbrace": "}", "lparen": ")"}
    return f"close `{opened[-1].text[:2]}` with `{pairs[opened[-1].type]}`" if opened else ""


_WORDS = {"and": "&&", "or": "||", "not": "!"}


def _parser_problem(tokens: tuple[Token, ...], position: int) -> PathError:
    token = tokens[position]
    before = tokens[position - 1] if position else None
    for word in (token, before):
        if word is not None and word.type == "unquoted_identifier" and word.value in _WORDS:
            return word.problem("E053", f"`{word.value}` is no operator", f"write `{_WORDS[word.value]}`")
    code, help = "E064", ""
    if token.type == "number":
        code, help = "E056", f"write the number in backticks: `` `{token.text}` ``"
        if before is not None and before.type == "lbracket":
            code, help = "E064", "an index stands right behind its list, without a dot: `items[0]`"
    elif token.type == "dot":
        if before is not None and before.type == "dot":
            code, help = "E055", "one dot; there is no `..` for «anywhere below»"
    elif before is not None and before.type == "current" and token.type.endswith("identifier"):
        code, help = "E057", f'a key that starts with `@` is quoted: `"@{token.value}"`'
    elif token.type == "expref":
        code, help = "E062", "write `&&`"
    elif before is not None and before.type == "lbracket":
        code, help = "E058", "a key stands behind a dot, as in `items.name`; a condition in `[?...]`"
    elif before is not None and before.type == "dot":
        help = 'behind a dot stands a key; quote unusual ones, as in `source."last-seen"`'
    return token.problem(code, f"unexpected `{shortened(token.text)}`", help)
