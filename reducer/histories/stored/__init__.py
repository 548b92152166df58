"""Stored histories: JSON of any version and format, in which tool returns are found and contents are replaced.

Each module of this package defines a `Format`, and is found automatically.
"""

from __future__ import annotations

import re
from codecs import utf_8_decode
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from itertools import takewhile
from pkgutil import iter_modules
from textwrap import shorten
from typing import Any, NamedTuple, TypeVar

from msgspec import UNSET, MsgspecError, Raw, Struct

from reducer.errors import HistoryError
from reducer.formats.json_text import read_json
from reducer.histories import FindMentions, protecting, why_untouched
from reducer.histories.format import Format, Path, Scalar, ToolReturn, Turn
from reducer.histories.source import NO_CONTENT, Source, decode, encode, line_and_column
from reducer.paths.written import path_text
from reducer.references import Call, Event, Mentions, Prompt, Response, Returned, searched

InputFormat = str
"""The name of the format that a stored history is read in, or `auto` to detect it."""

FORMATS: tuple[Format, ...] = tuple(
    import_module(f"{__name__}.{module.name}").FORMAT for module in iter_modules(__path__)
)
"""All formats, in alphabetical order."""

_MAX_LEVELS = 16
"""Levels of wrappers that are searched for messages."""
_LIST_NAMES = frozenset({"messages", "history", "all_messages", "new_messages", "message_history"})
"""Keys of a wrapper under which an empty list is also a history."""
_MAX_KEYS_SHOWN = 100
_PIECE_BYTES = 1 << 16
"""Bytes to decode at once: four times as fast as all at once, which needs new memory."""
_HEAD_BYTES = 20_000
_HEAD = re.compile(rb'[\[\s]*(?:[\s,]*\{(?:[^][{}"]|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+\}?)*+', re.DOTALL)
"""The start of a list up to the first nested value."""
_KEY = re.compile(rb'"(\w+)"\s*:')

_Message = tuple[Format, Any]
_T = TypeVar("_T")


class _Messages(NamedTuple):
    """The messages in a list, or a message outside of lists, whose JSON `raw` is at `path`.

    The items before number `valid` are messages.
    """

    form: Format
    path: Path
    raw: Raw
    messages: list[Any]
    valid: int


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


class Placed(NamedTuple):
    """An event of a history and its place."""

    event: Event
    key: Key


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
    located = _read(data, lambda source: _find_returns(source, _find_messages(source, input_format), applies))
    for key, found, spans in located:
        call_id = _text(found.call_id)
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
            tool=_text(found.tool),
            call_id=call_id,
            nth=nth,
            key=key,
            copies=tuple(copies) or (Content(None, 0, 0),),
            untouched=found.untouched or why,
            timestamp=_text(found.timestamp),
        )


def events(data: bytes, input_format: InputFormat = "auto") -> list[Placed]:
    """Return the prompts, responses and tool returns of a stored history in order. Raises `HistoryError`."""

    def read(source: Source) -> list[Placed]:
        messages = _find_messages(source, input_format)
        found = _find_events(source, messages)
        for key, one, spans in _find_returns(source, messages):
            content = decode(data[slice(*spans[0])])[0] if spans else None
            found.append(Placed(Returned(content, _text(one.call_id)), key))
        return sorted(found, key=lambda one: one.key)

    return _read(data, read)


def later_mentions(data: bytes, input_format: InputFormat = "auto") -> FindMentions:
    """Return a function that finds the values that later messages mention. It reads the history on its first call."""

    @cache
    def mentions() -> Mentions:
        found = _read(data, lambda source: _find_events(source, _find_messages(source, input_format)))
        return Mentions([(one.key, one.event) for one in found if isinstance(one.event, Response)])

    return lambda key, content: lambda: mentions().after(key, content)


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


