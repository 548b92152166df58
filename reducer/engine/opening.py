"""Open a return for a rule: the texts on the way of its steps as what they contain, and lists without their markers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reducer import markers
from reducer.engine.place import Place, Work
from reducer.engine.plan import Opened, as_it_is, build, holds_texts, open_live
from reducer.formats import parse, parse_nested
from reducer.paths import Chain, names_of
from reducer.rules import Rule
from reducer.rules.texts import TextPaths
from reducer.values import MAX_DEPTH, is_media, plain

_CONTAINERS = frozenset({dict, list})
_SCALARS = frozenset({str, int, float, bool, type(None)})
_FLAT = _SCALARS - {str} | {dict}


def open_return(content: Any) -> Opened | None:
    """Open a content as a whole; None for one that rules never change. Raises `Unreducible`."""
    if type(content) is str:
        parsed = parse(content)
        if parsed is None:
            return Opened(content, as_it_is)
        value, format = parsed
        if type(value) not in _CONTAINERS:
            inner = open_live(value)
            return Opened(inner.value, lambda new: format.write(inner.write(new)), least=inner.least)
        return Opened(value, format.write, format.is_json, format.least)
    if is_media(content):
        return None
    top = open_live(content)
    return top if type(top.value) in (str, list, dict) else None


def seen_by(way: TextPaths | None, content: Any) -> Any:
    """Return a content as the steps of a rule with this way see it, in plain JSON types. Raises `Unreducible`."""
    top = open_return(content)
    if top is None:
        return plain(content)
    if way is not None and type(top.value) is not str:
        open_texts(Place(top.value, None, top, 0, None), way)
    return plain(build(top.value, top.inside.get(0), seen=True))


def open_texts(place: Place, way: TextPaths, everything: bool = False) -> None:
    """Open the texts on a way below a place; with `everything` all that are JSON."""
    everything = everything or way.all
    value = place.value
    if type(value) is list:
        below = way.of_items()
        if below is not None and (everything or not _is_flat(value, below)):
            for index in place.indices():
                _open_child(place, index, below, everything)
        elif everything:
            for index in place.indices():
                _open_child(place, index, None, everything)
    elif type(value) is dict and not is_media(value):
        for key in value if way.every is not None or everything else way.names.keys() & value.keys():
            _open_child(place, key, way.names.get(key, way.every), everything)


def _open_child(place: Place, key: Any, way: TextPaths | None, everything: bool) -> None:
    if way is None and not everything:
        return
    way = way or _EVERYTHING
    value = place.value[key]
    if type(value) is str and (everything or way.here or way.all):
        parsed = parse_nested(value)
        if parsed is None:
            return
        inner, format = parsed
        # Media that `unwrap` takes out of its text would become real, and it takes JSON alone.
        if not _fits(inner, MAX_DEPTH - place.depth - 1, way.here) or not (way.here or format.is_json):
            return
        if type(inner) in _CONTAINERS:
            opened = Opened(inner, format.write, format.is_json, format.least)
        else:
            node = open_live(inner)
            opened = Opened(node.value, lambda new: format.write(node.write(new)), least=node.least)
        place.make().inside[key] = opened
    elif type(value) in _SCALARS:
        return
    open_texts(place.child(key), way, everything)


_EVERYTHING = TextPaths({}, None, None, False, True)


def _is_flat(items: list[Any], way: TextPaths) -> bool:
    """Return whether these are objects without a text to open, which is asked at C speed: most lists are."""
    return not way.names and way.every is None and not way.all and _FLAT.issuperset(map(type, items))


def _fits(value: Any, depth: int, media: bool) -> bool:
    """Return whether a value has at most `depth` levels, and no media items unless they may be there."""
    if type(value) not in _CONTAINERS:
        return True
    if depth < 0 or (not media and is_media(value)):
        return False
    items = value.values() if type(value) is dict else value
    return _SCALARS.issuperset(map(type, items)) or all(_fits(item, depth - 1, media) for item in items)


def leave_out_markers(work: Work, rule: Rule) -> None:
    """Leave out the marker that an earlier pass appended to a list that this rule shortens."""
    root = work.root()
    if rule.max_chars is not None:
        _leave_out_everywhere(root, work)
        return
    for step in rule.steps:
        names = names_of(step.path.shape)
        if step.op.reaches_down:
            for place in along(root, names):
                _leave_out_everywhere(place, work)
        for below in step.op.shortens():
            for place in along(root, (*names, *below)):
                _leave_out(place, work)


def along(place: Place, names: Chain) -> Iterator[Place]:
    """Yield the lists and objects at a chain of keys; `*` is any key, and every item of a list on the way counts."""
    value = place.value
    if type(value) is list and (names or type(value[0] if value else None) is list):
        for index in place.indices():
            if type(value[index]) not in _SCALARS:
                yield from along(place.child(index), names)
    elif not names:
        yield place
    elif type(value) is dict and not is_media(value):
        for key in value if names[0] == "*" else [names[0]] if names[0] in value else []:
            if type(value[key]) not in _SCALARS or type(place.node) is not None:
                yield from along(place.child(key), names[1:])


def _leave_out_everywhere(place: Place, work: Work) -> None:
    _leave_out(place, work)
    for child in place.children():
        if type(child.value) in _CONTAINERS:
            _leave_out_everywhere(child, work)


def _leave_out(place: Place, work: Work) -> None:
    value = place.value
    if type(value) is not list or len(value) < 2 or type(value[-1]) is not str or value[-1][:2] != markers.PREFIX:
        return
    marker = markers.read_item(value[-1], work.reads)
    if marker is not None and holds_texts(value, place.node):
        node = place.make()
        if node.earlier is None:
            node.earlier = marker
            work.marked = True
            node.kept = range(len(value) - 1)
