"""Contents that hold structure in texts, and rules that go into them: those of `strategies`, written in other notations
and one text further in.
"""

from __future__ import annotations

import ast
import json
from typing import Any

from hypothesis import strategies as st

from reducer.values import is_media
from tests.helpers import compiled, decoded, decoded_nested
from tests.laws.strategies import KINDS, rule_files, storable

_WRAPPERS: dict[str, tuple[str, ...]] = {
    "": ("",),
    "body": ("body",),
    "content": ("content[0].text", "content[*].text", "content[].text"),
}


def wrapped(key: str, text: Any) -> Any:
    """Put a text where a path of `_WRAPPERS` leads."""
    if key == "content":
        return {"content": [{"type": "text", "text": text}, {"type": "text", "text": "no structure"}], "isError": False}
    return {"body": text, "status": 200} if key else text


def _python(value: Any, rows: int) -> Any:
    """Give a value with some of its lists as tuples: those of other lengths than multiples of `rows`, all for 0."""
    if isinstance(value, list):
        items = [_python(item, rows) for item in value]
        return items if rows and len(items) % rows == 0 else tuple(items)
    return {key: _python(item, rows) for key, item in value.items()} if isinstance(value, dict) else value


@st.composite
def _texts(draw: st.DrawFn, value: Any) -> Any:
    """Write a value as a text in some notation; a value that has none there as JSON."""
    notation = draw(st.sampled_from(("json", "indented", "python", "python", "quoted", "headed", "lines")))
    if notation == "python":
        return str(_python(value, draw(st.integers(0, 3))))
    if (
        notation == "lines"
        and isinstance(value, list)
        and len(value) > 1
        and all(isinstance(item, (dict, list)) for item in value)
    ):
        return "\n".join(map(json.dumps, value))
    if notation == "headed":
        return f"Retrieved {len(str(value))} entries:\n" + draw(st.sampled_from((json.dumps(value), str(value))))
    text = json.dumps(value, indent=1 if notation == "indented" else None)
    return json.dumps(text) if notation == "quoted" else text


def _within(path: str, place: str) -> str:
    if not path or place == "@":
        return path or place
    return path + place if place.startswith("[") else f"{path}.{place}"


def _moved(step: dict[str, Any], path: str) -> dict[str, Any]:
    moved = {**step, "path": _within(path, step["path"])}
    if "drop_dangling" in step:
        moved["drop_dangling"] = {key: _within(path, place) for key, place in step["drop_dangling"].items()}
    return moved


@st.composite
def _cases(draw: st.DrawFn) -> tuple[dict[str, Any], Any, Any]:
    kind = draw(st.sampled_from(("object", "object", "records")))
    key = draw(st.sampled_from(("", "body", "content", "content")))
    path = draw(st.sampled_from(_WRAPPERS[key]))
    rule = draw(rule_files(kind))
    steps = [_moved(step, path) for step in rule["steps"]]
    if draw(st.integers(0, 3)) == 0:
        steps.insert(
            draw(st.integers(0, len(steps))), {"path": draw(st.sampled_from(("@", _within(path, "@")))), "unwrap": True}
        )
    # The text is structure to all steps if one goes into it: to none it is a text that is cut as such.
    steps.append({"path": _within(path, "nothing[*].at_all"), "compact": True})
    content = wrapped(key, draw(_texts(storable(draw(KINDS[kind])))))
    rule = {**rule, "steps": steps}
    return rule, compiled(rule), draw(st.sampled_from((content, json.dumps(content), str(content)))) if key else content


nested_cases = _cases().filter(lambda case: case[1] is not None)
"""A rule as data, its ruleset, and a content with structure in a text that the rule goes into."""


def deep(value: Any) -> Any:
    """Return a content with every text in it that has structure as the value that it expresses."""
    if isinstance(value, str):
        found = decoded_nested(value)
        return value if found is value else deep(found)
    if isinstance(value, list):
        return [deep(item) for item in value]
    return (
        {key: deep(item) for key, item in value.items()} if isinstance(value, dict) and not is_media(value) else value
    )


def deeply(content: Any) -> Any:
    """Return what a content expresses: the text of all of it, and those within."""
    return deep(decoded(content))


def has_lists(text: Any) -> bool | None:
    """Tell whether a list stands in a text that holds a Python literal; None for any other value."""
    try:
        value = ast.literal_eval(text) if isinstance(text, str) else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    waiting = [value]
    for item in waiting:
        if isinstance(item, list):
            return True
        waiting += item if isinstance(item, tuple) else item.values() if isinstance(item, dict) else ()
    return None if isinstance(value, (str, int, float, type(None))) else False
