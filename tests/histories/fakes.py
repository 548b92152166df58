"""Plain reducers for tests of agents and histories."""

from __future__ import annotations

from typing import Any

from reducer.values import is_media, plain, shown


def shorter(tool: str, content: Any) -> Any:
    """Keep two items of a list, five characters of a text, two items of each list in an object; media stay.

    Returns the same object if all fits.
    """
    opened = shown(content)
    plain(opened)  # for its refusals
    if isinstance(opened, str):
        return content if len(opened) <= 5 else opened[:5]
    if isinstance(opened, list):
        new = cut(opened)
        return content if new is opened else new
    if not isinstance(opened, dict) or is_media(opened):
        return content
    new = {key: cut(shown(value)) for key, value in opened.items()}
    return (
        content
        if all(len(new[key]) == len(shown(old)) for key, old in opened.items() if isinstance(new[key], list))
        else new
    )


def cut(value: Any) -> Any:
    return value[:2] if isinstance(value, list) and len(value) > 2 and not any(map(holds_media, value[2:])) else value


def holds_media(value: Any) -> bool:
    if is_media(value):
        return True
    value = shown(value)
    return any(
        map(holds_media, value.values() if isinstance(value, dict) else value if isinstance(value, list) else [])
    )


def unchanged(tool: str, content: Any) -> Any:
    """Return every content."""
    return content
