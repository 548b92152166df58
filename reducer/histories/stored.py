"""Stored histories, JSON of any version and format: finds their tool returns, and replaces contents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

from msgspec import MsgspecError

from reducer.errors import HistoryError
from reducer.formats.json_text import read_json
from reducer.histories import FindMentions
from reducer.histories import protecting as protecting
from reducer.histories.format import ToolReturn
from reducer.histories.search import InputFormat as InputFormat
from reducer.histories.search import Message, find_messages
from reducer.histories.source import NO_CONTENT, Source, decode, encode, located
from reducer.references import Event, Mentions, Response, Returned


class Key(NamedTuple):
    """The place of a tool return: its message, its part, and which of the part's returns it is, counted from 0.

    Messages are counted through all lists of messages in a wrapper.
    """

    message: int
    part: int
    nth: int


_Located = tuple[Key, ToolReturn, list[tuple[int, int]]]
"""A tool return at its place, and the byte offsets of its contents, a text first."""

_T = TypeVar("_T")


class Content(NamedTuple):
    """One content of a tool return, decoded; `start` and `end` are the byte offsets of its JSON."""

    content: Any
    start: int
    end: int


class Return(NamedTuple):
    """One tool return of a stored history; `places` are its content and further copies of it.

    `nth` counts from 1 among the returns with this call id, because ids come back in later turns. `untouched` is the
    reason why rules never apply, empty if they do.
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
    def name(self) -> str:
        """The return as `--call` names it: its call id, with a number from the second one on."""
        return f"{self.call_id}#{self.nth}" if self.nth > 1 else self.call_id


class Placed(NamedTuple):
    """One event of a history; `key` is its place, with that of the tool return for a `Returned`."""

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
    """Reduce the tool returns of a stored history; all bytes outside the contents that change stay as they are.

    `data`: UTF-8 JSON: a list of messages, one message, or a wrapper of such. `reduce(tool, content)` returns the same
    object for a content that stays; with `mentions` it gets the keyword `protected` too. A return of a tool to which
    nothing `applies` is not decoded. Returns `data` itself if nothing changes. Raises `HistoryError`.
    """

    def changes() -> Iterator[tuple[Content, Any]]:
        for found in returns(data, input_format, applies=applies):
            if not found.untouched:
                own = protecting(reduce, mentions, found.key)
                yield from change_copies(found, own(found.tool, found.content), own)

    return splice(data, changes())


def returns(
    data: bytes, input_format: InputFormat = "auto", *, applies: Callable[[str], bool] | None = None
) -> Iterator[Return]:
    """Yield every tool return of a stored history once, in order, with those that rules never apply to.

    With `applies`, only those that rules for such a tool may change. Raises `HistoryError`.
    """
    times: dict[str, int] = {}
    for key, found, spans in _read(data, input_format, partial(_locate, applies)):
        call_id = _text(found.call_id)
        times[call_id] = nth = times.get(call_id, 0) + 1
        decoded: dict[bytes, tuple[Any, str]] = {}  # most copies are the same bytes
        places = []
        for start, end in spans:
            piece = data[start:end]
            if piece not in decoded:
                decoded[piece] = decode(piece)
            places.append(Content(decoded[piece][0], start, end))
        why = next((why for _, why in decoded.values() if why), "") if places else NO_CONTENT
        yield Return(
            tool=_text(found.tool),
            call_id=call_id,
            nth=nth,
            key=key,
            places=tuple(places) or (Content(None, 0, 0),),
            untouched=found.untouched or why,
            timestamp=_text(found.timestamp),
        )


def events(data: bytes, input_format: InputFormat = "auto") -> list[Placed]:
    """Return the prompts, responses and tool returns of a stored history in order. Raises `HistoryError`."""
    return _read(data, input_format, lambda *read: sorted(_returned(*read) + _said(*read), key=lambda one: one.key))


def later_mentions(data: bytes, input_format: InputFormat = "auto") -> FindMentions:
    """Return what finds the values in tool returns that later messages mention; reads the history when first asked."""

    @cache
    def mentions() -> Mentions:
        said = _read(data, input_format, _said)
        return Mentions([(one.key, one.event) for one in said if isinstance(one.event, Response)])

    def find(key: Key, content: Any) -> frozenset[str]:
        return mentions().after(key, content)

    return lambda key, content: partial(find, key, content)


