"""The arguments of the history processor and of the capability, checked at construction."""

from __future__ import annotations

import inspect
import os
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

_EXPECTED = "give a path ('rules'), several paths (['rules', 'more.yaml']), or a Reducer"


def load_rules(rules: RulesLike) -> Rules:
    """Return an object that reduces contents; paths are loaded as by `Reducer.load`.

    Raises `RuleError` for rules that cannot be loaded, `TypeError` for anything else.
    """
    paths = [rules] if isinstance(rules, (str, os.PathLike)) else rules
    if isinstance(paths, (list, tuple)):
        if not paths or not all(isinstance(path, (str, os.PathLike)) for path in paths):
            raise TypeError(f"rules={_shown(rules)} is not a list of paths; {_EXPECTED}")
        return Reducer.load(*map(Path, paths))
    reduce_content = getattr(rules, "reduce_content", None)
    if isinstance(rules, type) or not callable(reduce_content):
        raise TypeError(f"rules={_shown(rules)} cannot be used; {_EXPECTED}")
    if _is_async(reduce_content):
        raise TypeError("rules.reduce_content is asynchronous; define it with `def`, not with `async def`")
    return rules  # type: ignore[return-value]


def open_archive(archive: str | os.PathLike[str] | Archive) -> Archive:
    """Return an archive; a path is opened. Raises `ArchiveError` for a bad file, `TypeError` for anything else."""
    if isinstance(archive, (str, os.PathLike)):
        return Archive(archive)
    if not isinstance(archive, Archive):
        raise TypeError(f"archive={_shown(archive)} cannot be used; give a path ('returns.db') or an Archive")
    return archive


def check_flags(**flags: object) -> None:
    """Check that options are True or False. Raises `TypeError`."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name}={_shown(value)} is not a boolean; give True or False")


def check_callback(on_reduce: Callable[..., object] | None) -> None:
    """Check that `on_reduce` is a function that is not asynchronous. Raises `TypeError`."""
    if on_reduce is not None and not callable(on_reduce):
        raise TypeError(f"on_reduce={_shown(on_reduce)} cannot be called; give a function that takes a Reduction")
    if on_reduce is not None and _is_async(on_reduce):
        raise TypeError("on_reduce is asynchronous and would never run; define it with `def`, not with `async def`")


def _is_async(function: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{type(value).__name__}(…)"
