"""Why a step found nothing: what is in the data where its path ends, and the key that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from reducer.operations.fields import Key, Target
from reducer.paths import Chain, Path, PathError, compile_path, names_of
from reducer.paths.written import path_text
from reducer.rules import Step

_MAX_VALUES = 200
"""Values at one level that are searched for keys."""
_MAX_NAMED = 6
_MIN_LENGTH = 3
_MISSPELLED = 0.8
"""The similarity from which a key is a misspelling of another, rather than an optional key that is absent."""
_TYPES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}
_PLURAL: dict[type, str] = {dict: "objects", list: "lists", str: "texts"}


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that a step names and the data lacks: its `place`, or a `key` that it keeps, drops or reads.

    `text` is as in the rule, `nearest` the most similar key in the data or empty, `help` a clause that says what there
    is.
    """

    what: Literal["place", "key"]
    text: str
    nearest: str
    help: str

    def __str__(self) -> str:
        return f"`{self.text}` found nothing{f'; {self.help}' if self.help else ''}"


class Nothing(NamedTuple):
    """Why a path finds nothing, and the path that was probably meant; both empty if it finds something."""

    message: str
    path: str


# --- the keys and the place of a step


def missing(step: Step, before: Any, arrived: Any, places: int) -> tuple[tuple[Missing, ...], frozenset[str]]:
    """Return what `step` did not find in `before`, the return after the earlier steps, and which of its keys it found.

    `arrived` is the return before all steps, `places` the number of places that the step found.
    """
    if places:
        return _keys(step, before)
    text = step.path.text
    nearest, help = _place(step, before)
    if before is not arrived and not step.path.find(before) and step.path.find(arrived):
        nearest, help = "", "an earlier step removed it"
    return (Missing("place", text, nearest, help),), frozenset()


def _keys(step: Step, before: Any) -> tuple[tuple[Missing, ...], frozenset[str]]:
    """Look for the keys that a step keeps, drops or reads. Keys may be optional: only a misspelled one is missing.

    What `sort_by` and the like read is always missing if it is absent.
    """
    named = [(chain, text, False) for text, chain in _named(step)]
    named += [(chain, ".".join(chain), True) for chain in _read(step)]
    values = step.path.find(before)[:_MAX_VALUES] if named else ()
    lost, seen = dict[Missing, None](), set[str]()
    for chain, text, is_read in named:
        keys, depth = _end(values, chain)
        if depth == len(chain):
            seen.add(text)
        elif keys:
            beside = {other[depth] for other, _, _ in named if other[:depth] == chain[:depth] and len(other) > depth}
            others = [key for key in keys if key not in beside]
            nearest = _nearest(chain[depth], others) if is_read else near(chain[depth], others, _MISSPELLED)
            if nearest or is_read:
                help = f"the nearest key is `{nearest}`" if nearest else f"there are {_the_keys(keys)}"
                lost[Missing("key", text, nearest, help)] = None
    return tuple(lost), frozenset(seen)


def _named(step: Step) -> Iterable[tuple[str, Chain]]:
    # In any field of any operation, keys and targets name keys of its place.
    for _, values in step.op:
        for item in values if type(values) is tuple else ():
            if isinstance(item, Key):
                yield item.text, item.chain
            elif isinstance(item, Target) and item.key is not None:
                yield item.text, (*(names_of(item.lists.shape) if item.lists else ()), *item.key.chain)


def _read(step: Step) -> Iterable[Chain]:
    for lists, chain in step.op.reads():
        if chain and "*" not in (*lists, *chain):
            yield (*lists, *chain)


def _end(values: Sequence[Any], chain: Chain) -> tuple[Iterable[str], int]:
    """Follow a chain of keys through objects and items of lists; return the keys at its end, and its length."""
    for depth, name in enumerate(chain):
        objects = [item for value in values for item in _inside(value, "each") or [value] if type(item) is dict]
        found = [item[name] for item in objects if name in item]
        if not found:
            return dict.fromkeys(key for item in objects for key in item), depth
        values = found[:_MAX_VALUES]
    return (), len(chain)


def near(name: str, keys: Iterable[str], similarity: float = 0.7) -> str:
    """Return the key most similar to `name`, ignoring case; empty if none is similar enough."""
    folded = {key.casefold(): key for key in keys}
    found = get_close_matches(name.casefold(), folded, 1, similarity)
    return folded[found[0]] if found else ""


def _nearest(name: str, keys: Iterable[str]) -> str:
    """Return the key that was probably meant: a similar one, or a longer or shorter form."""
    known = list(keys)
    found = near(name, known)
    if found or len(name) < _MIN_LENGTH:
        return found
    wanted = name.casefold()
    forms = [key for key in known if len(key) >= _MIN_LENGTH]
    forms = [key for key in forms if key.casefold().startswith(wanted) or wanted.startswith(key.casefold())]
    return max(forms, key=len, default="")


def _place(step: Step, value: Any) -> tuple[str, str]:
    found = _walk(step.path, value)
    if found.nearest or found.help:
        meant = f"; did you mean `{found.path}`?" if found.path and not found.nearest else ""
        return found.nearest, f"{found.help}{meant}"
    wanted = " and ".join(sorted(_PLURAL[kind] for kind in step.op.accepts))
    return "", f"there is {_described(found.values)}, and `{step.op.verb()}` works on {wanted}"


# --- where a path ends


def explain(path: Path | str, content: Any) -> Nothing:
    """Return why a path finds nothing in a JSON value, and the path that was probably meant, which finds something.

    Raises `PathError` for a text that is no path.
    """
    path = compile_path(path) if isinstance(path, str) else path
    if path.find(content):
        return Nothing("", "")
    found = _walk(path, content)
    help = f"there is no `{path.text}`" if found.nearest and found.path else found.help
    meant = f"; did you mean `{found.path}`?" if found.path else ""
    return Nothing((help or f"`{path.text}` finds null only") + meant, found.path)


