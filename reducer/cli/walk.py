"""The way through all histories of a run: each is reduced, written if asked for, and summed up."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from reducer.cli.histories import Source
from reducer.cli.outputs import Outputs, Sink
from reducer.cli.selection import Selection
from reducer.cli.stop import say
from reducer.cli.units import Done, Unit, Work, do, read_units
from reducer.errors import HistoryError
from reducer.lines import packed
from reducer.report import ReturnReport, look
from reducer.report.lines import TOLD, add_lines
from reducer.report.tally import LineSum, Tally, merge
from reducer.rule import Ruleset
from reducer.stored import InputFormat

if TYPE_CHECKING:
    from reducer.cli.workers import Worker

Show = Callable[[str, tuple[ReturnReport, ...]], None]
"""Shows what was done to the returns of a history, or of one line of JSON lines, by its name."""
_Watch = Callable[[int], None]
_Pairs = Iterator[tuple[Unit, Done | None]]


class Walk(NamedTuple):
    """What there is to do: `detailed` finds out what each step took, and keeps it of whole histories; `show` shows it at once instead.

    `measured` asks what the rules cost; with `references` stays what later messages refer to.
    """

    sources: Sequence[Source]
    ruleset: Ruleset
    files: Sequence[Path]
    selection: Selection
    outputs: Outputs
    jobs: int
    detailed: bool
    measured: bool
    show: Show | None
    archive: str | None = None
    input_format: InputFormat = "auto"
    references: bool = True
    workers: Sequence[Worker] = ()


class Seen(NamedTuple):
    """What came of it: the histories that could be read, all sums, the returns that are kept in detail, how many faults there were."""

    histories: list[str]
    tally: Tally
    lines: list[LineSum]
    returns: list[ReturnReport]
    written: list[tuple[int, int]]
    faults: list[str]


class _Fault(Exception):
    """Why a source cannot be read, or not to its end."""


def walk(plan: Walk, watching: Callable[[Source], _Watch | None]) -> Seen:
    """Go through all histories in order. What cannot be read is told of and left out. Raises `Stop` for what cannot be written."""
    gc.freeze()  # what is here stays: collecting after each piece need not look at it
    try:
        return _walk(plan, watching)
    finally:
        gc.unfreeze()


def _walk(plan: Walk, watching: Callable[[Source], _Watch | None]) -> Seen:
    seen = Seen([], Tally(), [], [], [], [])
    no_history: dict[str, list[str]] = {}
    for number, group in groupby(_pairs(plan), key=lambda pair: pair[0].source):
        source = plan.sources[number]
        try:
            tally, lines = _one(plan, seen, number, group, watching(source))
        except HistoryError as error:
            if source.folder and str(error).startswith("not a history"):
                no_history.setdefault(source.folder, []).append(f"{source.name}: {error}")
            else:
                seen.faults.append(f"{source.name}: {error}")
                say(f"error: {seen.faults[-1]}")
            continue
        except _Fault as fault:
            seen.faults.append(str(fault))
            say(f"error: {fault}")
            continue
        seen.histories.append(source.name)
        merge(seen.tally, tally)
        if lines is not None:
            seen.lines.append(lines)
    _tell_skipped(no_history, plan.sources, seen)
    return seen


def _work(plan: Walk) -> Work:
    names = tuple(source.name for source in plan.sources)
    return Work(plan.selection.tool, plan.selection.call, plan.outputs.kinds, names, plan.measured, plan.archive, plan.input_format, plan.references)


def _pairs(plan: Walk) -> _Pairs:
    """Read the units of all sources; with several processes, with what came of them."""
    states = plan.outputs.states
    finished = frozenset(number for number, state in states.items() if state.done)
    units = read_units(plan.sources, {number: state.read for number, state in states.items()}, finished)
    if plan.jobs == 1:
        return ((unit, None) for unit in units)
    from reducer.cli.crew import in_order

    # What is kept or shown in detail is found out here: it holds rules and steps, which stay in their process.
    forms = ("lines", "long") if plan.detailed else ("lines", "long", "history")
    return in_order(units, _work(plan), plan.files, plan.jobs, forms, plan.workers)


def _one(plan: Walk, seen: Seen, number: int, group: _Pairs, watch: _Watch | None) -> tuple[Tally, LineSum | None]:
    """Go through one source: its sums, and those of its lines if it has JSON lines."""
    unit, done = next(group)
    if unit.form == "fault":
        raise _Fault(unit.message)
    if unit.form == "finished":
        state = plan.outputs.states[number]
        return state.tally, state.lines if state.lines.history else None
    if unit.form == "begin":
        return _lines(plan, seen, number, group, watch)
    # Of an archive less is read than it holds.
    source = plan.sources[number]
    inside = watch if len(unit.content) <= source.size else None
    if plan.detailed:
        taken, form = plan.selection.takes, plan.input_format
        measured, references = plan.measured, plan.references
        found = look(
            plan.ruleset, source.name, unit.content, taken, detailed=True, measured=measured, references=references, watch=inside, input_format=form
        )  # fmt: skip
        tally = found.tally
        if plan.show is None:
            seen.returns.extend(found.returns)
        else:
            plan.show(source.name, found.returns)
        kind = plan.outputs.kinds[number]
        reduced = found.reduced() if kind is not None else b""
        if plan.archive is not None:
            from reducer.cli.filing import file_history

            file_history(plan.archive, unit.content, reduced, plan.ruleset, form)
        output = packed(reduced, kind) if kind is not None else b""
    else:
        done = done or do(unit, _work(plan), plan.ruleset, inside)
        if done.fault:
            raise HistoryError(done.fault)
        plan.selection.add(done.selection)
        tally, output = done.tally, done.output
    if watch is not None:
        watch(unit.position)
    if _is_wanted(plan, number, tally):
        plan.outputs.write(number, output, tally)
        seen.written.append((number, len(output)))
    return tally, None


def _lines(plan: Walk, seen: Seen, number: int, group: _Pairs, watch: _Watch | None) -> tuple[Tally, LineSum]:
    """Go through JSON lines; each piece is written when its turn comes."""
    source, work, state = plan.sources[number], _work(plan), plan.outputs.states.get(number)
    lines, tally = (state.lines, state.tally) if state else (LineSum(source.name), Tally())
    sink = plan.outputs.open(number)
    show = plan.show
    see = None if show is None else lambda line, returns: show(f"{source.name}:{lines.lines + line}", returns)
    try:
        for unit, done in group:
            if unit.form == "fault":
                raise _Fault(f"{unit.message}, after line {lines.lines:,}" if lines.lines else unit.message)
            if unit.form == "end":
                break
            done = done or do(unit, work, plan.ruleset, see=see)
            _tell_bad(lines, done.lines, source.name)
            add_lines(lines, done.lines)
            merge(tally, done.tally)
            plan.selection.add(done.selection)
            if sink is not None:
                sink.write(done.output)
                if unit.form == "lines" or unit.ends:
                    sink.checkpoint(unit.reach, lines, tally)
            if watch is not None:
                watch(unit.position)
    except _Fault:
        if sink is not None:
            sink.drop()
        raise
    except BaseException:
        if sink is not None:
            _leave(sink, source.name)
        raise
    if lines.bad > TOLD:
        say(f"{source.name}: {lines.bad:,} bad lines in all")
    if sink is not None:
        if not sink.written:
            sink.write(packed(b"", plan.outputs.kinds[number] or ""))
        if _is_wanted(plan, number, tally):
            sink.finish()
            plan.outputs.finished(number, lines, tally)
            seen.written.append((number, sink.written))
        else:
            sink.drop()
    return tally, lines


def _is_wanted(plan: Walk, number: int, tally: Tally) -> bool:
    """Tell whether an output is asked for, and holds the return that is asked for if it is the only one."""
    return plan.outputs.kinds[number] is not None and bool(tally.tools or plan.selection.is_whole or len(plan.sources) > 1)


def _leave(sink: Sink, name: str) -> None:
    """Leave an output unfinished: for a run that goes on, if it can."""
    if sink.saved is None:
        sink.drop()
    else:
        sink.close()
        say(f"{name}: interrupted; --resume goes on after line {sink.saved:,}")


def _tell_bad(lines: LineSum, more: LineSum, name: str) -> None:
    for number, why in more.told[: TOLD - len(lines.told)]:
        say(f"{name}:{lines.lines + number}: {why}")


def _tell_skipped(no_history: dict[str, list[str]], sources: Sequence[Source], seen: Seen) -> None:
    """Tell of the files in folders that are JSON but no histories; a folder with nothing else is a fault."""
    for folder, skipped in no_history.items():
        count = len(skipped)
        more = f" and {count - 1:,} more" if count > 1 else ""
        if count == sum(source.folder == folder for source in sources):
            seen.faults.append(folder)
            say(f"error: {folder}: no history in it: {skipped[0]}{more}")
        else:
            say(f"skipped {skipped[0]}{more}")
