"""The annotated tree of a return: what it marks as kept is the result, and all of it is the original."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given

from reducer.analysis.tree import tree
from reducer.engine import Outcome, attempt
from reducer.formats import decode, parse_lines
from reducer.histories.stored import returns
from tests.helpers import decoded_nested, rules
from tests.laws.strategies import cases, laws


@dataclass(frozen=True)
class Structure:
    """The structure of a text."""

    value: Any


def side(node: Any, after: bool, kept: bool = True) -> Any:
    """Join what a tree contains before, or what is marked as kept."""
    if type(node) is not dict:
        return node
    if "raw" in node:
        try:
            return json.loads(node["raw"])
        except ValueError:
            return node["raw"]
    if "text" in node:
        runs = (run if type(run) is dict else {"text": run} for run in node["text"])
        shown = (
            run.get("marker" if after and "marker" in run else "text", "") for run in runs if wanted(run, after, kept)
        )
        return "".join(shown)
    states = {at: bool(is_kept) for start, stop, _, is_kept in node.get("ranges", ()) for at in range(start, stop)}
    states = {at: states.get(at, kept) for at in range(len(node["items"]))}
    shown = {at: side(item, after, states[at]) for at, item in enumerate(node["items"]) if states[at] or not after}
    if "keys" in node:
        value: Any = {side(node["keys"][at], False): item for at, item in shown.items()}
    else:
        value = [*shown.values(), *([node["marker"]] if after and "marker" in node else [])]
    return Structure(value) if "opened" in node and not (after and "unwrapped" in node) else value


def wanted(run: dict[str, Any], after: bool, kept: bool) -> bool:
    return bool(run.get("kept", kept) if after else "marker" not in run) or ("marker" in run and after)


def is_same(found: Any, value: Any, is_root: bool = False) -> bool:
    """Return whether a value equals what a tree contains. The text of a structure is compared by its structure."""
    if type(found) is Structure:
        if type(value) is not str:
            return False
        read = decode(value) if is_root else decoded_nested(value)
        return is_same(found.value, read if type(read) is not str else parse_lines(value)[0])
    if type(found) is dict and type(value) is dict:
        return [*found] == [*value] and all(is_same(item, value[key]) for key, item in found.items())
    if type(found) is list and type(value) is list:
        return len(found) == len(value) and all(map(is_same, found, value))
    return type(found) is type(value) and (found == value or found != found)


def check(content: Any, outcome: Outcome) -> dict[str, Any]:
    data = json.loads(json.dumps(tree(content, outcome)))
    assert is_same(side(data["node"], after=False), content, is_root=True)
    assert is_same(side(data["node"], after=True), outcome.content, is_root=True)
    return data


@laws
@given(cases)
def test_a_tree_contains_the_original_and_the_result(case: Any) -> None:
    _, ruleset, content = case
    outcome = attempt(ruleset, "t", content)
    event("reduced" if outcome.content is not content else "unchanged")
    check(content, outcome)


GENERIC = {"steps": [{"truncate": 120}, {"drop": ["id", "url"]}, {"limit": 3}], "preserve": ["ioc"]}


@pytest.mark.data
def test_a_tree_of_real_data_contains_the_original_and_the_result(data: Path) -> None:
    generic = rules(tool="*", **GENERIC)
    reduced = Counter[bool]()
    for file in sorted((data / "histories").glob("*/*.json")):
        for entry in returns(file.read_bytes()):
            outcome = attempt(generic, entry.tool, entry.content)
            check(entry.content, outcome)
            reduced[outcome.content is not entry.content] += 1
    assert reduced[True] > 500
