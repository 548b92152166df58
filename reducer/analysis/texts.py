"""Texts and entities in the contents of tool returns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from reducer.entities.entity import GROUPS, Entity, Scan
from reducer.errors import shortened
from reducer.formats import decode, parse_nested, plain
from reducer.values import Unreducible, chars, is_media, leaves

API_LINK = re.compile(
    r"\w+://(?:[\w.-]*\bapi\b|[^/]+/(?:[^?#]*/)?(?:apis?|rest|_apis|odata|wp-json)(?:/|$|\?))|/apis?/v\d"
)
"""Matches the beginning of an address that only programs open."""
HASHES_AND_LINKS = frozenset({"url", *GROUPS["hash"]})
"""Entities that can be checksums and addresses of files instead of indicators."""


def opened(content: Any) -> Any:
    """Decode a content that is structured text. Return any other content unchanged."""
    return decode(content) if type(content) is str else content


def texts(value: Any) -> Iterator[str]:
    """Yield every text and key in a value, except in media items."""
    for leaf in leaves(value, _without_media):
        if type(leaf) is str:
            yield leaf


def _without_media(value: Any) -> Any:
    return None if is_media(value) else value


def entities(value: Any, scan: Scan) -> dict[tuple[str, str], Entity]:
    """Scan every text of a value. Return the first entity of each type and canonical value."""
    found: dict[tuple[str, str], Entity] = {}
    for text in dict.fromkeys(texts(value)):
        for entity in scan(text):
            found.setdefault((entity.type, entity.canonical), entity)
    return found


def all_text(value: Any) -> str:
    """Join all texts of a value, and those in its structured texts, into one that can be searched."""
    found = list(texts(value))
    for text in found:
        nested = parse_nested(text)
        if nested is not None:
            found += texts(plain(nested[0]))  # the loop continues with these
    return "\0".join(found)  # no entity contains this separator


def characters(value: Any) -> int:
    """Count the characters that the model sees of a value, or return 0 if they cannot be counted."""
    try:
        return chars(value)
    except (Unreducible, RecursionError):
        return 0


def json_text(value: Any, indent: int | None = None) -> str:
    """Return the JSON of any value of a return or a rule, for people. Never raises.

    What JSON cannot express is written as rules see it: a call in a Python literal as a text. A value that rules cannot
    read is written as `…`.
    """
    try:
        return json.dumps(plain(value), ensure_ascii=False, indent=indent)
    except (Unreducible, ValueError, RecursionError):
        return "…"


def excerpt(value: Any, width: int = 160) -> str:
    """Return the beginning of a text, or of the JSON of another value, on one line. `…` stands for the rest."""
    text = value if type(value) is str else json_text(value)
    text = " ".join(text[: width * 4].split())
    return shortened(text, width)


def listed(names: Iterable[str], limit: int = 6) -> str:
    """Join distinct names with commas. After the first `limit` names, only state the number of others."""
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - limit:,} more" if len(distinct) > limit else ""
    return f"{', '.join(distinct[:limit])}{more}"
