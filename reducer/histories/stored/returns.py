"""Find the tool returns of a stored history, and replace their contents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from reducer.formats.json_text import read_json
from reducer.histories import protecting
from reducer.histories.format import ToolReturn
from reducer.histories.repeats import Repeated, Repeats
from reducer.histories.source import NO_CONTENT, Source, decode, encode
from reducer.histories.stored.events import Found, Key, copies_of, mentions_in, read_history, text_of
from reducer.histories.stored.messages import InputFormat, find_messages, with_source
from reducer.references import Mentions


class Content(NamedTuple):
    """The decoded content of a tool return; `start` and `end` are the byte offsets of its JSON.

    `is_in_text` tells whether this JSON is part of a text, in which it has escapes.
    """

    content: Any
    start: int
    end: int
    is_in_text: bool = False


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
    references: bool = False,
    repeats: Repeats | None = None,
) -> bytes:
    """Reduce the tool returns of a stored history and keep all other bytes.

    `data` is UTF-8 JSON: a list of messages, one message, or a wrapper around these. `reduce(tool, content)` returns
    the same object to keep a content; with `references`, it also gets the keyword `protected`. Returns of tools for
    which `applies` is false are not decoded. `repeats` also leaves out what earlier returns show, in the first copy of
    each return. Returns `data` itself if nothing changes. Raises `HistoryError`.
    """
    history = read_history(data, input_format)
    mentions = mentions_in(lambda: history) if references else None
    changes: list[tuple[Content, Any]] = []
    for found in _decoded(*history, lambda one: not one.untouched and applies(one.tool)):
        if found.untouched:
            continue
        reduce_here = protecting(reduce, mentions, found.key)
        if repeats is None:
            new = shown = reduce_here(found.tool, found.content)
        else:
            repeated = reduce_repeats(repeats, found, mentions)
            new, shown = repeated.outcome.content, repeated.content
        changes += change_copies(found, new, reduce_here, shown)
    return splice(data, changes)


def reduce_repeats(repeats: Repeats, found: Return, mentions: Mentions | None) -> Repeated:
    """Reduce a return of a stored history, and leave out what the returns before it show."""
    mentioned = partial(mentions.after, found.key) if mentions else None
    return repeats.reduce(found.tool, found.call_id, found.content, mentioned)


def returns(data: bytes, input_format: InputFormat = "auto") -> Iterator[Return]:
    """Yield every tool return of a stored history once and in order, including those that rules never apply to.

    Raises `HistoryError`.
    """
    return _decoded(*read_history(data, input_format), lambda one: True)


def why_without_returns(data: bytes, input_format: InputFormat = "auto") -> str:
    """Describe a stored history that contains no tool return. Raises `HistoryError`."""
    messages = with_source(data, lambda source: find_messages(source, input_format))
    formats = sorted({form.NAME for form, _ in messages})
    return f"no tool return in messages of the format {' and '.join(formats)}" if formats else "the history is empty"


def _decoded(source: Source, history: Found, is_wanted: Callable[[ToolReturn], bool]) -> Iterator[Return]:
    counts: dict[str, int] = {}
    for key, found in history:
        if not isinstance(found, ToolReturn) or not is_wanted(found):
            continue
        call_id = text_of(found.call_id)
        counts[call_id] = counts.get(call_id, 0) + 1
        decoded: dict[bytes, tuple[Any, str]] = {}  # most copies are the same bytes
        copies = []
        untouched = found.untouched
        for raw in copies_of(found, source):
            start, end = source.span(raw)
            is_in_text = source.is_in_text(raw)
            piece = bytes(raw) if is_in_text else source.data[start:end]
            if piece not in decoded:
                decoded[piece] = decode(piece)
            content, why = decoded[piece]
            copies.append(Content(content, start, end, is_in_text))
            untouched = untouched or why
        yield Return(
            tool=text_of(found.tool),
            call_id=call_id,
            nth=counts[call_id],
            key=key,
            copies=tuple(copies) or (Content(None, 0, 0),),
            untouched=untouched or ("" if copies else NO_CONTENT),
            timestamp=text_of(found.timestamp),
        )


def change_copies(
    found: Return, new: Any, reduce: Callable[[str, Any], Any], shown: Any
) -> Iterator[tuple[Content, Any]]:
    """Yield the copies in a return that change, with their new contents; `new` is the reduced content of the return.

    The first copy becomes `shown`, which is `new` without repeats. A copy that is the value which the text of the
    return encodes changes in the same way. Any other copy with another content, such as a shortened text, is reduced
    separately.
    """
    for number, copy in enumerate(found.copies):
        changed = _changed_copy(found, new, copy.content, reduce) if number else shown
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
        if old.is_in_text:
            encoded = json.dumps(encoded.decode(), ensure_ascii=data.isascii())[1:-1].encode()
        # `json` decodes 1e400 as infinity, which has no JSON form: keep such a content.
        is_infinite = type(new) not in (str, bytes) and b"Infinity" in encoded
        if not is_infinite or b"Infinity" in data[old.start : old.end]:
            edits.append((old.start, old.end, encoded))
    if not edits:
        return data
    pieces: list[bytes] = []
    done = 0
    for start, end, encoded in sorted(edits):
        pieces += (data[done:start], encoded)
        done = end
    return b"".join([*pieces, data[done:]])
