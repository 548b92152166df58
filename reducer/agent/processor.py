"""The history processor that reduces each tool return when it is first sent to the model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ToolReturnPart

from reducer import Reducer
from reducer.agent.durable import workflow
from reducer.agent.filing import filer
from reducer.agent.memory import Memory
from reducer.agent.notices import Found, Log, Reduction, once, place, teller
from reducer.archive import Archive
from reducer.engine import Outcome, attempt
from reducer.history import Mentioned, reduced_part, with_parts

Finder = Callable[[Any], Callable[[], frozenset[str]]]


class Rules(Protocol):
    """What reduces one content: a `Reducer`, or anything with its method."""

    def reduce_content(self, tool: str, content: Any, /) -> Any:
        """Reduce the content of one return of `tool`; the same object if nothing changes."""


def history_processor(
    rules: str | Path | Rules,
    *,
    on_reduce: Callable[[Reduction], None] | None = None,
    telemetry: bool = True,
    archive: Archive | None = None,
    references: bool = False,
) -> Callable[[list[ModelMessage]], list[ModelMessage]]:
    """Make a history processor from rule files, a folder of them, or a `Reducer`.

    The function it gives is for `Agent(history_processors=[…])` in PydanticAI 1 and `ProcessHistory(…)` in 2. It changes nothing
    in place, gives a new list, looks at each tool return once in its life, and may run in several threads at once. A copy of a
    return is looked at again. What someone writes later into a return that was seen is sent as it stands, without another look;
    where the return itself is stored whole, a new `content` counts and a change inside the old one does not. A fault leaves the
    return as it was and is logged once for each rule and kind.

    `on_reduce` is called with a `Reduction` for each return when it is reduced; an exception in it is logged once and changes
    nothing. `telemetry` gives OpenTelemetry an event and counters where a provider is set. `archive` takes the original of each return
    that is reduced; `recall_tools(archive)` lets the model read it; in a DBOS or Temporal workflow
    the first request raises `UserError` for it. Raises `RuleError` for rules that cannot be used, here and never
    later.

    `references` is for an agent that goes on with raw histories of earlier runs: what later responses in them mention stays, as with
    `Reducer.reduce`. It needs rules or a `Reducer`, else `UserError` is raised, and the reduced history must be what is stored, which it is
    with this function: of a history that comes back raw, with more responses each time, another part would stay, and no prompt cache would
    know it again. So `ReduceToolReturns`, which can leave the stored history as it is, has no such option.
    """
    loaded = Reducer.load(rules) if isinstance(rules, (str, Path)) else rules
    if references and not isinstance(loaded, Reducer):
        raise UserError("references=True needs rule files or a Reducer: what else reduces contents is not told what to protect")
    memory: Memory[ToolReturnPart] = Memory()
    seen = memory.seen
    log = once()
    tell = teller(on_reduce, telemetry, log)
    file = None if archive is None else filer(archive)

    def reduce_tool_returns(messages: list[ModelMessage]) -> list[ModelMessage]:
        if file is not None and (engine := workflow()):
            raise UserError(f"an archive is a file, and the code of a {engine} workflow does no I/O: leave out `archive` there")
        result = list(messages)
        found: list[Found] = []
        # What no response follows, as with every return of a running agent, is mentioned by none.
        last = max((number for number, message in enumerate(messages) if message.kind == "response"), default=0) if references else 0
        mentioned = Mentioned(messages)
        for index, message in enumerate(result):
            for part in message.parts:
                if type(part) is ToolReturnPart and id(part) not in seen:
                    finder = partial(mentioned.finder, index) if index < last else None
                    result[index] = with_parts(message, partial(look, found, finder))
                    break
        if found:
            if file is not None:
                file(messages, found)
            tell(found)
        return result

    def look(found: list[Found], finder: Finder | None, part: Any) -> Any:
        if type(part) is not ToolReturnPart or id(part) in seen:
            return part
        new = memory.instead(part)
        if new is None:
            outcome, new = _attempted(part, loaded, log, finder)
            memory.note(part, new)
            if new is not part:
                found.append(Found(part, new, outcome))
        return new

    return reduce_tool_returns


def _attempted(part: ToolReturnPart, rules: Rules, log: Log, finder: Finder | None) -> tuple[Outcome, ToolReturnPart]:
    outcome = Outcome(None, part.content)

    def reduce(tool: str, content: Any) -> Any:
        nonlocal outcome
        if isinstance(rules, Reducer):
            outcome = attempt(rules.ruleset, tool, content, None if finder is None else finder(content))
        else:
            outcome = Outcome(None, rules.reduce_content(tool, content))
        return outcome.content

    try:
        new, fault = reduced_part(part, reduce), outcome.fault
    except Exception as error:
        new, fault = part, place(error)
    if fault:
        rule = str(part.tool_name) if outcome.rule is None else outcome.rule.name
        log(rule, fault, f"a return of {part.tool_name} stays as it was: {fault}")
    return outcome, new
