"""Stored histories, JSON of any version and format: finds their tool returns, and replaces contents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

from msgspec import MsgspecError

from reducer.errors import HistoryError
from reducer.formats.json_text import read_json
from reducer.histories.contents import NO_CONTENT, can_encode, decode, encode
from reducer.histories.format import ToolReturn
from reducer.histories.plain import PlainSource
from reducer.histories.search import INPUT_FORMATS, InputFormat, Messages, find_messages
from reducer.histories.sources import MsgspecSource, NotLocated
from reducer.references import Event, Mentions, Response, Returned

__all__ = [
    "INPUT_FORMATS",
    "Content",
    "Event",
    "InputFormat",
    "Key",
    "Placed",
    "Return",
    "change_copies",
    "events",
    "later_mentions",
    "protecting",
    "reduce_json",
    "returns",
    "splice",
]

Key = tuple[int, int, int]
"""The place of a tool return: its message, its part, and which of the part's returns it is, counted from 0."""

FindMentions = Callable[[Key, Any], Callable[[], frozenset[str]]]
"""Returns what finds the values in a content of the return at `Key` that later messages mention."""

_T = TypeVar("_T")


class Content(NamedTuple):
    """One content of a tool return, decoded; `start` and `end` are the byte offsets of its JSON."""

    content: Any
    start: int
    end: int


class Return(NamedTuple):
    """One tool return of a stored history; `places` are its content and further copies of it.

    `message` counts from 0, through all lists of messages in a wrapper. `nth` counts from 1 among the returns with this
    call id, because ids come back in later turns. `untouched` is the reason why rules never apply, empty if they do.
    """

    tool: str
    call_id: str
    nth: int
    key: Key
    places: tuple[Content, ...]
    untouched: str
    timestamp: str

    @property
    def content(self) -> Any:
        """The decoded content."""
        return self.places[0].content

    @property
    def message(self) -> int:
        """The number of the message, from 0."""
        return self.key[0]

    @property
    def part(self) -> int:
        """The number of the part in its message, from 0."""
        return self.key[1]


class Placed(NamedTuple):
    """One event of a history; `key` is its place, with that of the tool return for a `Returned`."""

    event: Event
    key: Key


class _Located(NamedTuple):
    """A tool return whose contents are not decoded yet: `spans` are their byte offsets, a text first."""

    key: Key
    found: ToolReturn
    spans: list[tuple[int, int]]


def reduce_json(
    data: bytes,
    reduce: Callable[..., Any],
    input_format: InputFormat = "auto",
    *,
    applies: Callable[[str], bool] | None = None,
    mentions: FindMentions | None = None,
) -> bytes:
    """Reduce the tool returns of a stored history; all bytes outside the contents that change stay as they are.

    `data`: UTF-8 JSON: a list of messages, one message, or a wrapper of such. `reduce(tool, content)` returns the same
    object for a content that stays; with `mentions` it gets the keyword `protected` too. A return of a tool to which
    nothing `applies` is not decoded. Returns `data` itself if nothing changes. Raises `HistoryError`.
    """
    edits: list[tuple[int, int, bytes]] = []
    for one in _read(data, input_format, partial(_locate, data, applies)):
        if not one.found.untouched:
            edits += _edits(data, one, reduce if mentions is None else protecting(reduce, mentions, one.key))
    return _spliced(data, edits)


def returns(data: bytes, input_format: InputFormat = "auto") -> Iterator[Return]:
    """Return every tool return of a stored history once, in order, with those that rules never apply to.

    Raises `HistoryError`.
    """
    times: dict[str, int] = {}
    for one in _read(data, input_format, partial(_locate, data, None)):
        call_id = _text(one.found.call_id)
        times[call_id] = nth = times.get(call_id, 0) + 1
        places, why = _decoded(data, one)
        tool, timestamp = _text(one.found.tool), _text(one.found.timestamp)
        yield Return(
            tool, call_id, nth, one.key, places or (Content(None, 0, 0),), one.found.untouched or why, timestamp
        )


def events(data: bytes, input_format: InputFormat = "auto", *, contents: bool = True) -> list[Placed]:
    """Return what happened in a stored history, in order: prompts, responses and tool returns.

    Without `contents`, those of the tool returns are None. Raises `HistoryError`.
    """
    return _read(data, input_format, partial(_events, data, contents))


def later_mentions(data: bytes, input_format: InputFormat = "auto") -> FindMentions:
    """Return what finds the values in tool returns that later messages mention; reads the history when first asked."""

    @cache
    def mentions() -> tuple[Mentions, dict[Key, int]]:
        happened = events(data, input_format, contents=False)
        numbers = {one.key: number for number, one in enumerate(happened) if isinstance(one.event, Returned)}
        return Mentions([(n, one.event) for n, one in enumerate(happened) if isinstance(one.event, Response)]), numbers

    def find(key: Key, content: Any) -> frozenset[str]:
        found, numbers = mentions()
        return found.after(numbers[key], content)

    return lambda key, content: partial(find, key, content)


def protecting(reduce: Callable[..., Any], mentions: FindMentions, key: Key) -> Callable[[str, Any], Any]:
    """Return `reduce(tool, content)` that protects what later messages mention, for the return at `key`."""
    return lambda tool, content: reduce(tool, content, protected=mentions(key, content))


def splice(data: bytes, changes: Iterable[tuple[Content, Any]]) -> bytes:
    """Return the history with new contents in the given places; a content given as bytes is JSON already."""
    return _spliced(data, _encoded(data, changes))