def splice(data: bytes, changes: Iterable[tuple[Content, Any]]) -> bytes:
    """Return the history with new contents in the given places; a content given as bytes is JSON already."""
    edits: list[tuple[int, int, bytes]] = []
    for place, new in changes:
        encoded = new if type(new) is bytes else encode(new)
        # A number such as 1e400 is read as infinity: such a content stays.
        is_same_json = type(new) in (str, bytes) or b"Infinity" not in encoded
        if is_same_json or b"Infinity" in data[place.start : place.end]:
            edits.append((place.start, place.end, encoded))
    if not edits:
        return data
    pieces: list[bytes] = []
    done = 0
    for start, end, encoded in sorted(edits):
        pieces += (data[done:start], encoded)
        done = end
    return b"".join([*pieces, data[done:]])


def change_copies(found: Return, new: Any, reduce: Callable[[str, Any], Any]) -> Iterator[tuple[Content, Any]]:
    """Yield the places of a return with their new contents, where these change; `new` is that of the return itself.

    A copy that holds the same value, or the value that the text of the return encodes, changes as the return does. Any
    other, such as a shortened text, is reduced on its own.
    """
    if new is not found.content:
        yield found.places[0], new
    for copy in found.places[1:]:
        changed = _changed_copy(found, new, copy.content, reduce)
        if changed is not copy.content:
            yield copy, changed


def _changed_copy(found: Return, new: Any, copy: Any, reduce: Callable[[str, Any], Any]) -> Any:
    content = found.content
    if type(copy) is type(content) and _is_same(copy, content):
        return copy if new is content else new
    own = reduce(found.tool, copy)
    if type(content) is not str or type(new) is not str or type(copy) is str or (own is copy and new is content):
        return own
    # The two agree nearly always; the original text, which is long, is decoded only if they do not.
    value = copy if new is content else read_json(new)
    agrees = type(value) is not type(copy) or _is_same(value, own)
    return value if not agrees and _is_same(copy, read_json(content)) else own


def _is_same(one: Any, other: Any) -> bool:
    # `1 == 1.0 == True` in Python; what is written must be the same as well.
    return one is other or (bool(one == other) and (type(one) is str or encode(one) == encode(other)))


def _read(data: bytes, input_format: InputFormat, use: Callable[[Source, list[Message]], list[_T]]) -> list[_T]:
    """Return what `use(source, messages)` returns."""
    try:
        data.isascii() or data.decode()
    except UnicodeDecodeError as error:
        where = located(data, error.start).replace("column", "byte")
        raise HistoryError(f"not UTF-8 text: byte 0x{data[error.start]:02x} at {where}") from None
    try:
        source = Source(data)
        return use(source, find_messages(source, input_format))
    except (MsgspecError, RecursionError):
        source = Source(data, plain=True)
        return use(source, find_messages(source, input_format))


def _locate(applies: Callable[[str], bool] | None, source: Source, messages: list[Message]) -> list[_Located]:
    """Return the tool returns of a history; with `applies` only those that rules for such a tool may change."""
    located: list[_Located] = []
    data = source.data
    for number, (form, message) in enumerate(messages):
        times: dict[int, int] = {}
        for found in form.returns(message, source):
            nth = times.get(found.part, 0)
            times[found.part] = nth + 1
            if applies is None or (not found.untouched and applies(found.tool)):
                spans = [*map(source.place, found.contents)]
                if len(spans) > 1:
                    spans = [span for span in spans if data[span[0]] in b'"[{'] or spans[:1]
                    text = next((index for index, span in enumerate(spans) if data[span[0]] in b'"'), 0)
                    spans.insert(0, spans.pop(text))  # the other copies may be the value that it encodes
                located.append((Key(number, found.part, nth), found, spans))
    return located


def _returned(source: Source, messages: list[Message]) -> list[Placed]:
    """Return the tool returns of a history as events."""
    return [
        Placed(Returned(decode(source.data[slice(*spans[0])])[0] if spans else None, _text(found.call_id)), key)
        for key, found, spans in _locate(None, source, messages)
    ]


def _said(source: Source, messages: list[Message]) -> list[Placed]:
    """Return the prompts and responses of a history."""
    return [
        Placed(event, Key(number, part, -1))
        for number, (form, message) in enumerate(messages)
        for part, event in form.said(message, source)
    ]


def _text(value: Any) -> str:
    return "" if value is None else str(value)
