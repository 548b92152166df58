"""Loads rules again when their files change."""

from __future__ import annotations

import os
from threading import Lock
from typing import TypeAlias

from reducer.api import Reducer
from reducer.files import builtin_rules, rule_files

_State: TypeAlias = dict[str, tuple[int, int]]
"""The time of the last change in nanoseconds, and the size in bytes, of each rule file."""


class Reloading:
    """A `Reducer` whose rule files may change while it is used. The built-in rules do not change."""

    def __init__(self, reducer: Reducer) -> None:
        self.reducer = reducer
        self._lock = Lock()
        self._state = _state(reducer)

    def reload_changed(self) -> bool:
        """Load the rules again if a file was added, changed or deleted, and return whether this was the case.

        Rules with errors are not used; `Reducer.reload` logs why. They are loaded again when a file changes.
        """
        with self._lock:
            state = _state(self.reducer)
            if state == self._state:
                return False
            self._state = state
            return not self.reducer.reload()


def _state(reducer: Reducer) -> _State:
    state = {}
    for source in reducer.sources:
        try:
            files = rule_files(source)
            for file in files:
                if not file.is_relative_to(builtin_rules()):
                    status = os.stat(file)
                    state[str(file)] = (status.st_mtime_ns, status.st_size)
        except OSError:  # a file or its folder was deleted a moment ago: `reload` says so
            state[str(source)] = (0, 0)
    return state
