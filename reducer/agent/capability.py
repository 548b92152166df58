"""The capability that reduces each tool return when it is first sent to the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic_ai import __version__
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset
from pydantic_ai.toolsets._dynamic import DynamicToolset

from reducer.agent.originals import INSTRUCTION, recall_tools
from reducer.agent.processor import Processor, RulesLike
from reducer.agent.telemetry import Reduction
from reducer.api import with_repeats
from reducer.archive import Archive
from reducer.rules import introduction

# PydanticAI does not store what these hooks change: `prepare_model_request` since 2.64 and `wrap_model_request` before
# 2.54. The versions in between have no such hook.
_PREPARES = hasattr(AbstractCapability, "prepare_model_request")
_WRAPS = not _PREPARES and tuple(map(int, __version__.split(".")[:2])) < (2, 54)


@dataclass
class ReduceToolReturns(AbstractCapability[Any]):
    """A capability that reduces tool returns.

    `rules`, `on_reduce`, `telemetry`: see `history_processor`.
    `dry_run`: change and archive nothing, give no instructions and no tool; only report what would change.
    `persist`: also reduce the stored history of the run, not only the request. PydanticAI 2.54 to 2.63 needs True.
    `instructions`: tell the model what the rules for the agent's tools leave out.
    `repeats`: leave out what an earlier return of the history shows.
    `archive`: store the originals, and give the model the tool `recall_tool_return`.
    `id`: a second `ReduceToolReturns` in the same agent needs a different id.

    Raises the errors of `history_processor`, and `UserError` for an option that this PydanticAI does not support.
    """

    rules: RulesLike
    _: KW_ONLY
    persist: bool = True
    instructions: bool = True
    on_reduce: Callable[[Reduction], None] | None = None
    telemetry: bool = True
    archive: str | Path | Archive | None = None
    dry_run: bool = False
    repeats: bool = False
    id: str | None = "reduce-tool-returns"
    _processor: Processor = field(init=False, repr=False, compare=False)
    _given: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (self.persist or _PREPARES or _WRAPS):
            versions = f"PydanticAI 2.64 or later, or one before 2.54; this is {__version__}"
            raise UserError(f"ReduceToolReturns(persist=False) needs {versions}")
        self._processor = Processor(
            self.rules,
            self.archive,
            on_reduce=self.on_reduce,
            telemetry=self.telemetry,
            dry_run=self.dry_run,
            repeats=self.repeats,
        )

    @classmethod
    def from_spec(
        cls,
        rules: str | list[str],
        persist: bool = True,
        instructions: bool = True,
        telemetry: bool = True,
        archive: str | None = None,
        dry_run: bool = False,
        repeats: bool = False,
    ) -> ReduceToolReturns:
        """Create the capability from an agent spec file: `- ReduceToolReturns: rules/`."""
        return cls(
            rules,
            persist=persist,
            instructions=instructions,
            telemetry=telemetry,
            archive=archive,
            dry_run=dry_run,
            repeats=repeats,
        )

    @classmethod
    def combine(cls, capabilities: Sequence[AbstractCapability[Any]]) -> AbstractCapability[Any]:
        """Return one of several equal capabilities. Raises `UserError` if they differ: their order is unclear."""
        if list(capabilities) != [capabilities[0]] * len(capabilities):
            raise UserError("an agent has one ReduceToolReturns: give it all rule files, or give each its own `id`")
        return capabilities[-1]

    def get_instructions(self) -> Any:
        """Return a function that returns static text about what the rules leave out."""
        if self.dry_run or not self.instructions:
            return None
        reducer, has_archive, repeats = self._processor.reducer, self._processor.archive is not None, self.repeats

        # PydanticAI calls synchronous functions in a thread.
        async def instructions(ctx: RunContext[Any]) -> str | None:
            # A conversation keeps the text that it began with, even if tools or rules change.
            for message in ctx.messages:
                given = getattr(message, "instructions", None) or ""
                for text in given.split("\n\n"):
                    if text in self._given:
                        return text
            if ctx.run_step > 1:
                return None
            tools = _tools(ctx)
            if tools is None:
                text = with_repeats(introduction(reducer.ruleset), repeats)
            else:
                text = reducer.instructions(tools, repeats)
            if not text:
                return None
            if has_archive:
                text += f"\n{INSTRUCTION}"
            self._given.add(text)
            return text

        return instructions

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the recall tool if there is an archive."""
        return None if self._processor.archive is None else recall_tools(self._processor.archive)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """If `persist` is on, reduce the stored history and the request."""
        if self.persist:
            before = [*ctx.messages]
            after = await self._processor.reduce(ctx, before)
            if after is not before:
                # PydanticAI finds the current request by identity, so a message in both lists must stay one object.
                reduced = dict(zip(map(id, before), after, strict=True))
                ctx.messages[:] = [reduced.get(id(message), message) for message in ctx.messages]
                sent = [reduced.get(id(message), message) for message in request_context.messages]
                request_context.messages = sent
            request_context.messages = await self._processor.reduce(ctx, request_context.messages)
        return request_context

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """If `persist` is on, reduce the returns that no request contained: the run ended after the tools."""
        if self.persist:
            messages = result.all_messages()
            messages[:] = await self._processor.reduce(ctx, messages)
        return result

    if _WRAPS:

        async def wrap_model_request(
            self,
            ctx: RunContext[Any],
            *,
            request_context: ModelRequestContext,
            handler: Callable[[ModelRequestContext], Awaitable[ModelResponse]],
        ) -> ModelResponse:
            """If `persist` is off, reduce only the request. This version has already stored the history."""
            if not self.persist:
                messages = await self._processor.reduce(ctx, request_context.messages)
                request_context = replace(request_context, messages=messages)
            return await handler(request_context)

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """If `persist` is off, reduce only the request. PydanticAI does not store this change."""
        if not self.persist:
            request_context.messages = await self._processor.reduce(ctx, request_context.messages)
        return request_context


def _tools(ctx: RunContext[Any]) -> set[str] | None:
    """Return the names of the agent's tools, including those that `prepare` hides from this request.

    Return None if they are not known yet.
    """
    manager = getattr(ctx, "tool_manager", None)
    if manager is None or manager.tools is None:
        return None  # PydanticAI before 1.87
    leaves: list[AbstractToolset[Any]] = []
    manager.toolset.apply(leaves.append)
    names = {name for name, tool in manager.tools.items() if tool.tool_def.kind != "output"}
    for leaf in leaves:
        if isinstance(leaf, DynamicToolset):
            return None  # it has no tools yet
        if isinstance(leaf, FunctionToolset):
            names.update(leaf.tools)  # also those that are hidden
    return names
