"""Inside an agent: a history processor, and a capability, that reduce each tool return when it is first sent to the model."""

from reducer.agent.capability import ReduceToolReturns
from reducer.agent.processor import Rules, history_processor

__all__ = ["ReduceToolReturns", "Rules", "history_processor"]
