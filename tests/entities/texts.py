"""Texts that tempt the scanner: fragments for generated ones, and families of hostile ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

TEXTS: dict[str, Any] = json.loads(Path(__file__).with_name("texts.json").read_text(encoding="utf-8"))

tempting = st.lists(st.sampled_from(TEXTS["fragments"]), max_size=14).map("".join)
observable = st.lists(st.sampled_from(TEXTS["observables"] + TEXTS["fragments"]), max_size=12).map("".join)


def _times(piece: str, head: str = "") -> Callable[[int], str]:
    return lambda size: head + piece * (size // len(piece))


FAMILIES: dict[str, Callable[[int], str]] = {
    "base64": lambda size: "".join(random.Random(1).choices("ABCDEFGHabcdefgh0123456789+/", k=size)),
    "user of a URL": lambda size: "http://" + "a" * size + "@b.co",
    "one long host": lambda size: "a" * 200 + ".co/" + ("b" * 299 + ".co/") * (size // 303),
    **{piece: _times(piece) for piece in TEXTS["repeated"]},
    **{f"a URL and {piece}": _times(piece, "http://a.co/") for piece in TEXTS["repeated in a URL"]},
}
