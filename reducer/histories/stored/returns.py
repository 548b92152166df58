"""Find the tool returns of a stored history, and replace their contents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from reducer.formats.json_text import read_json
from reducer.histories import FindMentions, protecting, why_untouched
from reducer.histories.format import ToolReturn, Turn
from reducer.histories.source import NO_CONTENT, Source, decode, encode
from reducer.histories.stored.messages import FoundMessage, InputFormat, find_messages, with_source


class Key(NamedTuple):
    """The place of a tool return: its message, its part, and its number within the part, all counted from 0.

    Messages are counted through all lists of messages in a wrapper.
    """

    message: int
    part: int
    nth: int


class Content(NamedTuple):
    """The decoded content of a tool return; `start` and `end` are the byte offsets of its JSON."""

    content: Any
    start: int
    end: int


class Return(NamedTuple):
    """A tool return of a stored history; `copies` are its content and further copies of it.

    `nth` counts from 1 among the returns with this call id, because later turns can reuse ids. `untouched` is the
    reason why rules never apply; it is empty if they do.
    """

    tool: str
    call_id: str
    nth: int
    key: Key
    copies: tuple[Content, ...]
    untouched: str
    timestamp: str

    @property
    def content(self) -> Any:
        """The decoded content."""
        return self.copies[0].content

    @property
    def name(self) -> str:
        """The name for `--call`: the call id, with a number from the second return on."""
        return f"{self.call_id}#{self.nth}" if self.nth > 1 else self.call_id


def reduce_json(
    data: bytes,
    reduce: Callable[..., Any],
    input_format: InputFormat = "auto",
    *,
    applies: Callable[[str], bool] = lambda tool: True,
    mentions: FindMentions | None = None,
) -> bytes:
    """Reduce the tool returns of a stored history and keep all other bytes.

    `data` is UTF-8 JSON: a list of messages, one message, or a wrapper around these. `reduce(tool, content)` returns
    the same object to keep a content; with `mentions`, it also gets the keyword `protected`. Returns of tools for which
    `applies` is false are not decoded. Returns `data` itself if nothing changes. Raises `HistoryError`.
    """

    def changes() -> Iterator[tuple[Content, Any]]:
        for found in returns(data, input_format, applies=applies):
            if not found.untouched:
                reduce_here = protecting(reduce, mentions, found.key)
                yield from change_copies(found, reduce_here(found.tool, found.content), reduce_here)

    return splice(data, changes())


def returns(
    data: bytes, input_format: InputFormat = "auto", *, applies: Callable[[str], bool] | None = None
) -> Iterator[Return]:
    """Yield every tool return of a stored history once and in order, including those that rules never apply to.

    With `applies`, yield only those that may change and for whose tool it is true. Raises `HistoryError`.
    """
    counts: dict[str, int] = {}
    located = with_source(data, lambda source: find_returns(source, find_messages(source, input_format), applies))
    for key, found, spans in located:
        call_id = text_of(found.call_id)
        counts[call_id] = nth = counts.get(call_id, 0) + 1
        decoded: dict[bytes, tuple[Any, str]] = {}  # most copies are the same bytes
        copies = []
        for start, end in spans:
            piece = data[start:end]
            if piece not in decoded:
                decoded[piece] = decode(piece)
            copies.append(Content(decoded[piece][0], start, end))
        why = next((why for _, why in decoded.values() if why), "") if copies else NO_CONTENT
        yield Return(
            tool=text_of(found.tool),
            call_id=call_id,
            nth=nth,
            key=key,
            copies=tuple(copies) or (Content(None, 0, 0),),
            untouched=found.untouched or why,
            timestamp=text_of(found.timestamp),
        )


def find_returns(
    source: Source, messages: list[FoundMessage], applies: Callable[[str], bool] | None = None
) -> list[tuple[Key, ToolReturn, list[tuple[int, int]]]]:
    """Return the tool returns with their keys and the byte offsets of their copies, a text first.

    With `applies`, return only those that may change and for whose tool it is true.
    """
    located = []
    data = source.data
    tools: dict[str, Any] = {}
    read = 0  # messages whose calls are in `tools`
    for number, (form, message) in enumerate(messages):
        counts: dict[int, int] = {}
        for found in form.returns(message, source):
            if found.tool is None:
                for earlier, calling in messages[read:number]:
                    _add_tools(tools, earlier.turns(calling, source))
                read = number
                found.tool = tools.get(found.call_id) if type(found.call_id) is str else None
                found.untouched = found.untouched or why_untouched(found.tool)
            nth = counts.get(found.part, 0)
            counts[found.part] = nth + 1
            if applies is None or (not found.untouched and applies(found.tool)):
                spans = [*map(source.span, found.contents)]
                if len(spans) > 1:
                    spans = [span for span in spans if data[span[0]] in b'"[{'] or spans[:1]
                    # The other copies can be the value that the text encodes.
                    spans.sort(key=lambda span: data[span[0]] != ord('"'))
                located.append((Key(number, found.part, nth), found, spans))
    return located


def _add_tools(tools: dict[str, Any], turns: Iterable[Turn]) -> None:
    """Add the tool of each call id. If a response calls several tools with one id, the tool is unknown."""
    for turn in turns:
        called: dict[str, Any] = {}
        for call in turn.calls if turn.is_response else ():
            if type(call.id) is str:
                called[call.id] = call.tool if called.get(call.id, call.tool) == call.tool else None
        tools.update(called)


def change_copies(found: Return, new: Any, reduce: Callable[[str, Any], Any]) -> Iterator[tuple[Content, Any]]:
    """Yield the copies in a return that change, with their new contents; `new` is the reduced content of the return.

    A copy that is the value which the text of the return encodes changes in the same way. Any other copy with another
    content, such as a shortened text, is reduced separately.
    """
    for copy in found.copies:
        changed = _changed_copy(found, new, copy.content, reduce)
        if changed is not copy.content:
            yield copy, changed


def _changed_copy(found: Return, new: Any, copy: Any, reduce: Callable[[str, Any], Any]) -> Any:
    content = found.content
    if copy is content:
        return new
    if type(content) is type(new) is str and type(copy) is not str and encode(copy) == encode(read_json(content)):
        value = copy if new is content else read_json(new)
        if type(value) is type(copy):
            return value
    return reduce(found.tool, copy)


def splice(data: bytes, changes: Iterable[tuple[Content, Any]]) -> bytes:
    """Return the history with new contents in place of the given ones. New content in bytes is already JSON."""
    edits: list[tuple[int, int, bytes]] = []
    for old, new in changes:
        encoded = new if type(new) is bytes else encode(new)
        # `json` decodes 1e400 as infinity, which has no JSON form: keep such a content.
        is_same_json = type(new) in (str, bytes) or b"Infinity" not in encoded
        if is_same_json or b"Infinity" in data[old.start : old.end]:
            edits.append((old.start, old.end, encoded))
    if not edits:
        return data
    pieces: list[bytes] = []
    done = 0
    for start, end, encoded in sorted(edits):
        pieces += (data[done:start], encoded)
        done = end
    return b"".join([*pieces, data[done:]])


def text_of(value: Any) -> str:
    return "" if value is None else str(value)
