"""What the command line tells people on standard error, and the words that its messages share."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from reducer.screen import visible

_MAX_NAMES = 8


class CommandError(Exception):
    """The reason why a verb cannot run; it ends the process with exit code 2."""


def say(message: str) -> None:
    """Print a message on standard error."""
    print(f"reducer: {visible(message)}", file=sys.stderr)


def say_skipped(skipped: list[tuple[str, str]], most: int = 3) -> None:
    """Name the first inputs that contain no history, with the reason, and count the others."""
    for name, why in skipped[:most]:
        say(f"skipped {name}: {why}")
    if len(skipped) > most:
        say(f"skipped {len(skipped) - most:,} more")


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 file`, `2,000 files`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return what to use instead of an unknown name: the most similar known name, otherwise the first known names."""
    from difflib import get_close_matches

    names = list(known)
    if similar := get_close_matches(name, names, 1):
        return f"did you mean `{similar[0]}`?"
    listed = ", ".join(f"`{one}`" for one in names[:_MAX_NAMES])
    more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
    return f"available: {listed}{more}"


def reason(error: Exception) -> str:
    """Return why reading or writing failed, without the file name and the error number."""
    return getattr(error, "strerror", None) or str(error)
