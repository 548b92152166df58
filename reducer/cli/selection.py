"""Which returns are looked at: `--tool` and `--call`."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

from reducer.stored import Return

_NAMED = 8
_REMEMBERED = 2000


class Selection(NamedTuple):
    """The tool glob and call id that are asked for, None for all; `tools` and `calls` gather what there is."""

    tool: str | None
    call: str | None
    tools: dict[str, None]
    calls: dict[str, None]

    @property
    def is_whole(self) -> bool:
        """Tell whether all returns are looked at."""
        return self.tool is None and self.call is None

    def takes(self, found: Return) -> bool:
        """Tell whether a return is looked at, and remember its names."""
        _note(self.tools, found.tool)
        of_tool = self.tool is None or fnmatchcase(found.tool, self.tool)
        if of_tool:
            _note(self.calls, found.call_id)
        return of_tool and (self.call is None or self.call in (found.call_id, f"{found.call_id}#{found.nth}"))

    def add(self, other: Selection) -> None:
        """Remember the names that another one has."""
        for mine, theirs in ((self.tools, other.tools), (self.calls, other.calls)):
            for name in theirs:
                _note(mine, name)

    def why_none(self) -> str:
        """Say why no return was taken, and what there is."""
        if not self.tools:
            return "there are no tool returns"
        if self.tool is not None and not self.calls:
            return f"--tool {self.tool}: no such tool; {_there_is(self.tool, self.tools)}"
        call = str(self.call)
        same = call.rpartition("#")[0]
        if same in self.calls:
            return f"--call {call}: there is no such number of `{same}`; `{same}` alone is all of them"
        return f"--call {call}: no return has this call id; {_there_is(call, self.calls)}"


def _note(names: dict[str, None], name: str) -> None:
    if len(names) < _REMEMBERED:
        names[name] = None


def _there_is(name: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    known = list(names)
    nearest = get_close_matches(name, known, 1)
    if nearest:
        return f"did you mean `{nearest[0]}`?"
    named = ", ".join(f"`{one}`" for one in known[:_NAMED])
    return f"there {'is' if len(known) == 1 else 'are'} {named}" + (f" and {len(known) - _NAMED:,} more" if len(known) > _NAMED else "")
