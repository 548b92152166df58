"""`drop_dangling`: drop items that refer to removed items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field

from reducer.operations.fields import MARK, Mark
from reducer.operations.fields import Place as PathField
from reducer.operations.op import Example, Op, enumerated, items_of, marked
from reducer.paths import Chain, names_of
from reducer.plan import Place
from reducer.values import shown


class DropDangling(Op):
    """Drop items whose key has no counterpart at a path of the return, such as edges of removed nodes."""

    accepts = frozenset({list})
    examples = (
        Example(
            "edges of nodes that do not exist",
            {"path": "edges", "drop_dangling": {"source": "nodes[*].id", "target": "nodes[*].id"}},
            {"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}, {"source": 1, "target": 9}]},
            {"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]},
        ),
    )

    drop_dangling: Annotated[dict[str, PathField], Field(min_length=1)]
    mark: Mark = MARK

    def apply(self, place: Place) -> None:
        wanted = []
        for key, path in self.drop_dangling.items():
            found = place.work.root().find(path)
            wanted.append((key, set(map(_scalar, found))))
        place.keep_items_that(lambda item: _refers(shown(item), wanted))

    def describe(self, place: str) -> str:
        wanted = enumerated((f"`{key}` is not in `{path.text}`" for key, path in self.drop_dangling.items()), "or")
        return f"drops {items_of(place)} whose {wanted}{marked(self.mark)}"

    def shortens(self) -> Iterable[Chain]:
        return ((),)

    def reads(self) -> Iterable[tuple[Chain, Chain]]:
        return [((), (key,)) for key in self.drop_dangling]

    def reads_return(self) -> Iterable[Chain]:
        return tuple(names_of(path.shape) for path in self.drop_dangling.values())


def _scalar(place: Place) -> Any:
    value = shown(place.json)
    return None if type(value) in (dict, list) else value


def _refers(item: Any, wanted: list[tuple[str, set[Any]]]) -> bool:
    if type(item) is not dict:
        return True
    for key, known in wanted:
        value = shown(item.get(key))
        if value is not None and type(value) not in (dict, list) and value not in known:
            return False
    return True
