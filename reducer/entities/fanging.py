"""Write addresses, domains, URLs and e-mail addresses defanged, so that no program makes a link of them, or without."""

from __future__ import annotations

import re
from collections.abc import Callable

from reducer.entities import Entity, scan
from reducer.entities.escapes import decoded
from reducer.entities.folding import HOST, fold, undefanged, with_letters

_TYPES = ("ipv4", "ipv6", "domain", "url", "email")
_DOT = re.compile(r"\.(?=\w)")
_COLON = re.compile(r"(?<=.):")  # not the first of `::1`: a backslash before `[:]` would belong to it


def rewritten(text: str, write: Callable[[Entity], str]) -> str:
    """Return a text with each host, address, URL and e-mail address as `write` returns it."""
    parts: list[str] = []
    done = 0
    for entity in scan(text, _TYPES):
        if entity.start >= done:
            parts += (text[done : entity.start], write(entity))
            done = entity.end
    parts.append(text[done:])
    return "".join(parts)


def refanged(entity: Entity) -> str:
    """Return the value of an entity without defanging, otherwise as written."""
    value = decoded(entity.value)[0]
    folded = fold(value)
    plain = with_letters(undefanged(folded)[0], value, folded)
    head, separator, rest = plain.partition("://")
    if entity.type != "url" or not separator:
        return plain
    scheme = entity.canonical.partition("://")[0]
    head = head.replace("x", "t").replace("X", "T")
    return f"{head if head.lower() == scheme else scheme}://{rest}"


def defanged(entity: Entity) -> str:
    """Return the value of an entity as `hxxps://evil[.]com/a.php`, `203[.]0[.]113[.]7`, `bob[@]evil[.]com`."""
    plain = refanged(entity)
    if entity.type == "ipv6":
        return _COLON.sub("[:]", plain)
    before, host, after = HOST.match(plain).groups()  # type: ignore[union-attr]
    if entity.type != "url":
        before = before.replace("@", "[@]")
    elif before.lower().startswith("http"):
        before = before[:4].replace("t", "x").replace("T", "X") + before[4:]
    return before + _DOT.sub("[.]", host) + after
