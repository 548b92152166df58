"""The annotated tree of a return: what it marks as kept is the result, and all of it is the original."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given

from reducer.analysis.tree import tree
from reducer.engine import Outcome, attempt
from reducer.formats import decode, unwrapped
from reducer.histories.stored import returns
from tests.helpers import decoded_nested, nested, rules
from tests.laws.strategies import cases, laws


def tree_of(content: Any, *steps: dict[str, Any], **keys: Any) -> Any:
    return tree(content, attempt(rules(steps=steps, **keys), "t", content))["node"]


# --- examples

LONG = "word " * 40
CUT = {"truncate": {"head": 9, "tail": 9}}
MARKER = {"marker": " …[186 more characters]"}
FOUND = {"text": "192.0.2.1", "type": "ipv4"}, {"text": "evil-updates.com", "type": "domain"}
NUMBERS = [{"raw": str(10**40)}, {"raw": "0.5"}, {"raw": "-0.0"}, True, None, {"raw": str(-(2**53))}]
UNWRAPPED = {"items": [{"keys": ["b"], "items": [1]}], "opened": True, "unwrapped": 1}


def cut(items: list[Any], left: int, *ranges: list[int], **more: Any) -> dict[str, Any]:
    """Return a list or an object of which some items are removed."""
    return {"items": items, "left": left, "ranges": [*ranges], **more}


def cut_keys(left: int) -> dict[str, Any]:
    """Return the object `{"a": 1, "b": 2}` of which the first step removed `b`."""
    return cut([1, 2], left, [1, 2, 1, 0], keys=["a", "b"])


OPENED = cut([1, 2], 1, [1, 2, 1, 0], opened=True)


def gone(text: str) -> dict[str, Any]:
    """Return a piece of a text that the first step removed."""
    return {"text": text, "step": 1, "kept": 0}


@pytest.mark.parametrize(
    ("content", "steps", "node"),
    [
        ([1, 2, 3, 4], [{"limit": {"head": 1, "tail": 1}}], cut([1, 2, 3, 4], 2, [1, 3, 1, 0])),
        # A removed item shows what an earlier step removed from it.
        ([{"a": 1, "b": 2}] * 2, [{"drop": "b"}, {"limit": 1}], cut([cut_keys(1), cut_keys(0)], 1, [1, 2, 2, 0])),
        # The root keeps its keys, so everything in the value is removed.
        ({"a": [1, 2]}, [{"drop": "a"}], {"keys": ["a"], "items": [cut([1, 2], 0, [0, 2, 1, 0])]}),
        ({"a": LONG}, [{"drop": "a"}], {"keys": ["a"], "items": [{"text": [gone(LONG)]}]}),
        (LONG, [CUT], {"text": ["word word", MARKER, gone(LONG[9:-5]), "word "]}),
        ("From 192.0.2.1 and evil-updates.com", [], {"text": ["From ", FOUND[0], " and ", FOUND[1]]}),
        ({"a": "[1, 2]"}, [{"path": "a", "limit": 1}], {"keys": ["a"], "items": [OPENED]}),
        ({"a": '[{"b": 1}]'}, [{"unwrap": True}], {"keys": ["a"], "items": [UNWRAPPED]}),
        ([10**40, 0.5, -0.0, True, None, -(2**53)], [], {"items": NUMBERS}),
        ("[Decimal('1.5'), {1, 2}]", [], {"items": [{"raw": "Decimal('1.5')"}, {"items": [1, 2]}], "opened": True}),
        (None, [], None),
        ("", [], ""),
    ],
)
def test_nodes(content: Any, steps: list[dict[str, Any]], node: Any) -> None:
    assert tree_of(content, *(steps or [{"path": "nothing", "limit": 1}])) == node


def test_thin_items_are_kept_items_with_the_step_that_removed_them() -> None:
    rows = [{"n": 1, "note": "quiet"}, {"n": 2, "note": "seen CVE-2024-3400", "raw": "x"}]
    node = tree_of({"rows": rows}, {"path": "rows", "drop": "raw"}, {"path": "rows", "limit": 1}, preserve=["cve"])
    seen = {"text": ["seen ", {"text": "CVE-2024-3400", "type": "cve"}]}
    thin = cut([2, seen, "x"], 1, [0, 1, 2, 0], [2, 3, 1, 0], keys=["n", "note", "raw"])
    assert node["items"][0] == cut([{"keys": ["n", "note"], "items": [1, "quiet"]}, thin], 2, [1, 2, 2, 1])


def test_restored_text_and_markers_of_lists() -> None:
    texts = ["a long sentence without news. " * 9, "APT28 was here. " * 20, "nothing. " * 40]
    node = tree_of(texts, {"limit": 1}, preserve=["threat_actor"])
    assert (node["ranges"], node["marker"]) == ([[1, 3, 1, 0]], "…[2 more items; mentions APT28]")
    again = tree_of([texts[0], node["marker"]], {"limit": 1}, preserve=["threat_actor"])
    mentioned = ["…[2 more items; mentions ", {"text": "APT28", "type": "threat_actor"}, "]"]
    assert again["items"][1:] == [{"text": mentioned}]
    assert "ranges" not in again


def test_a_tree_names_the_rule_and_its_steps() -> None:
    outcome = attempt(rules(steps=[{"path": "a", "limit": 1}], max_chars=50), "t", {"a": ["word " * 9] * 9})
    found = tree({"a": ["word " * 9] * 9}, outcome)
    steps = [{"number": 1, "name": "limit a", "line": 1}, {"number": 2, "name": "max_chars", "line": None}]
    assert (found["file"], found["steps"]) == ("rule.yaml", steps)
    without_rule = tree(1, attempt(rules(tool="other", steps=[{"limit": 1}]), "t", 1))
    assert without_rule == {"file": None, "steps": [], "node": 1}


@pytest.mark.parametrize(
    ("value", "node"),
    [
        pytest.param(10**5000, {"raw": "…"}, id="digits"),
        (float("nan"), {"raw": "NaN"}),
        (b"x", "eA=="),
        (object(), {"raw": "…"}),
        ((1, (2,)), {"items": [1, {"items": [2]}]}),
        (datetime(2024, 1, 2), "2024-01-02T00:00:00"),
        ({"kind": "image-url", "url": "x"}, {"keys": ["kind", "url"], "items": ["image-url", "x"]}),
    ],
)
def test_values_that_rules_do_not_read(value: Any, node: Any) -> None:
    found = tree_of({"value": value, "rows": [1, 2]}, {"path": "rows", "limit": 1})
    assert found["items"] == [node, cut([1, 2], 1, [1, 2, 1, 0])]
    assert json.dumps(found)


def test_a_content_that_is_too_deep_is_shown_to_the_level_that_rules_read() -> None:
    text = json.dumps(tree_of({"a": nested(250), "b": [1, 2]}, {"path": "b", "limit": 1}))
    assert text.endswith('{"items": [1, 2], "left": 1, "ranges": [[1, 2, 1, 0]]}]}')
    assert '{"raw": "\\u2026"}' in text


# --- laws


@dataclass(frozen=True)
class Structure:
    """The structure of a text."""

    value: Any


def joined(node: Any, after: bool, kept: bool = True) -> Any:
    """Return everything that a tree contains, or `after` the reduction what is marked as kept."""
    if type(node) is not dict:
        return node
    if "raw" in node:
        is_number = node["raw"][-1].isdigit() and "(" not in node["raw"]
        return json.loads(node["raw"]) if is_number else node["raw"]
    if "text" in node:
        runs = (run if type(run) is dict else {"text": run} for run in node["text"])
        return "".join(joined_run(run, after, kept) for run in runs)
    states = {at: bool(is_kept) for start, stop, _, is_kept in node.get("ranges", ()) for at in range(start, stop)}
    states = {at: states.get(at, kept) for at in range(len(node["items"]))}
    shown = {at: joined(item, after, states[at]) for at, item in enumerate(node["items"]) if states[at] or not after}
    if "keys" in node:
        value: Any = {joined(node["keys"][at], after=False): item for at, item in shown.items()}
    else:
        value = [*shown.values(), *([node["marker"]] if after and "marker" in node else [])]
    assert not after or len(value) == node.get("left", len(node["items"]))
    return Structure(value) if "opened" in node and not (after and "unwrapped" in node) else value


def joined_run(run: dict[str, Any], after: bool, kept: bool) -> str:
    if "marker" in run:
        return run["marker"] if after else ""
    return run["text"] if run.get("kept", kept) or not after else ""


def is_same(found: Any, value: Any, is_root: bool = False) -> bool:
    """Return whether a value equals what a tree contains. The text of a structure is compared by its structure."""
    if type(found) is Structure and is_root and type(value) in (list, dict):  # in a wrapper of MCP
        return is_same(found.value, value)
    if type(found) is Structure:
        if type(value) is not str:
            return False
        read = decode(value) if is_root else decoded_nested(value)
        # The original decides how lines end, and whether the last one does.
        lines = [text.split(end) for end in ("\n", "\r\n") for text in (value, value.removesuffix(end))]
        return any(is_same(found.value, each) for each in (lines if type(read) is str else [read]))
    if type(found) is dict and type(value) is dict:
        return [*found] == [*value] and all(is_same(item, value[key]) for key, item in found.items())
    if type(found) is list and type(value) is list:
        return len(found) == len(value) and all(map(is_same, found, value))
    return type(found) is type(value) and found == value


def removed_places(node: Any, path: tuple[Any, ...] = (), step: int = 0) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Yield the paths of items and keys in a tree, with the steps that removed them."""
    if type(node) is dict and "items" in node:
        keys = [joined(key, False) for key in node["keys"]] if "keys" in node else range(len(node["items"]))
        steps = {at: number for start, stop, number, _ in node.get("ranges", ()) for at in range(start, stop)}
        for at, (key, item) in enumerate(zip(keys, node["items"], strict=True)):
            yield (*path, key), steps.get(at, step)
            yield from removed_places(item, (*path, key), steps.get(at, step))


