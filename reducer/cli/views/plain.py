"""Data as plain JSON values: dataclasses and named tuples are objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TextIO


def print_json(value: Any, stream: TextIO) -> None:
    """Write a value as JSON, ASCII only."""
    stream.write(json.dumps(plain(value), indent=1) + "\n")


def plain(value: Any) -> Any:
    """Return a value as plain JSON values."""
    if is_dataclass(value):
        return fields_of(value)
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return list(map(plain, value)) if isinstance(value, (list, tuple)) else value


def fields_of(value: Any, *without: str) -> dict[str, Any]:
    """Return the fields of a dataclass by name, except those in `without`, as plain JSON values."""
    return {each.name: plain(getattr(value, each.name)) for each in fields(value) if each.name not in without}
