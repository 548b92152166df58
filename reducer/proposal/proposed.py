"""A step that is proposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reducer.path.written import Token


@dataclass(frozen=True, slots=True)
class Proposed:
    """One step: where, the keys of its action in their order, and the reason."""

    path: tuple[Token, ...]
    action: dict[str, Any]
    reason: str
