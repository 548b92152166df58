"""A plain reducer for tests of agents and histories."""

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
        new: Any = cut(opened)
        return content if new is opened else new
    if not isinstance(opened, dict) or is_media(opened):
        return content
    before = {key: shown(value) for key, value in opened.items()}
    new = {key: cut(value) for key, value in before.items()}
    return content if all(new[key] is before[key] for key in new) else new


def cut(value: Any) -> Any:
    return value[:2] if isinstance(value, list) and len(value) > 2 and not any(map(holds_media, value[2:])) else value


def holds_media(value: Any) -> bool:
    inner = shown(value)
    items = inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else []
    return is_media(value) or any(map(holds_media, items))