def change_copies(found: Return, new: Any, reduce: Callable[[str, Any], Any]) -> Iterator[tuple[Content, Any]]:
    """Yield the copies in a return that change, with their new contents; `new` is the reduced content of the return.

    A copy with the same value, or with the value that the text of the return encodes, changes in the same way. Any
    other copy, such as a shortened text, is reduced separately.
    """
    if new is not found.content:
        yield found.copies[0], new
    for copy in found.copies[1:]:
        changed = _changed_copy(found, new, copy.content, reduce)
        if changed is not copy.content:
            yield copy, changed


def _changed_copy(found: Return, new: Any, copy: Any, reduce: Callable[[str, Any], Any]) -> Any:
    content = found.content
    if type(copy) is type(content) and _is_same(copy, content):
        return copy if new is content else new
    if type(content) is type(new) is str and type(copy) is not str and _is_same(copy, read_json(content)):
        value = copy if new is content else read_json(new)
        if type(value) is type(copy):
            return value
    return reduce(found.tool, copy)


def _is_same(one: Any, other: Any) -> bool:
    # Python's `1 == 1.0 == True` is not enough: the JSON must also be the same.
    return one is other or (bool(one == other) and (type(one) is str or encode(one) == encode(other)))


class Link(NamedTuple):
    """A tool call, or a tool return that answers one, in a stored history; `path` leads to its id, if it has one."""

    path: Path
    id: Any
    tool: Any
    is_call: bool


class Linked(NamedTuple):
    """A message with its tool calls and tool returns."""

    path: Path
    is_response: bool
    links: list[Link]


def message_lists(data: bytes) -> list[tuple[Format, Path, list[Linked]]]:
    """Return the format, the path and the messages of each list of messages, and of each message outside of lists."""

    def read(source: Source) -> list[tuple[Format, Path, list[Linked]]]:
        return [(one.form, one.path, [*_linked(one, source)]) for one in _search(source, FORMATS, source.root)]

    return _read(data, read)


def _linked(one: _Messages, source: Source) -> Iterator[Linked]:
    is_list = source.mark(one.raw) == "["
    for number, message in enumerate(one.messages):
        path = (*one.path, number) if is_list else one.path
        if type(message) is one.form.message and one.form.recognises(message, source, False):
            turns = [*one.form.turns(message, source)]
            calls = [(call.at, call.id, call.tool, True) for turn in turns for call in turn.calls]
            returned = [(found.at, found.call_id, found.tool, False) for found in one.form.returns(message, source)]
            links = [
                Link((*path, *at), id if type(id) is str else UNSET, tool if type(tool) is str else None, is_call)
                for at, id, tool, is_call in calls + returned
            ]
            # A content with several texts is one tool return.
            yield Linked(path, any(turn.is_response for turn in turns), [*dict.fromkeys(links)])


def _read(data: bytes, use: Callable[[Source], list[_T]]) -> list[_T]:
    """Return `use(source)`, from a plain source if no other source can read the data."""
    _check_text(data)
    try:
        return use(Source(data))
    except (MsgspecError, RecursionError):
        return use(Source(data, plain=True))


def _check_text(data: bytes) -> None:
    """Raise `HistoryError` unless the data is UTF-8 text. `msgspec` does not check the values that it skips."""
    at = len(data) if data.isascii() else 0
    try:
        while at < len(data):
            piece = data[at : at + _PIECE_BYTES]
            at += utf_8_decode(piece, "strict", at + len(piece) == len(data))[1]
    except UnicodeDecodeError as error:
        at += error.start
        where = line_and_column(data, at).replace("column", "byte")
        raise HistoryError(f"not UTF-8 text: byte 0x{data[at]:02x} at {where}") from None


def _find_returns(
    source: Source, messages: list[_Message], applies: Callable[[str], bool] | None = None
) -> list[tuple[Key, ToolReturn, list[tuple[int, int]]]]:
    """Return the tool returns with their keys and the byte offsets of their copies, a text first.

    With `applies`, return only those that may change and for whose tool it is true.
    """
    located = []
    data = source.data
    tool_of = _tool_finder(source, messages)
    for number, (form, message) in enumerate(messages):
        counts: dict[int, int] = {}
        for found in form.returns(message, source):
            if found.tool is None:
                found.tool = tool_of(number, found.call_id)
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


