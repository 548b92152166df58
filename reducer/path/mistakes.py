"""What jmespath's lexer and parser say of a wrong text, said to the author of a rule: where, what, and the likely fix."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

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
        return _unfinished(text)
    if isinstance(error, ParseError):
        tokens = tokenize(text)
        position = next((i for i, token in enumerate(tokens) if token.start == error.lex_position), None)
        if position is None:
            return _unfinished(text)
        return _parser_problem(text, tokens, position)
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
        start = next(found.start() for found in re.finditer(r"[\w-]+", text) if found.start() <= at < found.end())
        return PathError("E057", "`-` is no part of a bare key", at + 1, 1, help, (start, start + len(keys[0]), f'"{keys[0]}"'))
    if mark in '"`':
        return PathError("E069", f"the text in {mark} is not valid JSON", at + 1, 1, "inside quotes write a backslash as `\\\\`")
    help = _LEXER_HELP.get(mark, "a key with other characters than letters, digits and `_` stands in double quotes")
    return PathError(_LEXER_CODE.get(mark, "E057"), f"unknown character `{mark}`", at + 1, 1, help, _instead(text, at))


def _instead(text: str, at: int) -> tuple[int, int, str] | None:
    if text[at] == "=":
        # `===` is read as `==` and one more.
        return (at, at + 1, "") if text[at - 1 : at] == "=" else (at, at + 1, "==")
    if text[at] == "$" and not text[:at].strip():
        rest = text[at + 1 :]
        return (at, at + 2, "") if rest.startswith(".") and rest[1:2] != "." else (at, at + 1, "") if rest.startswith("[") else (at, at + 1, "@")
    return None


_PAIRS = {"lbracket": "]", "filter": "]", "lbrace": "}", "lparen": ")"}


def _unfinished(text: str) -> PathError:
    opened = still_open(tokenize(text))
    help = f"close `{opened[-1].text[:2]}` with `{_PAIRS[opened[-1].type]}`" if opened else ""
    end = len(text.rstrip())
    return PathError("E051", "the expression ends too early", len(text) + 1, 1, help, (end, end, _PAIRS[opened[-1].type]) if opened else None)


_WORDS = {"and": "&&", "or": "||", "not": "!"}


_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def _parser_problem(text: str, tokens: tuple[Token, ...], position: int) -> PathError:
    token = tokens[position]
    before = tokens[position - 1] if position else None
    for word in (token, before):
        operator = _WORDS.get(str(word.value).lower()) if word is not None and word.type == "unquoted_identifier" else None
        if word is not None and operator:
            problem = word.problem("E053", f"`{word.value}` is no operator", f"write `{operator}`", operator)
            if operator == "!" and problem.edit is not None:
                # `not a` becomes `!a`
                end = problem.edit[1] + len(text[problem.edit[1] :]) - len(text[problem.edit[1] :].lstrip())
                problem.edit = (problem.edit[0], end, operator)
            return problem
    code, help = "E064", ""
    edit: tuple[int, int, str] | None = None
    if token.type == "number":
        code, help = "E056", f"write the number in backticks: `` `{token.text}` ``"
        number = _NUMBER.match(text, token.start)
        if number:
            edit, help = (number.start(), number.end(), f"`{number[0]}`"), f"write the number in backticks: `` `{number[0]}` ``"
        if before is not None and before.type == "lbracket":
            edit = (before.start - 1, before.start, "") if text[before.start - 1 : before.start] == "." else None
            code, help = "E064", "an index stands right behind its list, without a dot: `items[0]`"
    elif token.type == "dot":
        if before is not None and before.type == "dot":
            code, help = "E055", "one dot; there is no `..` for «anywhere below»"
    elif before is not None and before.type == "current" and token.type.endswith("identifier"):
        code, help = "E057", f'a key that starts with `@` is quoted: `"@{token.value}"`'
        edit = (before.start, token.start + len(token.text), f'"@{token.value}"') if token.start == before.start + 1 else None
    elif token.type == "expref":
        code, help, edit = "E062", "write `&&`", (token.start, token.start + 1, "&&")
    elif before is not None and before.type == "lbracket":
        code, help = "E058", "a key stands behind a dot, as in `items.name`; a condition in `[?...]`"
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        if token.type in ("literal", "quoted_identifier") and type(token.value) is str and after is not None and after.type == "rbracket":
            name = token.value if re.fullmatch(r"[A-Za-z_]\w*", token.value) else json.dumps(token.value, ensure_ascii=False)
            edit = (before.start, after.start + 1, ("." if before.start else "") + name)
    elif before is not None and before.type == "dot":
        help = 'behind a dot stands a key; quote unusual ones, as in `source."last-seen"`'
    problem = token.problem(code, f"unexpected `{shortened(token.text)}`", help)
    problem.edit = edit
    return problem


_ROUNDS = 12
"""Mistakes of one expression that are mended one after the other."""


def mended(text: str, compile: Callable[[str], object]) -> str:
    """Give a wrong expression with its mistakes mended, so that it compiles; empty where that is not clear."""
    first = text
    for _ in range(_ROUNDS if len(text) < 1000 else 0):
        try:
            compile(text)
        except PathError as error:
            if error.edit is None:
                return ""
            start, end, new = error.edit
            text = text[:start] + new + text[end:]
        else:
            return text if text != first else ""
    return ""
