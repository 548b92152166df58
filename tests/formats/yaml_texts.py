"""Texts in YAML for tests: all styles mixed, with comments, blank lines, markers and wide characters in many places."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import strategies as st

from reducer.formats.parts import is_marker
from tests.formats.notation_laws import cut

_PLAIN = (
    *("a", "web-1", "10.0.0.1", "x y", "1:30", "0755", "on", "1.10", "7", "-3.5", "true", "null", "~", "2024-03-01"),
    *(
        "größer",
        "🙂 ok",
        "a#b",
        "http://a.b/c?d=1",
        "it's",
        'say "no"',
        "a\\b",
        "…[3 more items]",
        "a%x",
        "1e3",
        "…[2 more items] x",
    ),
    *("-x", "…[2 more items] x", "?x", ":x", "...x", "TRUE", "+7", "0x1F", "1_000", ".5", "5.", "-0", "1" * 40),
)
_ODD = (
    "[1, 2",
    "a: b",
    "- a",
    "# no",
    "a, b",
    "…[40 more characters; mentions APT28]",
    "{",
    "`x`",
    "a\tb",
    "&a x",
    "!t x",
)
"""Scalars that are not valid everywhere, or that make the text one that is not read."""
_QUOTED = (
    *("", "a", "a: b", "x, y", "it's", 'say "no"', "[x]", "{a: 1}", "# no", "- a", "true", "7", "line\nline", "\\"),
    *(
        "…[3 more items]",
        "ab …[40 more characters]",
        "…[9 more items; mentions 1.2.3.4]",
        "größer 🙂",
        "---",
        "  ",
        "\x7f",
    ),
    *("\x85x", "\u2028", "a\tb", "\x00", "key: |\n  text", "x " * 30),
)
_LINES = (
    "text",
    "more: text",
    "- item",
    "# no comment",
    "",
    "",
    "  deeper",
    "…[3 more items]",
    "größer",
    "---x",
    "\ttab",
)
_KEYS = ("name", "id", "x-y", "a b", "'it''s'", '"q"', "7", "on", "größer", "k8s.io/name", '"a: b"', "null", "x" * 30)
_COMMENTS = (" # note", "   # a: b", " #", " \t# tab", " # - x")


def _maybe(chosen: Random, share: float, texts: tuple[str, ...]) -> str:
    return chosen.choice(texts) if chosen.random() < share else ""


def _scalar(chosen: Random) -> str:
    kind = chosen.random()
    if kind < 0.6:
        return chosen.choice(_ODD if kind < 0.01 else _PLAIN)
    text = chosen.choice(_QUOTED)
    if not text.isascii() or not text.isprintable():
        return json.dumps(text, ensure_ascii=not text.isprintable())
    return json.dumps(text) if kind < 0.8 else "'" + text.replace("'", "''") + "'"


def _keys(chosen: Random) -> list[str]:
    return chosen.sample(_KEYS, chosen.choice((1, 1, 2, 3, 4)))


def _flow(chosen: Random, level: int) -> str:
    gap = chosen.choice(("", " ", " ", "\n" + " " * 12, " # c\n" + " " * 12))
    after = _maybe(chosen, 0.1, (",", " ,"))
    if level > 3 or chosen.random() < 0.5:
        return _scalar(chosen)
    if chosen.random() < 0.5:
        items = [_flow(chosen, level + 1) for _ in range(chosen.randrange(4))]
        return f"[{gap.lstrip(' #c')}{f',{gap}'.join(items)}{after if items else ''}]"
    entries = [f"{key}: {_flow(chosen, level + 1)}" for key in _keys(chosen)]
    return f"{{{f',{gap}'.join(entries)}{after}}}"


def _folded(chosen: Random, indent: int) -> str:
    """Return a scalar of several lines, which follows a colon or a dash."""
    inner = " " * (indent + chosen.choice((1, 2, 4)))
    kind = chosen.randrange(4)
    if kind == 0:
        return f" some words\n{inner}and more\n\n{inner}at the end"
    if kind == 1:
        quote = chosen.choice("'\"")
        return f" {quote}some words\n{inner}and # more\n\n{inner}at the end{quote}"
    head = chosen.choice((" |", " >", " |-", " >-", " |+", " >+", " | # note"))
    lines = [chosen.choice(_LINES) for _ in range(chosen.randrange(5))]
    body = "".join(f"\n{inner}{line}" if line else "\n" for line in ["first", *lines])
    return head + body


def _value(chosen: Random, indent: int, level: int) -> str:
    """Return what follows a colon or a dash."""
    kind = chosen.random()
    if level > 4 or kind < 0.45:
        return f" {_scalar(chosen)}{_maybe(chosen, 0.1, _COMMENTS)}" if kind > 0.04 else _maybe(chosen, 0.3, _COMMENTS)
    if kind < 0.55:
        return _folded(chosen, indent)
    if kind < 0.65:
        return f" {_flow(chosen, 0)}"
    deeper = indent + chosen.choice((1, 2, 2, 2, 4))
    return f"{_maybe(chosen, 0.2, _COMMENTS)}\n{_block(chosen, deeper, level + 1)}"


def _between(chosen: Random, indent: int) -> str:
    """Return the lines between two entries."""
    kind = chosen.random()
    if kind < 0.7:
        return "\n"
    if kind < 0.8:
        return "\n" * chosen.randrange(2, 4)
    deep = chosen.choice((0, indent, indent, indent + 2, max(indent - 2, 0)))
    return "\n" + " " * deep + "# comment: x\n" + _maybe(chosen, 0.2, ("\n", "   \n"))


def _block(chosen: Random, indent: int, level: int) -> str:
    """Return a list or an object in block style, with its indentation and without the last line end."""
    margin = " " * indent
    parts: list[str] = []
    if chosen.random() < 0.5:
        for _ in range(chosen.choice((1, 2, 3, 5))):
            inside = chosen.random()
            if inside < 0.3 and level < 5:
                wide = chosen.choice((1, 1, 1, 3))
                text = " " * wide + _block(chosen, indent + 1 + wide, level + 1).lstrip(" ")
            else:
                text = _value(chosen, indent, level)
            parts.append(f"{margin}-{text}")
    else:
        for key in _keys(chosen):
            if chosen.random() < 0.15 and level < 5:
                items = "\n".join(f"{margin}- {_scalar(chosen)}" for _ in range(chosen.randrange(1, 4)))
                text = "\n" + items
            else:
                text = _value(chosen, indent, level)
            parts.append(f"{margin}{key}{_maybe(chosen, 0.05, (' ',))}:{text}")
    lines = parts[0]
    for part in parts[1:]:
        lines += _between(chosen, indent) + part
    return lines


def yaml_text(seed: int) -> str:
    """Return a text that is mostly valid YAML."""
    chosen = Random(seed)
    documents: list[str] = []
    for _ in range(chosen.choice((1, 1, 1, 2, 4))):
        body = _flow(chosen, 0) if chosen.random() < 0.1 else _block(chosen, 0, 0)
        documents.append(_maybe(chosen, 0.2, ("# comment\n", "\n")) + body + _maybe(chosen, 0.1, _COMMENTS))
    separator = chosen.choice(("\n---\n", "\n--- # next\n", "\n---\n# next\n", "\n...\n---\n", "\n\n---\n---\n"))
    text = _maybe(chosen, 0.2, ("---\n", "--- # first\n", "\ufeff")) + separator.join(documents)
    text += _maybe(chosen, 0.8, ("\n", "\n", "\n\n", "\n# end\n", "\n...\n", "\n---\n", '\n--- "…[4 more items]"\n'))
    line_end = chosen.choice(("\n", "\n", "\n", "\r\n"))
    return text.replace("\n", line_end)


yaml_texts = st.integers(0, 1 << 40).map(yaml_text)


def part_of(chosen: Random, value: Any, marked: bool) -> Any:
    """Return what a reduction could leave of a value; with markers if `marked`."""
    kind = chosen.random()
    if type(value) is dict:
        if kind < 0.05:
            return {}
        return {key: part_of(chosen, item, marked) for key, item in value.items() if chosen.random() < 0.75}
    if type(value) is list:
        if marked and value and is_marker(value[-1]):
            value = value[:-1]
        items = [] if kind < 0.05 else [item for item in value if chosen.random() < 0.75]
        reduced = [part_of(chosen, item, marked) for item in items]
        removed = len(value) - len(items)
        if marked and removed and chosen.random() < 0.6:
            reduced.append(f"…[{removed} more items{chosen.choice(('', '; mentions 1.2.3.4'))}]")
        return reduced
    if type(value) is str and value and kind < 0.1:
        return ""
    if type(value) is str and value and marked and kind < 0.3:
        return cut(value, chosen)
    return value
