"""Files the originals of what a request reduced: the processor only hands over references."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from pydantic_ai.messages import ModelMessage, ToolReturnPart

from reducer.agent.notices import Found
from reducer.archive import Archive
from reducer.archive.entries import Entry, Place, instant
from reducer.archive.writer import Job
from reducer.values import stored_json


def filer(archive: Archive) -> Callable[[Sequence[ModelMessage], Sequence[Found]], None]:
    """Make what has the originals filed of the returns that were reduced in a history, as it was before. It never waits and never raises."""

    def file(messages: Sequence[ModelMessage], found: Sequence[Found]) -> None:
        archive.put(Job(partial(_entries, tuple(messages), found), len(found)))

    return file


def _entries(messages: Sequence[ModelMessage], found: Sequence[Found]) -> Iterator[Entry | Exception]:
    numbers = {id(part): nth for part, nth in numbered(messages)}
    for one in found:
        rule = one.outcome.rule
        try:
            nth = numbers.get(id(one.old), 0)
            place = Place(one.old.tool_name, one.old.tool_call_id, nth, instant(one.old.timestamp))
            version = f"{rule.file}@{rule.digest}" if rule is not None else ""
            yield Entry(place, version, stored_json(one.new.content), stored_json(one.old.content))
        except Exception as error:  # what a tool returned may raise anything when it is written; the others are filed
            yield error


def numbered(messages: Sequence[ModelMessage]) -> Iterator[tuple[ToolReturnPart, int]]:
    """Give each tool return of a history, and which one of its call id it is, from 1: as in its stored form."""
    counts: dict[str, int] = {}
    for message in messages:
        if message.kind == "request":
            for part in message.parts:
                if isinstance(part, ToolReturnPart):
                    counts[part.tool_call_id] = nth = counts.get(part.tool_call_id, 0) + 1
                    yield part, nth
