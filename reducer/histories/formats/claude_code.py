"""Sessions of Claude Code: JSON lines, each an event that can contain an Anthropic message.

`toolUseResult` contains the result of a tool again, for the terminal. The model does not see it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Raw, Struct

from reducer.histories.format import One, ToolReturn, Turn, inside, texts
from reducer.histories.formats import anthropic
from reducer.histories.formats.anthropic import AnthropicMessage
from reducer.histories.source import Json, Source

NAME = "claude-code"
EXPECTED = "the lines of a session of Claude Code"
HINTS = (b'essionId"', b'ession_id"')
IS_ONE_HISTORY = True


class File(Struct, gc=False):
    """A file that a tool read, without the line numbers that the model sees."""

    content: Json = UNSET


class Shown(Struct, gc=False):
    """A result as the terminal shows it."""

    stdout: Json = UNSET
    content: Json = UNSET
    file: One[File] = None


class SessionLine(Struct, gc=False):
    """An event, such as a message, a summary or a snapshot of files. Streams have a `session_id`."""

    type: Any = None
    sessionId: Any = None  # noqa: N815
    session_id: Any = None
    leafUuid: Any = None  # noqa: N815
    snapshot: Json = UNSET
    message: One[AnthropicMessage] = None
    toolUseResult: Json = UNSET  # noqa: N815


MESSAGE = SessionLine


def recognises(line: SessionLine, source: Source, strict: bool) -> bool:
    if not strict:
        return True
    names = (line.sessionId, line.session_id, line.leafUuid)
    return type(line.type) is str and (any(type(name) is str for name in names) or line.snapshot is not UNSET)


def read(line: SessionLine, source: Source) -> Iterator[Turn | ToolReturn]:
    if type(line.message) is not AnthropicMessage:
        return
    found = [*inside("message", anthropic.read(line.message, source))]
    results = [one for one in found if isinstance(one, ToolReturn)]
    for copy in _shown(line.toolUseResult, source):
        for result in results:
            if bytes(copy) in map(bytes, filter(None, result.contents)):
                result.contents.append(copy)
                break
    for one in found:
        if isinstance(one, Turn):
            one.joins = one.is_response
        yield one


def _shown(result: Json, source: Source) -> list[Raw]:
    """Return the texts that a result in the terminal consists of."""
    shown = texts(result, source)
    if source.mark(result) == "{":
        shown = _texts_in(source.decode(Shown, result), source)  # type: ignore[arg-type]
    return [text for text in shown if text is not UNSET]


def _texts_in(shown: Shown, source: Source) -> list[Json]:
    file = shown.file.content if type(shown.file) is File else UNSET
    return [shown.stdout, *texts(shown.content, source), file]
