"""What is read of histories, in order: whole ones, and JSON lines in pieces; and what is done with each, here or in another process."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Literal, NamedTuple

from reducer.cli.histories import Source
from reducer.cli.selection import Selection
from reducer.cli.stop import Stop
from reducer.errors import HistoryError
from reducer.lines import ArchiveError, Kind, are_lines, cut, is_lines_name, open_archive, packed
from reducer.report import ReturnReport, look_briefly
from reducer.report.lines import look_at_lines
from reducer.report.tally import LineSum, Tally
from reducer.rule import Ruleset
from reducer.stored import InputFormat


class Unit(NamedTuple):
    """Something that was read of one source, of which `source` is the number.

    `form`: `begin` of JSON lines, then `lines` (whole ones) and `long` (a part of one that is too long, its last if it `ends`), then `end`; or
    all of a `history`; or the `fault` that ended it, `message` says which; or it was `finished` by an earlier run.
    `position`: bytes of the file that are read, `reach`: those of the lines.
    """

    source: int
    form: Literal["begin", "lines", "long", "end", "history", "fault", "finished"]
    content: bytes = b""
    ends: bool = False
    position: int = 0
    reach: int = 0
    message: str = ""


class Work(NamedTuple):
    """What is to be done with what is read: the tool and call that are asked for, how each source's output is packed (None for no output),
    the names of the sources, whether to find out what the rules cost, the archive that takes the originals of what is written, and whether
    what later messages refer to stays.
    """

    tool: str | None
    call: str | None
    outputs: tuple[Kind | None, ...]
    names: tuple[str, ...]
    measured: bool
    archive: str | None = None
    input_format: InputFormat = "auto"
    references: bool = True


class Done(NamedTuple):
    """What came of a unit: sums, its output, the tools and calls that are there if only some are asked for, and why it is no history."""

    tally: Tally
    lines: LineSum
    output: bytes
    selection: Selection
    fault: str = ""


See = Callable[[int, tuple[ReturnReport, ...]], None]
"""Hears the number of a line in its piece, from 1, and what was done to its returns."""


def read_units(sources: Sequence[Source], skip: Mapping[int, int], finished: Set[int]) -> Iterator[Unit]:
    """Read sources one after the other but the `finished` ones; of JSON lines the first `skip[number]` bytes are passed over."""
    for number, source in enumerate(sources):
        if number in finished:
            yield Unit(number, "finished")
            continue
        try:
            with source.opened() as file:
                stream = open_archive(file)
                if not (is_lines_name(source.name) or are_lines(stream)):
                    yield Unit(number, "history", stream.read(), position=file.at)
                    continue
                reach = skip.get(number, 0)
                yield Unit(number, "begin", reach=reach)
                if not stream.skip(reach):
                    raise ArchiveError("shorter than it was when its reading was interrupted")
                for piece in cut(stream):
                    reach += len(piece.content)
                    yield Unit(number, "long" if piece.long else "lines", piece.content, piece.ends, file.at, reach)
                yield Unit(number, "end", position=file.at, reach=reach)
        except Stop as stop:
            yield Unit(number, "fault", message=str(stop))
        except (ArchiveError, OSError) as error:
            yield Unit(number, "fault", message=f"{source.name}: {getattr(error, 'strerror', None) or error}")


def do(unit: Unit, work: Work, ruleset: Ruleset, watch: Callable[[int], None] | None = None, see: See | None = None) -> Done:
    """Do the work on a unit of `lines`, a `long` one or a `history`. `watch` hears how many characters of a history are done.

    Raises `Stop` for an archive that fails.
    """
    selection = Selection(work.tool, work.call, {}, {})
    chosen = None if selection.is_whole else selection.takes
    kind = work.outputs[unit.source]
    write = kind is not None
    if unit.form == "long":
        return Done(Tally(), LineSum("", lines=int(unit.ends), long=int(unit.ends)), packed(unit.content, kind or "") if write else b"", selection)
    if unit.form == "lines":
        tally, lines, output = look_at_lines(
            ruleset, unit.content, chosen, measured=work.measured, references=work.references, write=write, see=see, input_format=work.input_format
        )  # fmt: skip
        if work.archive is not None:
            from reducer.cli.filing import file_lines

            file_lines(work.archive, unit.content, output, ruleset, work.input_format)
        # Few objects in cycles hold on to whole texts: left to their number they are collected after 250 MB of lines.
        gc.collect()
        return Done(tally, lines, packed(output, kind or ""), selection)
    try:
        tally, output = look_briefly(
            ruleset, unit.content, chosen, history=work.names[unit.source], measured=work.measured, references=work.references, write=write,
            watch=watch, input_format=work.input_format,
        )  # fmt: skip
    except HistoryError as error:
        return Done(Tally(), LineSum(""), b"", selection, str(error))
    if work.archive is not None:
        from reducer.cli.filing import file_history

        file_history(work.archive, unit.content, output, ruleset, work.input_format)
    return Done(tally, LineSum(""), packed(output, kind or "") if write else b"", selection)