def check(content: Any, outcome: Outcome) -> None:
    data = json.loads(json.dumps(tree(content, outcome)))
    assert is_same(joined(data["node"], after=False), unwrapped(content), is_root=True)
    assert is_same(joined(data["node"], after=True), unwrapped(outcome.content), is_root=True)
    places = dict(removed_places(data["node"]))
    for edit in outcome.edits() if outcome.content is not content else ():
        if edit.is_restored:
            continue
        paths = [edit.path] if edit.kind == "key" else [(*edit.path, index) for index in edit.indices]
        # A text that would not be shorter stays as it was, with everything in it.
        assert {places[path] for path in paths if path in places} <= {edit.step, 0}


MIXED_LINE_ENDS = rules(steps=[{"limit": 1, "text": "lines"}]), "started\r\nstopped \n"
NO_LAST_LINE_END = rules(steps=[{"limit": 2, "text": "lines"}]), "started\n\nstopped"


@laws
@example((None, *MIXED_LINE_ENDS))
@example((None, *NO_LAST_LINE_END))
@given(cases)
def test_a_tree_contains_the_original_and_the_result(case: Any) -> None:
    _, ruleset, content = case
    outcome = attempt(ruleset, "t", content)
    event("reduced" if outcome.content is not content else "unchanged")
    check(content, outcome)


@pytest.mark.data
def test_a_tree_of_real_data_contains_the_original_and_the_result(data: Path) -> None:
    steps = [{"truncate": 120}, {"drop": ["id", "url"]}, {"limit": 3}]
    generic = rules(tool="*", steps=steps, preserve=["ioc"])
    reduced = Counter[bool]()
    for file in sorted((data / "histories").glob("*/*.json"))[::3]:
        for entry in returns(file.read_bytes()):
            outcome = attempt(generic, entry.tool, entry.content)
            check(entry.content, outcome)
            reduced[outcome.content is not entry.content] += 1
    assert reduced[True] > 100
