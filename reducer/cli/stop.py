"""How the command line says that it cannot go on."""

from __future__ import annotations

import sys

from reducer.screen import visible


class Stop(Exception):
    """The reason why a verb cannot run, for people: ends it with exit code 2."""


def say(message: str) -> None:
    """Tell people something that is no result: on standard error."""
    print(f"reducer: {visible(message)}", file=sys.stderr)
