"""Values put in the place of others in the text of a file: in the same quotes where they can stand there, and no more than what differs."""

from __future__ import annotations

import json
import re

from reducer.errors import Edit
from reducer.source.scalars import quoted, read
from reducer.source.tree import Scalar

_BARE = re.compile(r"[A-Za-z_(][^:#\[\]{},\"'`\t\n\\]*(?:\[[^:#{},\t\n]*)?")
"""What may stand without quotes: careful, so that no list or object around it matters."""


def rewritten(node: Scalar, value: str) -> tuple[Edit, ...]:
    """Give the edit that makes `value` of a scalar; none for one that goes over several lines."""
    if "\n" in node.raw or "\n" in value or node.style in ("literal", "folded"):
        return ()
    new = _as(node, value)
    old = node.raw
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return (Edit(node.line, node.column + start, len(old) - start - end, new[start : len(new) - end]),) if new != old else ()


def _as(node: Scalar, value: str) -> str:
    if node.style == "single":
        return "'" + value.replace("'", "''") + "'"
    if node.style == "double":
        # Only what JSON must escape: other characters stand as they are.
        return json.dumps(value, ensure_ascii=False)
    bare = _BARE.fullmatch(value) and value == value.strip() and not read(value)[1] and isinstance(read(value)[0], str)
    return value if bare else quoted(value)