def _tool_finder(source: Source, messages: list[_Message]) -> Callable[[int, Any], Any]:
    """Return a function that takes the number of a message and a call id, and returns the tool of the call, or None.

    It is the nearest call before the message. If its response calls several tools with this id, the tool is unknown.
    The numbers must rise.
    """
    tools: dict[str, Any] = {}
    read = 0

    def tool_of(number: int, call_id: Any) -> Any:
        nonlocal read
        for form, message in messages[read:number]:
            for turn in form.turns(message, source):
                called: dict[str, Any] = {}
                for call in turn.calls:
                    if type(call.id) is str:
                        called[call.id] = call.tool if called.get(call.id, call.tool) == call.tool else None
                tools.update(called)
        read = number
        return tools.get(call_id) if type(call_id) is str else None

    return tool_of


def _find_events(source: Source, messages: list[_Message]) -> list[Placed]:
    """Return the prompts and responses in order."""
    found: list[Placed] = []
    previous: Any = None
    for number, (form, message) in enumerate(messages):
        turns = [*form.turns(message, source)]
        for turn in turns:
            event = _decoded(turn, source)
            if turn.joins and isinstance(event, Response) and isinstance(previous, Response):
                event = Response(previous.texts + event.texts, previous.calls + event.calls)
                found[-1] = found[-1]._replace(event=event)
            else:
                found.append(Placed(event, Key(number, turn.part, -1)))
            previous = event
        if not turns:
            previous = None
    return found


def _decoded(turn: Turn, source: Source) -> Prompt | Response:
    values = [text if isinstance(text, str) else source.value(text) for text in turn.texts]
    if not turn.is_response:
        return Prompt("\n".join(value if isinstance(value, str) else searched(value) for value in values))
    calls = [Call(_text(call.tool), source.value(call.arguments), _text(call.id)) for call in turn.calls]
    return Response(tuple(value for value in values if isinstance(value, str)), tuple(calls))


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def formats_of(input_format: InputFormat) -> Sequence[Format]:
    """Return the formats to try. Raises `HistoryError` for an unknown name."""
    formats = [one for one in FORMATS if input_format in ("auto", one.name)]
    if not formats:
        nearest = get_close_matches(input_format, [form.name for form in FORMATS], 1)
        hint = f"; did you mean `{nearest[0]}`?" if nearest else ""
        raise HistoryError(f"unknown format {input_format}: expected auto, {_names(FORMATS)}{hint}")
    return formats


def _find_messages(source: Source, input_format: InputFormat) -> list[_Message]:
    """Return all messages in order, from a list of messages, one message, or a wrapper. Raises `HistoryError`."""
    formats = formats_of(input_format)
    if not memoryview(source.root).nbytes:
        raise HistoryError("empty: expected a list of messages")
    found = list(_search(source, formats, source.root))
    for one in found:
        if one.valid < len(one.messages):
            raise _not_a_message(source, [one.form], one.raw, (*one.path, one.valid))
    if found:
        return [(one.form, message) for one in found for message in one.messages]
    source.decode(Raw, source.root)
    if source.mark(source.root) == "[":
        raise _not_a_message(source, formats, source.root, (0,))
    raise HistoryError(f"not a history: found {_described(source, source.root)}, {expected(formats)}")


def _search(source: Source, formats: Sequence[Format], raw: Raw, path: Path = ()) -> Iterator[_Messages]:
    """Yield each list of messages, each message outside of lists and each empty history in a value."""
    if source.mark(raw) not in ("[", "{"):
        return
    is_list = source.mark(raw) == "["
    members: dict[Any, Raw] = {} if is_list else source.decode(dict[str, Raw], raw)
    if found := _messages(source, formats, raw, path=path, keys=members.keys()):
        yield found
        return
    if is_list:
        members = dict(enumerate(source.decode(list[Raw], raw)))
        if not members and (not path or path[-1] in _LIST_NAMES):
            yield _Messages(formats[0], path, raw, [], 0)
    hints = {hint for form in formats for hint in form.hints}
    for key, value in members.items():
        if _may_contain_messages(source, value, (*path, key), hints):
            yield from _search(source, formats, value, (*path, key))


