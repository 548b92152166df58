"""The dry run: what rules do to stored histories."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import NamedTuple

from reducer.cli.histories import Source, find, sample_history
from reducer.cli.output import refuse, write
from reducer.cli.rules import Chosen, choose_rules
from reducer.cli.stop import Stop, say
from reducer.errors import HistoryError, RuleError
from reducer.report import Look, Report, look, report
from reducer.report.attention import attention
from reducer.rule import Ruleset, read_rules
from reducer.stored import Return

_NAMED = 8
_LONG = 4_000_000
"""Bytes above which there is something to wait for."""


class Options(NamedTuple):
    """What the command line asks for."""

    histories: tuple[str, ...]
    rules: tuple[str, ...]
    tool: str | None
    call: str | None
    format: str
    strict: bool
    output: str | None
    verbs: tuple[str, ...]


def run(options: Options) -> int:
    """Print the report, write the reduced history if asked to, and give the exit code. Raises `Stop`."""
    alone = not options.histories
    chosen = choose_rules(options.rules, here=not alone)
    ruleset = _read(chosen)
    faults = 0
    sources: list[Source] = []
    for found in find(options.histories, options.verbs) if options.histories else [Source("the sample bundled with reducer", sample_history())]:
        if isinstance(found, Stop):
            say(f"error: {found}")
            faults += 1
        else:
            sources.append(found)
    if options.output is not None:
        _accept(options.output, len(options.histories), sources, chosen)
    names: dict[str, None] = {}
    calls: dict[str, None] = {}
    looks: list[tuple[str, Look]] = []
    with _progress(sources) as watch:
        faults += _look(options, ruleset, sources, _chooser(options, names, calls), looks, watch)
    if not looks:
        return 2
    returns = [entry for _, found in looks for entry in found.returns]
    if not returns and (options.tool is not None or options.call is not None):
        raise Stop(_nothing_chosen(options, list(names), list(calls)))
    whole = options.tool is None and options.call is None
    result = report(chosen.name, ruleset, (name for name, _ in looks), returns, whole)
    needs = attention(result)
    if options.output is not None:
        reduced = looks[0][1].reduced()
        write(options.output, reduced)
        if options.output != "-":
            say(f"wrote {options.output}, {len(reduced):,} bytes")
    _print(result, needs, options)
    return 2 if faults else 1 if options.strict and needs else 0
