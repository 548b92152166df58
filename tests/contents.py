"""Ways to look at contents that several tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reducer.engine.decode import decode
from reducer.values import is_media


def opened(content: Any) -> Any:
    """Give what a content that is JSON text says; any other content as it is."""
    return decode(content) if isinstance(content, str) else content


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
