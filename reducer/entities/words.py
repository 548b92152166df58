"""The lists of words that evidence, names and refanging read from `words.txt`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


@cache
def word_lists() -> dict[bytes, frozenset[bytes]]:
    """Return the lists of words in `words.txt` by their names."""
    data = re.sub(rb"(?m)^#.*", b"", files("reducer.entities").joinpath("words.txt").read_bytes())
    return {name: frozenset(words.split()) for name, words in re.findall(rb"\[(\w+)\]([^\[]*)", data)}
