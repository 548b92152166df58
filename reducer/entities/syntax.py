"""What of a pattern RE2 will not have, found before it is asked, with the way to write it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_TOKEN = re.compile(
    r"""\\Q.*?(?:\\E|\Z) | \\. | \[\^?\]?(?:\[:\^?\w+:\] | \\. | [^\]\\])*\] | \(\?(?:P?[<=!>]|<[=!]|[^):]*[:)])? | . """,
    re.VERBOSE | re.DOTALL,
)
_LOOKS = {"(?=": "look-ahead", "(?!": "look-ahead", "(?<=": "look-behind", "(?<!": "look-behind"}


class PatternError(ValueError):
    """A pattern that cannot be used: `column` counts from 1, `width` in characters."""

    def __init__(self, message: str, column: int, width: int, help: str) -> None:
        self.message = message
        self.column = column
        self.width = max(1, width)
        self.help = help
        super().__init__(message)


def refused(text: str, compiles: Callable[[str], bool]) -> PatternError | None:
    """Give the error for the first look-around, back-reference or character that is not ASCII; None if there is none."""
    for start, token in _tokens(text):
        look = next((head for head in ("(?<=", "(?<!", "(?=", "(?!") if text.startswith(head, start)), None) if token.startswith("(?") else None
        if look is not None:
            return PatternError(f"RE2 has no {_LOOKS[look]}: `{look}`", start + 1, len(look), _without(text, start, look, compiles))
        if re.fullmatch(r"\\[1-9]", token) or token.startswith("\\k") or text.startswith("(?P=", start):
            width = len(token) if token.startswith("\\") else 4
            return PatternError("RE2 has no back-references", start + 1, width, "write out what stands there: `(a|b)x\\1` is `axa|bxb`")
        strange = next((offset for offset, char in enumerate(token) if char > "\x7f"), None)
        if strange is not None:
            return PatternError(f"patterns read ASCII, so `{token[strange]}` never matches", start + strange + 1, 1, "write `.` in its place, or use `words`")
    return None


def first_group(text: str) -> tuple[int, int] | None:
    """Give where group 1 stands, if nothing stands around it as a whole: no group, no alternative, no repeat."""
    depth, group, end = 0, None, None
    for start, token in _tokens(text):
        if token[0] == "(" and not (token.startswith("(?") and token.endswith(")")):
            if group is None and (token == "(" or re.match(r"\(\?P?<\w", text[start:])):
                if depth:
                    return None
                group = start
            depth += 1
        elif token == ")":
            depth -= 1
            if group is not None and end is None and not depth:
                end = start + 1
        elif token == "|" and not depth:
            return None
    if group is None or end is None or text[end : end + 1] in ("?", "*", "+", "{"):
        return None
    return group, end


def alone(text: str, group: tuple[int, int], needed: Callable[[str], bool]) -> str | None:
    """Give a pattern whose group 1 matches alone too, where what stands around it is `needed`; None if the pattern is that already."""
    head, value, tail = text[: group[0]], text[slice(*group)], text[group[1] :]
    flags = re.match(r"\(\?[a-zA-Z]+\)", head)
    lead = flags[0] if flags else ""
    before, after = needed(head), needed(lead + tail)
    if not (before or after):
        return None
    return f"{lead}(?:^|{head[len(lead) :]}){value}" * before + (head + value) * (not before) + (f"(?:{tail}|$)" if after else tail)


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    return ((match.start(), match[0]) for match in _TOKEN.finditer(text))


def _without(text: str, start: int, look: str, compiles: Callable[[str], bool]) -> str:
    """Say how to write a pattern without the look-around at `start`."""
    end = _closing(text, start)
    if end is None:
        return "match what stands around, and put the value in a group"
    before, inner, after = text[:start], text[start + len(look) : end - 1], text[end:]
    if look in ("(?!", "(?<!"):
        rest = before + after
        # Usually one stands on either side: both go.
        other = next((place for place, token in _tokens(rest) if rest.startswith(("(?!", "(?<!"), place) and token.startswith("(?")), None)
        closing = None if other is None else _closing(rest, other)
        if other is not None and closing is not None:
            rest = rest[:other] + rest[closing:]
        return f"leave it out, as a value stands between what is no letter or digit anyway: `{rest}`" if compiles(rest) else "leave it out"
    written = f"(?:^|{inner})({after})" if not before else f"({before})(?:{inner}|$)" if not after else ""
    if written and not _has_look(written) and compiles(written):
        return f"match it, and put the value in a group: `{written}`"
    return "match what stands around, and put the value in a group: `(?:^|before)(value)(?:after|$)`"


def _has_look(text: str) -> bool:
    return any(look in text for look in _LOOKS)


def _closing(text: str, start: int) -> int | None:
    depth = 0
    for place, token in _tokens(text):
        if place < start:
            continue
        if token[0] == "(" and not (token.startswith("(?") and token.endswith(")")):
            depth += 1
        elif token == ")":
            depth -= 1
            if not depth:
                return place + 1
    return None
