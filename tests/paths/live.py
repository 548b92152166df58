"""Contents of live tool returns: models, dataclasses, enums, tuples, dates and keys that are not texts."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from typing import Any

from pydantic import BaseModel


class Level(Enum):
    HIGH = "high"
    LOW = "low"


class Word(StrEnum):
    HIGH = "high"


class Number(IntEnum):
    ONE = 1


class Hit(BaseModel):
    rule: str
    at: datetime.date = datetime.date(2026, 1, 2)
    level: Level = Level.LOW


@dataclass
class Report:
    name: str
    hits: tuple[Any, ...]
    scores: dict[Any, Any]


@dataclass
class Picture:
    url: str
    kind: str = "image-url"


PICTURE = Picture("u")
LIVE = {
    "report": Report("r", (Hit(rule="a", level=Level.HIGH), Hit(rule="b"), None), {1: "one", Level.LOW: ("x", "y")}),
    "hits": [Hit(rule="c", level=Level.HIGH), {"rule": "d", "level": Level.HIGH}],
    "values": {1: float("nan"), 2: 2.5},
}
RECORDS = [
    Report(Word.HIGH, ("a", Word.HIGH), {1: {"x": Number.ONE}}),
    {"name": Word.HIGH, "hits": ({"a": 1}, (1, 2)), "scores": float("inf")},
    {"name": Number.ONE, "hits": [float("nan"), True], "scores": {Word.HIGH: Report("x", (), {})}},
    {"kind": "image-url", "name": "high", "hits": ["b"]},
]
