"""Uses the public API with the types that it promises. `.ci/run` checks this file against the installed package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reducer import Reducer
from reducer.agent import Archive, ReduceToolReturns, Reduction, history_processor
from reducer.entities import scan


def reduced(rules: Reducer, data: bytes) -> bytes:
    content: Any = rules.reduce_content("search", {"rows": []})
    explained = rules.explain_content("search", content)
    sizes: tuple[int, int] = explained.before, explained.after
    return rules.reduce_json(data) if sizes[0] else b""


def indicators(text: str) -> list[tuple[str, int]]:
    return [(one.canonical, one.start) for one in scan(text, {"domain"})]


def agent(report: Callable[[Reduction], None], archive: Archive) -> tuple[Callable[..., Any], ReduceToolReturns]:
    return history_processor("rules", on_reduce=report), ReduceToolReturns("rules", archive=archive)
