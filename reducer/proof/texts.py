"""What contents say: opened, their texts, and the entities that stand in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from reducer.codecs import decode, read_nested
from reducer.entities.entity import Entity
from reducer.entities.own import Scan
from reducer.values import dump, is_media

SEPARATOR = "\0"
"""Between texts that are searched together: no entity has it."""

_IN_WORD = re.compile("[A-Za-z0-9]")
_ESCAPES = frozenset({"\\n", "\\r", "\\t"})


def opened(content: Any) -> Any:
    """Give what a content that is a text of JSON or the like says; any other content as it is."""
    return decode(content) if type(content) is str else content


def texts(value: Any, deeper: bool = False) -> Iterator[str]:
    """Give every text in a value, keys among them; with `deeper` those too in texts that hold structure. Media items are not entered."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if type(item) is str:
            yield item
            said = read_nested(item, {}) if deeper else None
            if said is not None:
                waiting.append(said[0])
        elif type(item) is list:
            waiting += reversed(item)
        elif type(item) is dict and not is_media(item):
            yield from item
            waiting += reversed(item.values())


def entities(value: Any, scan: Scan) -> dict[tuple[str, str], Entity]:
    """Read the entities of a value, text by text: the first of each type and canonical value."""
    found: dict[tuple[str, str], Entity] = {}
    for text in texts(value):
        for entity in scan(text):
            found.setdefault((entity.type, entity.canonical), entity)
    return found


def stands(value: str, text: str) -> bool:
    """Tell whether a written entity stands in a text, bounded by characters that are no part of a word."""
    # Looked for as it stands, at C speed, then at its edges: an expression with the edges in it takes 7 ms on 80,000 characters.
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        before, after = text[max(0, at - 2) : at], text[end : end + 1]
        # The letter of an escape, as in the JSON text `\\n192.0.2.1`, is no part of a word.
        starts = not (value[0].isalnum() and _IN_WORD.match(before[-1:])) or before in _ESCAPES
        if starts and not (value[-1].isalnum() and _IN_WORD.match(after)):
            return True
        at = text.find(value, at + 1)
    return False


def all_text(value: Any, deeper: bool = False) -> str:
    """Join all texts of a value, to be searched."""
    return SEPARATOR.join(texts(value, deeper))


def holds(part: str, value: Any) -> bool:
    """Tell whether a part stands in one of the texts of a value, or in the value as it is shown."""
    return any(part in text for text in texts(value)) or part in dump(value)


def excerpt(value: Any, most: int = 160) -> str:
    """Write the beginning of a value on one line: a text as it stands, anything else as compact JSON."""
    text = value if type(value) is str else dump(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