def change_copies(found: Return, new: Any, reduce: Callable[[str, Any], Any]) -> Iterator[tuple[Content, Any]]:
    """Return the places of a return with their new contents, where these change; `new` is that of the return itself.

    A copy that holds the same value, or the value that the text of the return encodes, changes as the return does. Any
    other, such as a shortened text, is reduced on its own.
    """
    return _changes(found.tool, found.places, new, reduce)


def _read(data: bytes, input_format: InputFormat, use: Callable[[Any, Messages], _T]) -> _T:
    """Return what `use(source, messages)` returns; with the plain source where msgspec cannot read the history."""
    try:
        data.isascii() or data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise HistoryError(f"not UTF-8 text: byte 0x{data[error.start]:02x} at line {line}, byte {column}") from None
    try:
        source = MsgspecSource(data)
        return use(source, find_messages(data, source, input_format))
    except (MsgspecError, NotLocated, RecursionError):
        plain = PlainSource(data)
        return use(plain, find_messages(data, plain, input_format))


def _locate(data: bytes, applies: Callable[[str], bool] | None, source: Any, messages: Messages) -> list[_Located]:
    located = []
    for number, (form, message) in enumerate((form, one) for form, group in messages for one in group):
        times: dict[int, int] = {}
        for found in form.returns(message, source):
            nth = times.get(found.part, 0)
            times[found.part] = nth + 1
            if applies is None or (type(found.tool) is str and applies(found.tool)):
                spans = [*map(source.place, found.contents)]
                if len(spans) > 1:
                    spans = _text_first(data, [span for span in spans if data[span[0]] in b'"[{'] or spans[:1])
                located.append(_Located((number, found.part, nth), found, spans))
    return located


def _text_first(data: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Move the first text to the front: the other copies may be the value that it encodes."""
    first = next((number for number, span in enumerate(spans) if data[span[0]] in b'"'), 0)
    return [spans[first], *spans[:first], *spans[first + 1 :]]


def _events(data: bytes, contents: bool, source: Any, messages: Messages) -> list[Placed]:
    returned: dict[int, list[_Located]] = {}
    for one in _locate(data, None, source, messages):
        returned.setdefault(one.key[0], []).append(one)
    happened = []
    for number, (form, message) in enumerate((form, one) for form, group in messages for one in group):
        said = [Placed(event, (number, part, -1)) for part, event in form.said(message, source)]
        answers = [Placed(_returned(data, one, contents), one.key) for one in returned.get(number, ())]
        happened += sorted(said + answers, key=lambda one: (one.key[1], one.key[2] >= 0))
    return happened


def _returned(data: bytes, one: _Located, contents: bool) -> Returned:
    content = decode(data[slice(*one.spans[0])])[0] if contents and one.spans else None
    return Returned(content, _text(one.found.call_id))


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _decoded(data: bytes, one: _Located) -> tuple[tuple[Content, ...], str]:
    """Decode the contents of a return; the reason why rules never apply to one of them comes second."""
    pieces = [data[start:end] for start, end in one.spans]
    decoded: list[tuple[Any, str]] = []
    for piece in pieces:
        first = pieces.index(piece)  # most copies are the same bytes
        decoded.append(decoded[first] if first < len(decoded) else decode(piece))
    places = (Content(content, *span) for (content, _), span in zip(decoded, one.spans, strict=True))
    return tuple(places), next((why for _, why in decoded if why), "") if pieces else NO_CONTENT


def _edits(data: bytes, one: _Located, reduce: Callable[[str, Any], Any]) -> Iterable[tuple[int, int, bytes]]:
    places, why = _decoded(data, one)
    if why:
        return ()
    tool = one.found.tool
    return _encoded(data, _changes(tool, places, reduce(tool, places[0].content), reduce))


def _changes(
    tool: str, places: tuple[Content, ...], new: Any, reduce: Callable[[str, Any], Any]
) -> Iterator[tuple[Content, Any]]:
    content = places[0].content
    if new is not content:
        yield places[0], new
    for copy in places[1:]:
        other = _changed_copy(tool, content, new, copy.content, reduce)
        if other is not copy.content:
            yield copy, other


def _changed_copy(tool: str, content: Any, new: Any, copy: Any, reduce: Callable[[str, Any], Any]) -> Any:
    if type(copy) is type(content):
        if not _is_same(copy, content):
            return reduce(tool, copy)
        return copy if new is content else new
    own = reduce(tool, copy)
    if type(content) is not str or type(new) is not str or (own is copy and new is content):
        return own
    # The two agree nearly always; the original text, which is long, is decoded only if they do not.
    value = copy if new is content else _structure(new)
    agrees = type(value) is not type(copy) or _is_same(value, own)
    return value if not agrees and _is_same(copy, _structure(content)) else own


def _structure(text: str) -> Any:
    value = read_json(text)
    return text if value is None else value


def _is_same(one: Any, other: Any) -> bool:
    # `1 == 1.0 == True` in Python; what is written must be the same as well.
    return one is other or (bool(one == other) and (type(one) is str or encode(one) == encode(other)))


def _encoded(data: bytes, changes: Iterable[tuple[Content, Any]]) -> Iterator[tuple[int, int, bytes]]:
    for place, new in changes:
        encoded = new if type(new) is bytes else encode(new)
        if type(new) is bytes or can_encode(new, encoded, data[place.start : place.end]):
            yield place.start, place.end, encoded


def _spliced(data: bytes, edits: Iterable[tuple[int, int, bytes]]) -> bytes:
    pieces: list[bytes] = []
    done = 0
    for start, end, encoded in sorted(edits):
        pieces += (data[done:start], encoded)
        done = end
    if not pieces:
        return data
    pieces.append(data[done:])
    return b"".join(pieces)
