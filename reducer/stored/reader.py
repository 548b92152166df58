"""Finds the messages in the text of a stored history, whatever they are wrapped in, and the tool returns in them."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from itertools import chain
from json.decoder import JSONDecodeError
from typing import Any, Literal

from reducer.errors import HistoryError
from reducer.stored import messages, session
from reducer.stored.messages import Several, described
from reducer.stored.outline import ESCAPED, Outline, careful
from reducer.stored.raw import Found, Raw
from reducer.stored.text import JsonText, follow, place, scan

InputFormat = Literal["auto", "model-messages", "session"]
"""What a stored history is read as; `auto` recognises PydanticAI's messages and session histories."""

_EXPECTED: dict[str, str] = {
    "auto": "a list of messages, each an object with `kind` and `parts`, or with `role` and `parts` in a session history",
    "model-messages": "a list of messages, each an object with `kind` and `parts`",
    "session": "a list of messages of a session history, each an object with `role` and `parts`",
}
_WRAPPERS = 16
"""Levels of wrapping that are looked into."""
_BOM = "\ufeff".encode().decode("latin-1")
_NEAR = 4000
"""Characters within which the first parts of a history are looked for; what has them further on is read once more to see."""
_BEGINNING = 400
_SIGNS = frozenset({"kind", "role", "parts", "activity_parts", "text_content", "response_text_main", "interaction_id"})
_USUAL = re.compile(rf'\{{[ \t\n\r]*+"(?:{"|".join(sorted(_SIGNS))})"')
_NAMES = frozenset({"messages", "history", "all_messages", "new_messages", "message_history"})
"""Under these keys of a wrapper an empty list is a history too."""


def read(raw: Raw, input_format: InputFormat = "auto") -> Iterator[Found]:
    """Read a JSON list of messages, one message, or a wrapper in which such lists and messages are found; its tool returns in order.

    Messages are counted through all lists; places are those of `raw`. Raises `HistoryError` at the place where the text is something else.
    """
    search = _Search(raw, input_format)
    try:
        if (yield from search.root()):
            return
        source = raw.spelled
        at = source.white(1 if source.text.startswith("\ufeff") else 0)
        if at == len(source.text):
            raise HistoryError("empty: expected a list of messages")
        yield from search.value(at, "", _WRAPPERS)
        source.finish()
    except JSONDecodeError as error:
        raise _not_json(raw.spelled.text, error) from None
    if not search.seen:
        raise HistoryError(search.fault)


