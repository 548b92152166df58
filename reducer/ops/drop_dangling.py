"""`drop_dangling`: drop items that refer to what is not there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field

from reducer.op import Draft, Example, Op
from reducer.op.fields import Place
from reducer.op.words import enumerated, items_of
from reducer.path import Chain, names_of
from reducer.values import shown


class DropDangling(Op):
    """Drop the items whose value under a key is not among the values at a path of the return: the edges of nodes that went. An item without the key stays."""

    accepts = frozenset({list})
    examples = (
        Example(
            "edges of nodes that are gone",
            {"path": "edges", "drop_dangling": {"source": "nodes[*].id", "target": "nodes[*].id"}},
            {"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}, {"source": 1, "target": 9}]},
            {"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]},
        ),
    )

    drop_dangling: Annotated[dict[str, Place], Field(min_length=1)]

    def apply(self, value: list[Any], draft: Draft) -> list[Any]:
        known = {path.text: {shown(found) for found in path.find(draft.root) if type(found) not in (dict, list)} for path in self.drop_dangling.values()}
        wanted = [(key, known[path.text]) for key, path in self.drop_dangling.items()]
        indexes = [index for index, item in enumerate(value) if _refers(shown(item), wanted)]
        return value if len(indexes) == len(value) else draft.take_items(value, indexes)

    def tells(self, place: str) -> str:
        return f"{place} leaves out items that refer to what is left out"

    def says(self, place: str) -> str:
        wanted = enumerated((f"`{key}` is not among `{path.text}`" for key, path in self.drop_dangling.items()), "or")
        return f"takes the {items_of(place)} out whose {wanted}"

    def shortens(self) -> Iterable[Chain]:
        return ((),)

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        return [((), (key,)) for key in self.drop_dangling]

    def reads_return(self) -> Iterable[Chain]:
        return tuple(names_of(path.shape) for path in self.drop_dangling.values())


def _refers(item: Any, wanted: list[tuple[str, set[Any]]]) -> bool:
    if type(item) is not dict:
        return True
    for key, known in wanted:
        value = shown(item.get(key))
        if value is not None and type(value) not in (dict, list) and value not in known:
            return False
    return True
