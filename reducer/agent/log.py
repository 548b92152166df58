"""Log errors once, without the content that caused them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

_logger = logging.getLogger("reducer")

Log: TypeAlias = Callable[[str, str, str], None]
"""Logs an error: `log(rule, kind, text)`, once per rule and kind."""


def log_once() -> Log:
    """Return a function that logs an error once per rule and kind."""
    logged: set[tuple[str, str]] = set()

    def log(rule: str, kind: str, text: str) -> None:
        if (rule, kind) not in logged:
            logged.add((rule, kind))
            _logger.error("%s", text)

    return log


def location(error: Exception) -> str:
    """Return the type and the line of an error; its message may contain what a tool returned."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    line = "an unknown line" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    return f"{type(error).__name__} at {line}"
