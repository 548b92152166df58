"""Answer a model that recalls an original: with a page, with one part, or with the places where a text occurs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reducer.archive.archive import Archive
from reducer.archive.database import ReturnId
from reducer.errors import ArchiveError, shortened
from reducer.formats.json_text import read_json
from reducer.paths import PathError, compile_path
from reducer.paths.parser import parse, walk_nodes
from reducer.values import dump, escaped, stored_json

MAX_PAGE = 20_000
"""Maximum number of characters per page. Recalled content stays in the history and is never reduced."""

DESCRIPTION = """\
Read the original of an earlier tool return of this conversation, which rules may have shortened (`…[` marks a cut).
Use `path` or `find` to read only what you need. Without `tool_call_id` it lists the tool returns."""

_short = partial(shortened, width=80)
_LISTED = 20
_CONTEXT = 120
_MAX_WORK = 50_000_000
"""Limit for the nodes of a path (a comparison counts eleven) times the characters of the content: about 2 seconds."""

HistoryReturn: TypeAlias = tuple[ReturnId, Any]
"""The id and the content of a tool return in the history of the model."""


class Arguments(BaseModel):
    """The arguments of the tool; its JSON Schema is what the model sees."""  # the model reads this, too

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool_call_id: str = Field("", description="Id of the tool call.")
    nth: int | None = Field(
        None, description="Which return, if the id occurs several times: 1 is the first. Default: the last."
    )
    path: str = Field(
        "", max_length=300, description="JMESPath of one part, without functions: `items[?risk == 'high'].name`."
    )
    find: str = Field(
        "", max_length=1000, description="Text to find, in upper or lower case; shows each place with its context."
    )
    offset: int = Field(0, ge=0, description="Character to start at.")
    limit: int = Field(4_000, ge=1, description=f"Characters to show, at most {MAX_PAGE}.")


class _Refusal(Exception):
    """Explains to the model why nothing can be shown."""


def answer(returns: Sequence[HistoryReturn], archive: Archive, arguments: Mapping[str, Any], owner: str) -> str:
    """Answer a call with any arguments; show only originals of `returns` that `owner` stored. Never raises."""
    try:
        text = _answer(returns, archive, arguments, owner)
    except _Refusal as refusal:
        text = str(refusal)
    except ValidationError as error:
        faults = [f"`{fault['loc'][0]}`: {fault['msg']}" for fault in error.errors()]
        text = f"Wrong arguments: {shortened('; '.join(faults), 500)}."
    except Exception as error:  # no arguments and no content may end the run
        text = f"This tool return cannot be read ({type(error).__name__}). Go on without it."
    return escaped(text)


def _answer(returns: Sequence[HistoryReturn], archive: Archive, arguments: Mapping[str, Any], owner: str) -> str:
    request = Arguments.model_validate({name: value for name, value in arguments.items() if value is not None})
    found, content, title = _choose(returns, request)
    content, source = _original(found, content, archive, owner)
    if request.path:
        content = _select(request.path, content, source)
        source = f"`{_short(request.path)}` in {source}"
    text = _text(content)
    title = f"{title}, {source}: "
    limit = min(request.limit, MAX_PAGE)
    if request.find:
        return title + _find(text, request.find, request.offset, limit)
    if request.offset >= len(text) > 0:
        raise _Refusal(f"{title}`offset` must be less than its {len(text)} characters.")
    end = min(len(text), request.offset + limit)
    more = f"; offset={end} for more" if end < len(text) else ""
    return f"{title}characters {request.offset}-{end} of {len(text)}{more}\n{text[request.offset : end]}"


def _choose(returns: Sequence[HistoryReturn], request: Arguments) -> tuple[ReturnId, Any, str]:
    """Return the id and the content of the tool return that the arguments name, and its title."""
    if not returns:
        raise _Refusal("There is no tool return in this conversation yet.")
    wanted = request.tool_call_id
    matching = [one for one in returns if one[0].call_id == wanted]
    times = len(matching)
    for found, content in reversed(matching):
        if request.nth in (None, found.nth):
            number = f" ({found.nth} of {times})" if times > 1 else ""
            return found, content, f"{_short(found.tool)} `{_short(wanted)}`{number}"
    if matching:
        raise _Refusal(f"The id `{_short(wanted)}` occurs {times} times: `nth` is 1 to {times}.")
    wrong = f"No tool return has the id `{_short(wanted)}`. " if wanted else ""
    tools = {one.call_id: one.tool for one, _ in reversed(returns)}  # the newest first
    lines = [f"{wrong}The tool returns of this conversation:"]
    for call_id, tool in islice(tools.items(), _LISTED):
        lines.append(f"- `{_short(call_id)}`: {_short(tool)}")
    if len(tools) > _LISTED:
        lines.append(f"- and {len(tools) - _LISTED} older ones")
    raise _Refusal("\n".join(lines))


def _original(found: ReturnId, content: Any, archive: Archive, owner: str) -> tuple[Any, str]:
    """Return the original, or the content in the history if there is none, and a name for it."""
    content = json.loads(stored_json(content))
    archive.flush(2.0)
    try:
        original = archive.find(found, content, owner)
    except ArchiveError:
        return content, "the return as in this conversation (the archive cannot be read)"
    if original.data is not None:
        return json.loads(original.data), "the original"
    if original.problem:
        return content, "the return as in this conversation (the archive does not have its original)"
    return content, "the return, which was not reduced"


def _select(path: str, content: Any, source: str) -> Any:
    """Return the value at a path, or a list if the path can lead to several. A path only selects, never computes."""
    value = read_json(content) if isinstance(content, str) else content
    if value is None:
        value = content
    try:
        places = compile_path(path)
        nodes = list(walk_nodes(parse(path)[0]))
    except PathError as error:
        hint = f"; {error.help}" if error.help else ""
        raise _Refusal(f"`path`, character {error.column} of `{_short(path)}`: {error.message}{hint}.") from None
    work = 0
    for node in nodes:
        if node["type"] in ("function_expression", "multi_select_list", "multi_select_dict"):
            raise _Refusal("`path` selects parts of the content: functions, `[a, b]` and `{a: b}` are not available.")
        if node["type"] == "literal" and isinstance(node["value"], (list, dict)):
            raise _Refusal("`path` compares with a text, a number, true, false or null only.")
        work += 11 if node["type"] == "comparator" else 1
    size = len(_text(value))
    if work * size > _MAX_WORK:
        raise _Refusal(f"`path` is too long for a content of {size} characters: use a shorter one, or read pages.")
    values = places.find(value)
    if not values:
        keys = f"; its keys are {', '.join(map(_short, list(value)[:_LISTED]))}" if isinstance(value, dict) else ""
        raise _Refusal(f"`{_short(path)}` finds nothing in {source}{keys}.")
    is_one = all(step[0] in ("field", "index") for step in places.shape)
    return values[0] if is_one else values


def _find(text: str, wanted: str, offset: int, limit: int) -> str:
    """Return the places from `offset` on where a text occurs, with context, in about `limit` characters."""
    folded, needle = _folded(text), _folded(wanted)
    lines: list[str] = []
    used = 0
    start = folded.find(needle, offset)
    while start >= 0 and used < limit:
        first, end = max(0, start - _CONTEXT), start + len(needle) + _CONTEXT
        lines.append(f"at {start}: {text[first:end]}")
        used += end - first
        start = folded.find(needle, end - len(needle) + 1)
    count = folded.count(needle)
    times = "once" if count == 1 else f"{count} times"
    after = f", not after character {offset}" if count and not lines else ""
    more = f"; offset={start} for more" if start >= 0 else ""
    return "\n".join([f"`{_short(wanted)}` occurs {times} in {len(text)} characters{after}{more}", *lines])


def _folded(text: str) -> str:
    """Return a text in lower case with the same length: `İ` is the only letter that would become two characters."""
    return text.replace("İ", "i").lower()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else dump(value)
