"""The arguments of the history processor and of the capability, checked at construction."""

from __future__ import annotations

import inspect
import os
import reprlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from reducer import Reducer
from reducer.archive import Archive


class Rules(Protocol):
    """What reduces one content: a `Reducer`, or any object with its method."""

    def reduce_content(self, tool: str, content: Any, /) -> Any:
        """Return the reduced content of one return of `tool`; the same object if nothing changes."""


RulesLike: TypeAlias = "str | Path | Sequence[str | Path] | Rules"
"""One path or several paths of rule files and folders, or an object that reduces contents."""


def load_rules(rules: RulesLike) -> Rules:
    """Return an object that reduces contents; paths are loaded as by `Reducer.load`.

    Raises `RuleError` for rules that cannot be loaded, `TypeError` for anything else.
    """
    paths = rules if isinstance(rules, (list, tuple)) else [rules]
    if paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
        return Reducer.load(*map(Path, paths))
    if isinstance(rules, type) or not callable(getattr(rules, "reduce_content", None)):
        expected = "a path ('rules'), several paths (['rules', 'more.yaml']), or a Reducer"
        raise TypeError(f"rules={reprlib.repr(rules)} cannot be used; give {expected}")
    _check_synchronous("rules.reduce_content", rules.reduce_content)  # type: ignore[union-attr]
    return rules  # type: ignore[return-value]


def open_archive(archive: str | os.PathLike[str] | Archive) -> Archive:
    """Return an archive; a path is opened. Raises `ArchiveError` for a bad file, `TypeError` for anything else."""
    if isinstance(archive, (str, os.PathLike)):
        return Archive(archive)
    if not isinstance(archive, Archive):
        raise TypeError(f"archive={reprlib.repr(archive)} cannot be used; give a path ('returns.db') or an Archive")
    return archive


def check_flags(**flags: object) -> None:
    """Check that options are True or False. Raises `TypeError`."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name}={reprlib.repr(value)} is not a boolean; give True or False")


def check_callback(on_reduce: Callable[..., object] | None) -> None:
    """Check that `on_reduce` is a function that is not asynchronous. Raises `TypeError`."""
    if on_reduce is not None:
        if not callable(on_reduce):
            raise TypeError(f"on_reduce={reprlib.repr(on_reduce)} is not a function that takes a Reduction")
        _check_synchronous("on_reduce", on_reduce)


def _check_synchronous(name: str, function: Callable[..., object]) -> None:
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        raise TypeError(f"{name} is asynchronous; define it with `def`, not with `async def`")
