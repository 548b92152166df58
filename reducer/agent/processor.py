"""The history processor that reduces each tool return when it is first sent to the model."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from weakref import ref

from pydantic_ai.messages import ModelMessage, ToolReturnPart

from reducer import Reducer
from reducer.history import reduced_part, with_parts

_logger = logging.getLogger("reducer")


class Rules(Protocol):
    """What reduces one content: a `Reducer`, or anything with its method."""

    def reduce_content(self, tool: str, content: Any) -> Any:
        """Reduce the content of one return of `tool`; the same object if nothing changes."""


def history_processor(rules: str | Path | Rules) -> Callable[[list[ModelMessage]], list[ModelMessage]]:
    """Make a history processor from rule files, a folder of them, or a `Reducer`.

    The function it gives is for `Agent(history_processors=[…])` in PydanticAI 1 and `ProcessHistory(…)` in 2. It changes nothing
    in place, gives a new list, looks at each tool return once in its life, and may run in several threads at once. A fault leaves
    the return as it was and is logged once for each tool and kind. Raises `RuleError` for rules that cannot be used, here and
    never later.
    """
    loaded = Reducer.load(rules) if isinstance(rules, (str, Path)) else rules
    reduce = partial(loaded.reduce_content, on_fault=lambda *fault: log(*fault)) if isinstance(loaded, Reducer) else loaded.reduce_content
    # What was looked at, by identity: a part cannot be hashed. An id leaves with its part, before another object can take it.
    # Each step below is one operation on a dict or set, so that threads need no lock; at worst two of them reduce one part.
    settled: set[int] = set()
    changed: dict[int, ToolReturnPart] = {}
    alive: dict[int, ref[ToolReturnPart]] = {}
    logged: set[tuple[str, str]] = set()

    def forget(key: int, _: object) -> None:
        settled.discard(key)
        changed.pop(key, None)
        alive.pop(key, None)

    def watch(part: ToolReturnPart) -> int:
        key = id(part)
        alive[key] = ref(part, partial(forget, key))
        return key

    def look(part: Any) -> Any:
        if type(part) is not ToolReturnPart or id(part) in settled:
            return part
        new = changed.get(id(part))
        if new is not None:
            return new
        try:
            new = reduced_part(part, reduce)
        except Exception as error:
            new = part
            # The kind and the place only: the text of an error may hold what the tool returned.
            log(str(part.tool_name), f"{type(error).__name__} at {_place(error)}")
        settled.add(watch(new))
        if new is not part:
            changed[watch(part)] = new
        return new

    def log(tool: str, fault: str) -> None:
        if (tool, fault) not in logged:
            logged.add((tool, fault))
            _logger.error("a return of %s stays as it was: %s", tool, fault)

    def reduce_tool_returns(messages: list[ModelMessage]) -> list[ModelMessage]:
        result = list(messages)
        for index, message in enumerate(result):
            for part in message.parts:
                if type(part) is ToolReturnPart and id(part) not in settled:
                    result[index] = with_parts(message, look)
                    break
        return result

    return reduce_tool_returns


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "an unknown place" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
