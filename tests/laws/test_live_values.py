"""Law 11 for one content: live values of any type reduce to what their stored form reduces to."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, create_model

from reducer.engine import reduce_content
from reducer.values import dump, is_media, plain
from tests.helpers import compiled
from tests.laws.strategies import cases, laws


class Aliased(BaseModel):
    """A model whose JSON for people has other names than the stored one."""

    model_config = ConfigDict(populate_by_name=True)


def alive(value: Any, draw: Any) -> Any:
    """Make a live value that is stored as `value`."""
    if is_media(value):
        return value
    choice = draw(st.integers(0, 3))
    if isinstance(value, list):
        items = [alive(item, draw) for item in value]
        return tuple(items) if choice == 0 else items
    if isinstance(value, dict):
        fields = {key: alive(item, draw) for key, item in value.items()}
        if choice == 0 and fields and all(key.isidentifier() for key in fields):
            return dataclasses.make_dataclass("Record", fields)(**fields)
        if choice == 1 and fields and all(key.isidentifier() and key not in dir(BaseModel) for key in fields):
            model = create_model(
                "Model", __base__=Aliased, **{key: (Any, Field(alias=f"{key}Alias")) for key in fields}
            )
            return model(**fields)
        if choice == 2:
            return {int(key) if key.isdigit() else key: item for key, item in fields.items()}
        return fields
    if isinstance(value, str) and value and choice == 0:
        return enum.Enum("Word", {"ONE": value}).ONE  # type: ignore[attr-defined]
    if value == "2024-03-01":
        return datetime.date(2024, 3, 1)
    return float("nan") if value is None and choice == 0 else value


@laws
@given(cases, st.data())
def test_law_11_live_values_reduce_as_their_stored_form(case: Any, data: Any) -> None:
    _, ruleset, content = case
    live = alive(content, data.draw) if not isinstance(content, str) else content
    before = dump(plain(live))
    result = reduce_content(ruleset, "t", live)
    assert dump(plain(result)) == dump(plain(reduce_content(ruleset, "t", plain(live))))
    assert dump(plain(live)) == before, "nothing is changed in place"


def test_what_stays_is_the_same_object() -> None:
    kept, gone = Aliased(), Aliased()
    ruleset = compiled({"version": 1, "tool": "t", "steps": [{"path": "items", "limit": 1}]})
    assert ruleset is not None
    result = reduce_content(ruleset, "t", {"items": [kept, gone], "other": (1, 2)})
    assert result["items"][0] is kept
    assert result["other"] == (1, 2)


Word = enum.Enum(
    "Word",
    {
        "LONG": "seen at 192.0.2.1 and again at the gate near the hall where the others stood",
        "SHORT": "the the",
        "LENGTHY": "seen at 192.0.2.1 " + "word " * 60,
    },
)


@dataclasses.dataclass
class Edge:
    """A live item."""

    source: int
    label: Any


@pytest.mark.parametrize(
    ("rule", "live"),
    [
        (
            {"preserve": ["ip"], "steps": [{"path": "texts", "limit": 2}]},
            {"texts": [Word.SHORT, Word.SHORT, "the", Word.LONG]},
        ),
        ({"steps": [{"path": "note", "truncate": 8}]}, {"note": Word.LONG, "more": [Word.LONG]}),
        ({"steps": [{"path": "item", "compact": True}]}, {"item": {"a": float("nan"), "b": Word.SHORT, "c": 0}}),
        (
            {"keys": "all", "preserve": ["ip"], "steps": [{"path": "edges", "limit": 1}]},
            {"edges": [Edge(1, ""), Edge(2, ""), Edge(3, "192.0.2.1")]},
        ),
        # The ladder cuts the text before it takes the item that the text stands in.
        (
            {
                "preserve": ["ip"],
                "max_chars": 50,
                "steps": [{"drop": "[?risk == 'high']"}, {"drop": ["id"], "preserve": []}],
            },
            [{"id": 0}, {"n": 1}, {"n": 2}, {"n": 3, "note": Word.LENGTHY}],
        ),
    ],
)
def test_live_values_that_were_once_reduced_otherwise(rule: dict[str, Any], live: Any) -> None:
    ruleset = compiled({"version": 1, "tool": "t", **rule})
    assert ruleset is not None
    result = reduce_content(ruleset, "t", live)
    assert result is not live
    assert dump(plain(result)) == dump(reduce_content(ruleset, "t", plain(live)))
