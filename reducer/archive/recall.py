"""Reads an original again for a model: all of it in pages, a place in it, or where a text stands in it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from math import prod
from typing import Any, NamedTuple

from reducer.archive.archive import Archive
from reducer.archive.entries import Place
from reducer.archive.originals import find, holds_mark
from reducer.codecs.json_text import read_json
from reducer.errors import ArchiveError
from reducer.path import PathError, compile_expression
from reducer.path.syntax import parse, walk
from reducer.untouched import RECALL
from reducer.values import dump, stored_json

PAGE = 4_000
"""Characters in a page, unless the model asks for another number of them."""
MOST = 20_000
"""Characters in a page at most: what is recalled stays in the history, and is never reduced."""

DESCRIPTION = f"""\
Read the original of an earlier tool answer of this conversation again, which rules may have shortened (`…[` marks a cut).
Gives pages of at most {MOST} characters. Use `path` or `find` to read only what you need. An unknown `tool_call_id` gives the list of those there are."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tool_call_id": {"type": "string", "description": "Id of the tool call whose answer is wanted."},
        "nth": {
            "anyOf": [{"type": "integer", "minimum": 1}, {"const": "latest"}],
            "default": "latest",
            "description": "Which answer, where the id came back: 1 is the first.",
        },
        "path": {"type": "string", "description": "JMESPath of the part wanted, as in `items[?risk == 'high'].name`."},
        "find": {"type": "string", "description": "Text to look for, in upper or lower case: gives each place with some characters around it."},
        "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "Character to start at."},
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "default": PAGE, "description": "Characters to give."},
    },
    "required": ["tool_call_id"],
}

_AROUND = 120
_LISTED = 20
_MUCH = 50_000_000
_SURROGATE = re.compile("[\ud800-\udfff]")


class Held(NamedTuple):
    """A return as it stands in the history that the model has, with its content as an object or as JSON."""

    place: Place
    content: Any


class _Sorry(Exception):
    """Why there is nothing to show, and what the model can do about it."""


def answer(held: Sequence[Held], archive: Archive, arguments: Mapping[str, Any]) -> str:
    """Answer a call of the tool with `arguments`, whatever they are; `held` are the returns of the history, and the only ones that can be read.

    Never raises: what is wrong is said to the model, with what it can do instead.
    """
    try:
        told = _answer(held, archive, arguments)
    except _Sorry as sorry:
        told = str(sorry)
    except Exception as error:  # whatever the arguments or the content do, the run goes on
        told = f"This answer cannot be read again ({type(error).__name__}): go on without it."
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", told)


def _answer(held: Sequence[Held], archive: Archive, arguments: Mapping[str, Any]) -> str:
    unknown = [name for name in arguments if name not in SCHEMA["properties"]]
    if unknown:
        raise _Sorry(f"`{RECALL}` has no argument `{_short(unknown[0])}`: there are {', '.join(SCHEMA['properties'])}.")
    chosen, which = _chosen(held, arguments.get("tool_call_id"), arguments.get("nth"))
    offset = _number(arguments, "offset", 0, "it counts characters from the start of the answer: 0, or more")
    limit = min(_number(arguments, "limit", PAGE, f"it is the number of characters to give: 1 to {MOST}", 1), MOST)
    content, source = _original(chosen, archive)
    path, wanted = arguments.get("path"), arguments.get("find")
    what = source
    if path not in (None, ""):
        content, what = _at(path, content), f"`{_short(path)}` in {source}"
    text = _text(content)
    named = f"{_short(chosen.place.tool)} `{_short(chosen.place.call_id)}`{which}, {what}: "
    if wanted not in (None, ""):
        return named + _places(text, wanted, offset, limit)
    if offset >= len(text) > 0:
        raise _Sorry(f"{named}it has {len(text)} characters: `offset` is 0 to {len(text) - 1}.")
    end = min(len(text), offset + limit)
    more = f"; offset={end} for more" if end < len(text) else ""
    return f"{named}characters {offset}-{end} of {len(text)}{more}\n{text[offset:end]}"


def _chosen(held: Sequence[Held], id: Any, nth: Any) -> tuple[Held, str]:
    if not held:
        raise _Sorry("There is no tool answer in this conversation yet.")
    if isinstance(id, str) and isinstance(nth, (str, type(None))) and nth in (None, "", "latest") and id.rpartition("#")[2].isdecimal():
        base, _, digits = id.rpartition("#")
        if all(one.place.call_id != id for one in held):
            id, nth = base, int(digits[:9])
    same = [one for one in held if one.place.call_id == id]
    if not same:
        raise _Sorry(_listing(held, id))
    if nth in (None, "", "latest"):
        chosen = same[-1]
    else:
        number = _integer(nth)
        fitting = [one for one in same if one.place.nth == number]
        if not fitting:
            raise _Sorry(f"`{_short(id)}` came back {len(same)} times: `nth` is 1 to {len(same)}, or latest.")
        chosen = fitting[0]
    return chosen, f" (answer {chosen.place.nth} of {len(same)})" if len(same) > 1 else ""