class _End(NamedTuple):
    """Where a path ends too early, in words; the nearest key, the path probably meant, and the values at its end."""

    help: str
    nearest: str = ""
    path: str = ""
    values: Sequence[Any] = ()


def _walk(path: Path, value: Any, tries: int = 3) -> _End:
    values: Sequence[Any] = [value]
    # `[]` is `each` and `flatten`; the items of inner lists are searched in any case.
    tokens = [
        token for before, token in pairwise((("root",), *path.shape)) if (before[0], token[0]) != ("each", "flatten")
    ]
    written = [_written(token) for token in tokens]
    for number, token in enumerate(tokens):
        kind = token[0]
        if kind == "field":
            found = [item[token[1]] for item in values if type(item) is dict and item.get(token[1]) is not None]
        elif kind == "index":
            found = [item[token[1]] for item in values if type(item) is list and -len(item) <= token[1] < len(item)]
        else:
            found = [below for item in values for below in _inside(item, kind)]
        if not found:
            done = "".join(written[:number]).removeprefix(".")
            nearest, help, instead = _why(token, values, done)
            meant = ("".join((*written[:number], new, *written[number + 1 :])).removeprefix(".") for new in instead)
            return _End(help, nearest, next(filter(None, (_finding(text, value, tries) for text in meant)), ""))
        values = found[:_MAX_VALUES]
    if path.filters and not path.find(value):
        return _End("its filter holds for no item")
    return _End("", values=values)


def _written(token: tuple[Any, ...]) -> str:
    if token[0] == "field":
        return f".{path_text([token[1]])}"
    if token[0] in ("filter", "only"):
        return f"[?{token[1].text}]"
    if token[0] == "index":
        return f"[{token[1]}]"
    return ".*" if token[0] == "values" else "[*]"


def _finding(text: str, value: Any, tries: int) -> str:
    """Return a path if it finds something, otherwise what may be meant by it, `tries` times; empty if nothing is."""
    try:
        path = compile_path(text)
    except PathError:
        return ""
    if path.find(value):
        return text
    return _walk(path, value, tries - 1).path if tries else ""


def _inside(value: Any, kind: Any) -> Sequence[Any]:
    if kind == "values":
        return list(value.values())[:_MAX_VALUES] if type(value) is dict else []
    if type(value) is not list:
        return []
    return [inner for item in value[:_MAX_VALUES] for inner in (item if type(item) is list else [item])]


def _why(token: tuple[Any, ...], values: Sequence[Any], done: str) -> tuple[str, str, list[str]]:
    """Return the nearest key, what is at `done` in words, and what the path may contain instead of `token`."""
    at = f"`{done}`" if done else "the return"
    first = values[0] if values else None
    objects = [value for value in values if type(value) is dict]
    if token[0] == "field" and objects:
        return _no_key(str(token[1]), objects, at)
    if token[0] == "field" and type(first) is list:
        key = f".{path_text([str(token[1])])}"
        asked = key if done else key.removeprefix(".")
        return "", f"{at} is a list, so `{asked}` finds nothing there", [f"[*]{key}", f"[*][*]{key}", f"[*].*{key}"]
    if token[0] == "index" and type(first) is list and first:
        return "", f"{at} has {len(first):,} item{'s' * (len(first) > 1)}", []
    if token[0] == "values" and not objects and type(first) is list and first:
        return "", f"{at} is a list, so `.*` finds nothing there", ["[*]", "[*].*"]
    if token[0] != "values" and objects:
        lists = [key for key in list(objects[0])[:_MAX_NAMED] if type(objects[0][key]) is list]
        return "", f"{at} is an object, no list", ["", ".*", *(f".{path_text([key])}[*]" for key in lists)]
    if type(first) is str and not done:
        return "", "the return is a text that contains no JSON", []
    return "", f"{at} is {_described(values) if any(values) else 'empty'}", []


def _no_key(name: str, objects: Sequence[dict[str, Any]], at: str) -> tuple[str, str, list[str]]:
    keys = dict.fromkeys(key for value in objects for key in value)
    key = f".{path_text([name])}"
    if name in keys:
        return "", f"`{name}` is null there", []
    if nearest := _nearest(name, keys):
        return nearest, f"the nearest key is `{nearest}`", [f".{path_text([nearest])}"]
    if not keys:
        return "", f"{at} is an empty object", []
    if sum(type(item) is dict and name in item for value in objects[:_MAX_NAMED] for item in value.values()) > 1:
        return "", f"{at} has {_the_keys(keys)}", [f".*{key}"]
    below = [
        f".{path_text([above])}{way}{key}"
        for above in list(keys)[:_MAX_VALUES]
        for way in ("", "[*]", ".*")
        if any(
            type(item) is dict and name in item
            for value in objects[:_MAX_NAMED]
            for item in _reached(value.get(above), way)
        )
    ]
    return "", f"{at} has {_the_keys(keys)}", below


def _reached(value: Any, way: str) -> Sequence[Any]:
    return [value] if not way else _inside(value, "values" if way == ".*" else "each")


def _the_keys(keys: Iterable[str]) -> str:
    known = list(keys)
    more = f" and {len(known) - _MAX_NAMED:,} more" if len(known) > _MAX_NAMED else ""
    return f"the keys {', '.join(f'`{key}`' for key in known[:_MAX_NAMED])}{more}"


def _described(values: Iterable[Any]) -> str:
    return " or ".join(dict.fromkeys(_TYPES.get(type(value), "something else") for value in values))
