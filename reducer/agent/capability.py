"""The capability that reduces each tool return when it is first sent to the model."""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic_ai import __version__
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import FunctionToolset

from reducer import Reducer
from reducer.agent.notices import Reduction
from reducer.agent.processor import Rules, history_processor
from reducer.agent.recall import INSTRUCTION, recall_tools
from reducer.archive import Archive

# The hook whose changes to a request no later hook can make persistent: an own one from 2.64 on, and until 2.53 the one that ran after
# the history was stored. In between, `wrap_model_request` stands around the hooks that may store what it was given.
_PREPARES = hasattr(AbstractCapability, "prepare_model_request")
_WRAPS = not _PREPARES and tuple(map(int, __version__.split(".")[:2])) < (2, 54)


@dataclass
class ReduceToolReturns(AbstractCapability[Any]):
    """A capability that reduces tool returns by `rules`: rule files, a folder of them, or a `Reducer`.

    With `persist` the history of the run is reduced with the request; without, only what the model is sent, which PydanticAI 2.54 to
    2.63 cannot do. With `instructions` the model is told what the rules for the agent's tools leave out. `on_reduce` and
    `telemetry` are those of `history_processor`. An `archive`, or the path of one, takes the originals of what is reduced, and gives
    the model the tool `recall_tool_return` to read them. Raises `RuleError` for rules that cannot be used, `ArchiveError` for such an
    archive, `UserError` for what this version of PydanticAI cannot do.

    An agent has one of them: two with the same `id` are refused unless they are equal. In PydanticAI 1, which does not compare
    ids, both reduce.
    """

    rules: str | Path | Rules
    _: KW_ONLY
    persist: bool = True
    instructions: bool = True
    on_reduce: Callable[[Reduction], None] | None = None
    telemetry: bool = True
    archive: str | Path | Archive | None = None
    id: str | None = "reduce-tool-returns"
    _reduce: Callable[[list[ModelMessage]], list[ModelMessage]] = field(init=False, repr=False, compare=False)
    _reducer: Reducer | None = field(init=False, repr=False, compare=False)
    _archive: Archive | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (self.persist or _PREPARES or _WRAPS):
            raise UserError(f"ReduceToolReturns(persist=False) needs PydanticAI 2.64, or one before 2.54: {__version__} may store what the model is sent")
        loaded = Reducer.load(self.rules) if isinstance(self.rules, (str, Path)) else self.rules
        self._reducer = loaded if isinstance(loaded, Reducer) else None
        self._archive = Archive(self.archive) if isinstance(self.archive, (str, Path)) else self.archive
        self._reduce = history_processor(loaded, on_reduce=self.on_reduce, telemetry=self.telemetry, archive=self._archive)

    @classmethod
    def from_spec(cls, rules: str, persist: bool = True, instructions: bool = True, telemetry: bool = True, archive: str | None = None) -> ReduceToolReturns:
        """Make the capability from an agent spec file: `- ReduceToolReturns: rules/`."""
        return cls(rules, persist=persist, instructions=instructions, telemetry=telemetry, archive=archive)

    @classmethod
    def combine(cls, capabilities: Sequence[AbstractCapability[Any]]) -> AbstractCapability[Any]:
        """Give one of two that are equal. Raises `UserError` for others: which rules come first would be a guess."""
        if any(other != capabilities[0] for other in capabilities):
            raise UserError(
                "an agent has one ReduceToolReturns: give it all rule files, as in ReduceToolReturns(Reducer.load('rules', 'more')), "
                "or give each its own `id` to have both reduce, one after the other"
            )
        return capabilities[-1]

    def get_instructions(self) -> Any:
        """Give what tells the model, in the same words in every request of a run, what the rules for its tools leave out."""
        return self._told if self.instructions and self._reducer is not None else None

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Give the tool that reads the archive, if there is one."""
        return None if self._archive is None else recall_tools(self._archive)

    async def _told(self, ctx: RunContext[Any]) -> str | None:
        # Asynchronous, though it waits for nothing: PydanticAI calls other functions in a thread.
        reducer = self._reducer
        told = None if reducer is None else reducer.instructions(_tools(ctx)) or None
        return f"{told}\n{INSTRUCTION}" if told and self._archive is not None else told

    async def before_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> ModelRequestContext:
        """Reduce the stored history and the request, when `persist` is on."""
        if self.persist:
            before, sent = list(ctx.messages), request_context.messages
            alike = len(before) == len(sent) and all(map(operator.is_, before, sent))
            after = self._reduce(before)
            # A message that stands in both must stay one object: PydanticAI knows the current request by its identity.
            if not all(map(operator.is_, before, after)):
                ctx.messages[:] = after
                new = {id(old): message for old, message in zip(before, after, strict=True)}
                sent = [new.get(id(message), message) for message in sent]
                request_context.messages = sent
            if not alike:
                request_context.messages = self._reduce(sent)
        return request_context

    if _WRAPS:

        async def wrap_model_request(
            self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: Callable[[ModelRequestContext], Awaitable[ModelResponse]]
        ) -> ModelResponse:
            """Reduce the request alone, when `persist` is off. This version stored the history before."""
            if not self.persist:
                request_context = replace(request_context, messages=self._reduce(request_context.messages))
            return await handler(request_context)

    async def prepare_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> ModelRequestContext:
        """Reduce the request alone, when `persist` is off. No later hook can make this change the stored history."""
        if not self.persist:
            request_context.messages = self._reduce(request_context.messages)
        return request_context


def _tools(ctx: RunContext[Any]) -> list[str] | None:
    """Give the names of the tools that answer the model in this step; None where PydanticAI does not tell, before 1.87."""
    tools = getattr(getattr(ctx, "tool_manager", None), "tools", None)
    return None if tools is None else [name for name, tool in tools.items() if tool.tool_def.kind != "output"]
