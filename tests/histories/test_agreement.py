"""Law 11 with real rules: a history reduced as objects and then stored is the stored history reduced."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_ai.messages import ImageUrl, ModelMessagesTypeAdapter, ModelRequest, ToolReturnPart

from reducer import Reducer
from tests.histories.test_live import AT, Risk, Word, dumped, part, request

RULES = """
version: 1
tool: explore
steps:
  - path: nodes
    limit: 2
    sort_by: score
    order: desc
    always_keep: risk == 'high as can be'
  - path: nodes
    keep: [id, score, risk, seen, links]
  - path: nodes[*].links
    limit: 1
  - path: "*"
    truncate: 30
"""
EVERYTHING = "version: 1\ntool: '*'\nsteps:\n  - truncate: 300\nmax_chars: 2000\n"


class NodeModel(BaseModel):
    id: int
    score: float
    risk: Any = None
    seen: date = date(2026, 1, 2)
    links: Any = None
    raw: str = "raw text that is left out"


@dataclass
class NodeData:
    id: int
    score: float
    risk: Any = None
    seen: Any = date(2026, 1, 2)
    links: Any = ()
    raw: str = "raw text that is left out"


class GraphModel(BaseModel):
    nodes: list[Any]
    note: str = "a note that is longer than thirty characters"


FIELDS = {
    "id": st.integers(0, 9),
    "score": st.sampled_from([0.5, 1e-7, 2.5e-5, 1e22, float("nan"), 3.0]),
    "risk": st.sampled_from(["low", None, Risk.HIGH, Word.HIGH]),
    "links": st.lists(st.integers(), max_size=3)
    | st.tuples(st.integers(), st.text(max_size=2))
    | st.just(frozenset({1})),
}
NODES = st.one_of(
    st.fixed_dictionaries(FIELDS),
    st.fixed_dictionaries(FIELDS).map(OrderedDict),
    st.fixed_dictionaries(FIELDS).map(lambda fields: NodeModel(**fields)),
    st.fixed_dictionaries(FIELDS).map(lambda fields: NodeData(**fields)),
    st.fixed_dictionaries(FIELDS).map(lambda fields: {**fields, 1: "one", date(2026, 1, 2): b"two"}),
)
LISTS = st.lists(NODES, max_size=5)
CONTENTS = st.one_of(
    LISTS.map(lambda nodes: {"nodes": nodes, "note": "a note that is longer than thirty characters"}),
    LISTS.map(lambda nodes: {"nodes": tuple(nodes), "seen": date(2026, 1, 2)}),
    LISTS.map(lambda nodes: GraphModel(nodes=nodes)),
    LISTS.map(lambda nodes: {"nodes": nodes, "picture": ImageUrl(url="https://x.example/y.png")}),
    LISTS.map(lambda nodes: (nodes, {"nodes": nodes})),
)


@pytest.fixture(scope="module")
def reducer(tmp_path_factory: pytest.TempPathFactory) -> Reducer:
    folder = tmp_path_factory.mktemp("rules")
    (folder / "explore.yaml").write_text(RULES)
    (folder / "everything.yaml").write_text(EVERYTHING)
    return Reducer.load(folder)


@given(content=CONTENTS)
def test_live_and_stored_agree_under_real_rules(reducer: Reducer, content: Any) -> None:
    messages = [request(part(content))]
    stored = dumped(messages)
    live = reducer.reduce(messages)
    event("changed" if live[0] is not messages[0] else "unchanged")
    assert dumped(live) == reducer.reduce_json(stored)
    again = reducer.reduce(live)
    assert again[0] is live[0]


def test_some_nodes_go(reducer: Reducer) -> None:
    nodes = [NodeModel(id=number, score=number, risk=Risk.HIGH if number == 0 else "low") for number in range(5)]
    (message,) = reducer.reduce([ModelRequest([ToolReturnPart("explore", GraphModel(nodes=nodes), "c", timestamp=AT)])])
    assert [node["id"] for node in message.parts[0].content["nodes"]] == [0, 3, 4]
    assert "raw" not in message.parts[0].content["nodes"][0]


@pytest.mark.parametrize(("references", "least"), [(False, 40), (True, 20)])
def test_real_histories_agree_under_real_rules(reducer: Reducer, data: Path, references: bool, least: int) -> None:
    changed = 0
    for file in sorted((data / "histories").glob("*/*.json"))[::8]:
        messages = ModelMessagesTypeAdapter.validate_json(file.read_bytes())
        stored = dumped(messages)
        live = reducer.reduce(messages, references)
        assert dumped(live) == reducer.reduce_json(stored, references)
        changed += sum(new is not old for new, old in zip(live, messages, strict=True))
    assert changed > least
