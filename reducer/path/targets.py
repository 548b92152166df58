"""Paths that end in a filter, taken apart: what `drop` needs to take items from the list that holds them."""

from __future__ import annotations

from .syntax import parse

_OPENING = {"filter", "lbracket", "flatten", "lparen", "lbrace"}
_CLOSING = {"rbracket", "rparen", "rbrace"}


def split_filter(text: str) -> tuple[str, str, str] | None:
    """Take `lists[?condition].rest` apart at its last filter: the path of the list (`@` for none), the condition, and what follows it.

    None when there is no filter. Raises `PathError`.
    """
    if "[?" not in text:
        return None
    _, tokens = parse(text)
    depth, start, parts = 0, 0, None
    for token in tokens:
        if token.type in _CLOSING:
            depth -= 1
            if depth == 0 and parts is None and start >= 0:
                parts = (start, token.start)
        elif token.type in _OPENING and token.type != "flatten":
            if depth == 0:
                start, parts = (token.start, None) if token.type == "filter" else (-1, parts)
            depth += 1
    if parts is None:
        return None
    start, end = parts
    return text[:start].strip() or "@", text[start + 2 : end], text[end + 1 :].strip().removeprefix(".")
