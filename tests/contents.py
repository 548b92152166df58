"""Ways to look at contents that several tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reducer.codecs import decode, read_nested
from reducer.values import is_media


def opened(content: Any) -> Any:
    """Give what a content that is JSON text says; any other content as it is."""
    return decode(content) if isinstance(content, str) else content


def said(text: str) -> Any:
    """Give what a text within a content says, if it holds structure that rules can go into; else the text."""
    found = read_nested(text, {})
    return text if found is None else found[0]


def texts(value: Any) -> Iterator[str]:
    """Give every text in a value, keys before what they hold; media items are not entered."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and not is_media(value):
        for key, item in value.items():
            yield key
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
