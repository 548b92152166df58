"""Inside an agent: a history processor, and a capability, that reduce each tool return when it is first sent to the model."""

from reducer.agent.capability import ReduceToolReturns
from reducer.agent.notices import Reduction
from reducer.agent.processor import Rules, history_processor
from reducer.agent.recall import recall_tools
from reducer.archive import Archive, ArchiveError

__all__ = ["Archive", "ArchiveError", "ReduceToolReturns", "Reduction", "Rules", "history_processor", "recall_tools"]