class _Search:
    """A walk to the messages of a text: whether any were seen, and else what was there in their place."""

    def __init__(self, raw: Raw, input_format: InputFormat) -> None:
        self.seen = False
        self.fault = ""
        self._raw = raw
        self._format: InputFormat = input_format
        self._count = 0
        self._parts = -1

    @property
    def _source(self) -> JsonText:
        return self._raw.spelled

    def root(self) -> Generator[Found, None, bool]:
        """Read messages that are all there is, if they can be read many at once; tells whether they were read."""
        raw, source = self._raw, self._raw.source
        at = source.white(3 if raw.bytewise and source.text.startswith(_BOM) else 1 if source.text.startswith("\ufeff") else 0)
        alone = source.text.startswith("{", at)
        first = at if alone else source.white(at + 1)
        if not source.text.startswith("{", first) or (alone and not _USUAL.match(source.text, at)):
            return False
        begun = self._begun(raw.in_text(first), alone)
        if begun is None:
            return False
        source = raw.source
        end = begun.end
        if not alone:
            try:
                end, more = follow(source.text, end)
            except JSONDecodeError:
                return False
            if more:
                end = source.white((yield from self._all("", begun)))
                if end != len(source.text):
                    raise JSONDecodeError("Extra data", raw.spelled.text, raw.in_text(end))
                return True
        if source.white(end) != len(source.text):
            return False
        yield from begun.found
        return True

    def _begun(self, first: int, alone: bool = False) -> Several | None:
        """Read messages at once, from the one at `first` in the text on, or that alone."""
        raw = self._raw
        raw.structured = None if raw.bytewise and not self._count else False
        begun = self._several(raw.from_text(first), alone)
        if raw.structured:
            raw.turn()
            raw.structured = False
            begun = self._several(first, alone)
        raw.structured = False
        return begun

    def _several(self, first: int, alone: bool) -> Several | None:
        if self._raw.source.text.find('"role"', first, first + _BEGINNING) < 0:
            return None if self._format == "session" else messages.several(self._raw, first, self._count, alone)
        return None if self._format == "model-messages" else session.several(self._raw, first, self._count, self._format == "session", alone)

    def _all(self, path: str, begun: Several) -> Generator[Found, None, int]:
        """Read a list of which some messages were read already; gives the place of its end."""
        self.seen = True
        if begun.form == "model-messages":
            return (yield from self._messages(0, path, begun))
        raw, before = self._raw, 0
        several: Several | None = begun
        at = 0
        while several is not None:
            yield from several.found
            before += several.messages
            self._count += several.messages
            at, more = raw.follow(several.end)
            if not more:
                return at
            several = session.several(raw, at, self._count, True)
        outline = Outline(raw.spelled)
        yield from self._session(outline, outline.items_from(raw.in_text(at)), path, None, before)
        return raw.from_text(raw.spelled.at)

    def value(self, at: int, path: str, levels: int) -> Iterator[Found]:
        """Look into the value at `at`, which `path` leads to; `source.at` is in the end where it ends."""
        mark = self._source.text[at : at + 1]
        if mark == "[":
            yield from self._list(at, path, levels)
        elif mark == "{":
            yield from self._object(at, path, levels)
        else:
            value, self._source.at = self._source.value(at)
            self.fault = f"not a history: found {described(value)}, expected {_EXPECTED[self._format]}"

    def _object(self, at: int, path: str, levels: int) -> Iterator[Found]:
        source = self._source
        if self._sign(at) == "":
            outline = Outline(source)
            message = outline.whole(at)
            end, form = source.at, self._form(message)
            if form == "model-messages":
                yield from messages.one(self._raw, self._raw.from_text(at), self._count, 0, lambda item, number: self._no_message(item, number, path))[0]
                self.seen = True
                self._count += 1
            elif form:
                yield from self._session(outline, iter((message,)), path, None)
            if form:
                source.at = end
                return
        keys: list[str] = []
        for key, start in source.members(at):
            keys.append(key)
            if levels and self._may_hold(start, key):
                yield from self.value(start, f"{path}.{key}" if path else key, levels - 1)
        self.fault = f"not a history: found {described(dict.fromkeys(keys))}, expected {_EXPECTED[self._format]}"

    def _list(self, at: int, path: str, levels: int) -> Iterator[Found]:
        source, text = self._source, self._source.text
        first = source.white(at + 1)
        wrapped = self._sign(first) if text.startswith("{", first) else None
        begun = self._begun(first) if wrapped == "" and path else None
        if begun is not None:
            source.at = self._raw.in_text((yield from self._all(path, begun)))
            return
        if wrapped is not None:
            # PydanticAI's messages are small and read by a loop of their own; one of a session history holds a whole run, and is read once.
            outline = Outline(source)
            items = outline.items(at)
            peeked = [next(items)] if text.find('"role"', first, first + _BEGINNING) >= 0 else []
            item = peeked[0] if peeked else source.value(first)[0] or careful(source, first)[0]
            form = self._form(item.get(wrapped) if wrapped else item)
            if form == "session":
                yield from self._session(outline, chain(peeked, items), path, wrapped)
                return
            if form and not wrapped:
                end = yield from self._messages(self._raw.from_text(first), path, None)
                source.at = self._raw.in_text(end)
                return
        number = -1
        for number, start in enumerate(source.items(at)):
            if levels and self._may_hold(start, ""):
                if number and not wrapped and text.startswith("{", start) and self._sign(start) == "" and self._form(careful(source, start)[0]):
                    raise self._no_message(source.value(first)[0], 0, path)
                yield from self.value(start, f"{path}[{number}]", levels - 1)
        if number < 0:
            self.seen = self.seen or not path or path.rpartition(".")[2] in _NAMES
        elif not self.seen:
            self.fault = str(self._no_message(source.value(first)[0], 0, path))

    def _messages(self, first: int, path: str, begun: Several | None) -> Generator[Found, None, int]:
        """Read PydanticAI's messages, of which the first starts at the place `first` or some were read already; gives the place of their list's end."""

        def refuse(item: object, number: int) -> HistoryError:
            return self._no_message(item, number, path, "model-messages")

        self._count, end = yield from messages.read_list(self._raw, first, self._count, refuse, begun)
        self.seen = True
        return end

    def _session(self, outline: Outline, items: Iterator[Any], path: str, wrapped: str | None, before: int = 0) -> Iterator[Found]:
        """Read messages of a session history, each the item itself or under the key `wrapped` of it, `before` counts those in front of them."""
        certain = self.seen or self._format == "session"
        first = self._count
        number = 0
        for number, item in enumerate(items):
            message: Any = item.get(wrapped) if wrapped and type(item) is dict else item
            if not session.is_message(message, True):
                raise self._no_message(message, before + number, path, "session")
            certain = certain or session.is_certain(message)
            found = session.tool_returns(message, first + number)
            if found and outline.lost(item):
                item = outline.again()
                found = session.tool_returns(item[wrapped] if wrapped else item, first + number)
            yield from map(self._raw.placed, found)
        self._count = first + number + 1
        self.seen = self.seen or certain
        if not certain:
            where = f" in `{path}`" if path else ""
            self.fault = f"not a history: found messages with `role` and `parts`{where} that carry no activities, expected {_EXPECTED[self._format]}"

    def _form(self, item: object) -> str:
        """Tell which form of message an object is; empty for none."""
        if self._format != "session" and messages.is_message(item):
            return "model-messages"
        return "session" if self._format != "model-messages" and session.is_message(item, self._format == "session") else ""

    def _sign(self, at: int, outer: bool = True) -> str | None:
        """Tell whether the object at `at` may be a message (an empty text), or hold one under a key (that key), by how it begins."""
        source, text = self._source, self._source.text
        if _USUAL.match(text, at):
            return ""
        for key, start in source.members(at):
            if key in _SIGNS:
                return ""
            if outer and text.startswith("{", start) and self._sign(start, outer=False) == "":
                return key
            if text.startswith("[", start) and text.startswith("{", source.white(start + 1)):
                # Most likely the messages themselves, which are not read twice; a short list is none of what is long.
                try:
                    _, end = scan(text[start : start + _NEAR], 0)
                except (StopIteration, ValueError, RecursionError):
                    return None
                source.at = start + end
                continue
            _, source.at = source.value(start)
        return None

    def _may_hold(self, start: int, key: str) -> bool:
        """Tell whether the value at `start` is worth a look inside; if not, it is passed: `source.at` is then its end."""
        source, text = self._source, self._source.text
        if text[start : start + 1] in ("[", "{"):
            if key in _NAMES:
                return True
            if -1 <= self._parts < start:
                self._parts = text.find('parts"', start)
                if self._parts < 0:
                    escaped = ESCAPED.search(text, start)
                    self._parts = escaped.start() if escaped else len(text)
            if self._parts < start + _NEAR:
                return True
        _, source.at = source.value(start)
        return self._parts < source.at and text[start : start + 1] in ("[", "{")

    def _no_message(self, item: object, number: int, path: str, form: str = "") -> HistoryError:
        where = f" of `{path}`" if path else ""
        found = described(item)
        if form and self._form(item):
            found = "one of a session history" if form == "model-messages" else "one as PydanticAI stores it"
        return HistoryError(f"not a history: message {number + 1}{where} is none: found {found}, expected {_EXPECTED[form or self._format]}")


def _not_json(text: str, error: JSONDecodeError) -> HistoryError:
    rest = text[error.pos : error.pos + 12].strip(" \t\n\r")
    word = any(literal.startswith(rest) for literal in ("true", "false", "null", "NaN", "Infinity", "-Infinity"))
    escape = error.msg.startswith("Invalid \\") and '"' not in text[error.pos + 1 :]
    if error.msg.startswith("Unterminated") or word or escape:  # an empty rest counts as a word
        return HistoryError(f"cut off: the text ends at {place(text, len(text))}, in the middle of a history")
    message = error.msg.removesuffix(" at").removesuffix(" starting")
    return HistoryError(f"not JSON: {message} at {place(text, error.pos)}")