def _listing(held: Sequence[Held], id: Any) -> str:
    counts: dict[str, tuple[str, int]] = {}
    for one in reversed(held):  # the newest first
        tool, count = counts.get(one.place.call_id, (one.place.tool, 0))
        counts[one.place.call_id] = tool, count + 1
    asked = id if isinstance(id, str) else ""
    near = get_close_matches(asked[:200], list(counts)[:500], 3) or [call for call, (tool, _) in counts.items() if tool == asked]
    shown = [*near, *(call for call in counts if call not in near)][:_LISTED]
    lines = [f"- `{_short(call)}`: {_short(counts[call][0])}" + (f", {counts[call][1]} answers" if counts[call][1] > 1 else "") for call in shown]
    more = [f"- and {len(counts) - len(shown)} older ones"] if len(counts) > len(shown) else []
    known = f"No tool answer here has the id `{_short(asked)}`." if asked else "Give the `tool_call_id` of the answer that you want."
    return "\n".join([f"{known} There are:", *lines, *more])


def _original(chosen: Held, archive: Archive) -> tuple[Any, str]:
    """Give what the tool returned, and what to call it; what stands in the history where that is all there is."""
    content = json.loads(stored_json(chosen.content))
    archive.flush(2.0)
    try:
        with archive.reading() as connection:
            found = find(connection, chosen.place, content)
    except (ArchiveError, sqlite3.Error):
        return content, "as it stands in this conversation (the archive cannot be read now)"
    if found.form is not None:
        return json.loads(found.form), "the original answer"
    if found.doubt or holds_mark(content):
        return content, "as it stands in this conversation (its original is not in the archive)"
    return content, "the answer"


def _at(path: Any, content: Any) -> Any:
    if not isinstance(path, str):
        raise _Sorry("`path` is a text with a JMESPath expression, as in `items[0].name`; leave it out for all of the answer.")
    value = read_json(content) if isinstance(content, str) else content
    try:
        expression = compile_expression(path)
        # An expression such as `[@,@][]|[@,@][]` doubles what it reads with every part.
        times = prod(max(1, len(node["children"])) for node in walk(parse(path)[0]) if node["type"] in ("multi_select_list", "multi_select_dict"))
        times *= prod(max(2, len(node["children"])) for node in walk(parse(path)[0]) if node["type"] == "function_expression")
    except PathError as error:
        help = f"; {error.help}" if error.help else ""
        raise _Sorry(f"`path` is no JMESPath: {error.message} at character {error.column} of `{_short(path)}`{help}.") from None
    if times * len(_text(value)) > _MUCH and times > 16:
        raise _Sorry("`path` would make too much of this answer at once: ask for less with each call.")
    found = expression.evaluate(value)
    if found is None:
        raise _Sorry(f"`{_short(path)}` finds nothing in the answer. It is {_described(value)}.")
    return found


def _described(value: Any) -> str:
    if isinstance(value, dict):
        return (
            f"an object with the keys {', '.join(_short(key) for key in list(value)[:_LISTED])}{', …' if len(value) > _LISTED else ''}"
            if value
            else "an empty object"
        )
    if isinstance(value, list):
        return (
            f"a list of {len(value)} items, the first is {_described(value[0])}"
            if value and not isinstance(value[0], list)
            else f"a list of {len(value)} items"
        )
    return f"a text of {len(value)} characters: leave out `path`" if isinstance(value, str) else "a single value: leave out `path`"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return dump(value)
    except ValueError:  # NaN, in a history that another program wrote
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _places(text: str, wanted: Any, offset: int, limit: int) -> str:
    if not isinstance(wanted, str):
        raise _Sorry("`find` is the text to look for.")
    places = [match.span() for match in re.compile(re.escape(wanted[:1000]), re.IGNORECASE).finditer(text)]
    ahead = [place for place in places if place[0] >= offset]
    if not ahead:
        before = f" from character {offset} on ({len(places)} times before)" if places else ""
        return f"`{_short(wanted)}` does not stand in it{before}. It has {len(text)} characters."
    lines: list[str] = []
    used = until = shown = 0
    for start, end in ahead:
        if end > until:
            if used >= limit:
                break
            first, until = max(0, start - _AROUND), min(len(text), end + _AROUND, start + limit)
            lines.append(f"at {start}: {text[first:until]}")
            used += until - first
        shown += 1
    more = f"; offset={ahead[shown][0]} for more" if shown < len(ahead) else ""
    times = "once" if len(places) == 1 else f"{len(places)} times"
    return f"`{_short(wanted)}` stands {times} in its {len(text)} characters{more}\n" + "\n".join(lines)


def _number(arguments: Mapping[str, Any], name: str, default: int, meaning: str, least: int = 0) -> int:
    value = arguments.get(name)
    number = default if value is None else _integer(value)
    if number is None or number < least:
        raise _Sorry(f"`{name}` cannot be {_short(str(value))}: {meaning}.")
    return number


def _integer(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,15}", value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"