def _messages(source: Source, formats: Sequence[Format], raw: Raw, *, path: Path, keys: Set[str]) -> _Messages | None:
    """Return the messages of a list, or one message with these keys, in the first format in which all are valid.

    If there is none, return them in the format in which most are valid, up to the first that is not.
    """
    found: list[_Messages] = []
    is_list = source.mark(raw) == "["
    for form in _likely_first(formats, raw) if is_list else _with_keys(formats, keys):
        kind: Any = list[form.message | list[Raw] | Scalar]  # type: ignore[name-defined]
        messages = source.decode(kind, raw) if is_list else [source.decode(form.message, raw)]
        own = (message for message in messages if type(message) is form.message)
        if any(form.recognises(message, source, len(formats) > 1) for message in own):
            fits = (type(message) is form.message and form.recognises(message, source, False) for message in messages)
            valid = sum(takewhile(bool, fits))
            found.append(_Messages(form, path, raw, messages, valid))
            if valid == len(messages):
                break
    return max(found, key=lambda one: one.valid, default=None)


def _with_keys(formats: Sequence[Format], keys: Set[str]) -> list[Format]:
    """Return the formats whose messages have at least two of these keys."""
    return [form for form in formats if len(keys & _keys(form.message)) > 1]


def _likely_first(formats: Sequence[Format], raw: Raw) -> list[Format]:
    """Return the formats in the order in which to try them: those first whose messages have the keys that `raw` has.

    To decode with the wrong format takes as long as everything else together.
    """
    found = {key.decode() for key in _KEY.findall(next(_HEAD.finditer(memoryview(raw)[:_HEAD_BYTES]))[0])}
    own = {form.name: _keys(form.message) for form in formats}
    return sorted(formats, key=lambda form: (-len(found & own[form.name]), len(own[form.name])))


@cache
def _keys(message: type[Struct]) -> frozenset[str]:
    """Return the keys that a format reads in a message."""
    return frozenset(message.__struct_encode_fields__)


def _may_contain_messages(source: Source, raw: Raw, path: Path, hints: Iterable[bytes]) -> bool:
    """Return whether a value may contain messages, without decoding it: keys can contain escapes."""
    if source.mark(raw) not in ("[", "{") or len(path) > _MAX_LEVELS:
        return False
    return path[-1] in _LIST_NAMES or any(source.data.find(hint, *source.span(raw)) >= 0 for hint in (*hints, b"\\u"))


def expected(formats: Sequence[Format] = FORMATS) -> str:
    """Describe the histories that one of these formats reads."""
    if len(formats) == 1:
        return f"expected {formats[0].expected}"
    return f"expected a history in one of the formats {_names(formats)}"


def _names(formats: Sequence[Format]) -> str:
    return ", ".join(sorted(form.name for form in formats))


def _not_a_message(source: Source, formats: Sequence[Format], raw: Raw, path: Path) -> HistoryError:
    """Return the error for the item at `path` of the list `raw`."""
    number = int(path[-1])
    item = source.decode(list[Raw], raw)[number]
    wrapper = f" of `{path_text(path[:-1])}`" if path[1:] else ""
    where = f"item {number + 1}{wrapper} at {line_and_column(source.data, source.span(item)[0])}"
    return HistoryError(
        f"not a history: {where} is not a message: found {_described(source, item)}, {expected(formats)}"
    )


def _described(source: Source, raw: Raw) -> str:
    mark = source.mark(raw)
    if mark != "{":
        names = {"[": "a list", '"': "a text", "t": "true", "f": "false", "n": "null"}
        return names.get(mark, "a number")
    keys = list(source.decode(dict[str, Raw], raw))
    shown = shorten(", ".join(keys), _MAX_KEYS_SHOWN, placeholder=" …")
    return f"an object with the keys {shown}" if keys else "an empty object"
