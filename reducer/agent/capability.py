"""The capability that reduces each tool return when it is first sent to the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext

from reducer.agent.processor import Rules, history_processor


@dataclass
class ReduceToolReturns(AbstractCapability[Any]):
    """A capability that reduces tool returns by `rules`: rule files, a folder of them, or a `Reducer`.

    With `persist` the history of the run is reduced with the request; without, only what the model is sent, which needs
    PydanticAI 2.64 or later. Raises `RuleError` for rules that cannot be used, `UserError` for what PydanticAI cannot do.
    """

    rules: str | Path | Rules
    _: KW_ONLY
    persist: bool = True
    id: str | None = "reduce-tool-returns"
    _reduce: Callable[[list[ModelMessage]], list[ModelMessage]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.persist and not hasattr(AbstractCapability, "prepare_model_request"):
            raise UserError("ReduceToolReturns(persist=False) needs PydanticAI 2.64: this version stores what the model is sent")
        self._reduce = history_processor(self.rules)

    @classmethod
    def from_spec(cls, rules: str, persist: bool = True) -> ReduceToolReturns:
        """Make the capability from an agent spec file: `- ReduceToolReturns: rules/`."""
        return cls(rules, persist=persist)

    async def before_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> ModelRequestContext:
        """Reduce the stored history and the request, when `persist` is on."""
        if self.persist:
            before = list(ctx.messages)
            after = self._reduce(before)
            # A message that stands in both must stay one object: PydanticAI knows the current request by its identity.
            new = {id(old): message for old, message in zip(before, after, strict=True) if old is not message}
            if new:
                ctx.messages[:] = after
            request_context.messages = self._reduce([new.get(id(message), message) for message in request_context.messages])
        return request_context

    async def prepare_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> ModelRequestContext:
        """Reduce the request alone, when `persist` is off. No later hook can make this change the stored history."""
        if not self.persist:
            request_context.messages = self._reduce(request_context.messages)
        return request_context
