"""Reduces tool returns inside a PydanticAI agent before they are first sent to the model.

`ReduceToolReturns(rules)` is a capability. `history_processor(rules)` returns a function for
`Agent(history_processors=[…])` or `ProcessHistory(…)`. `recall_tools(archive)` lets the model read originals.
"""

from reducer.agent.capability import ReduceToolReturns
from reducer.agent.originals import recall_tools
from reducer.agent.processor import history_processor
from reducer.agent.telemetry import Reduction
from reducer.archive import Archive, ArchiveError

__all__ = ["Archive", "ArchiveError", "ReduceToolReturns", "Reduction", "history_processor", "recall_tools"]
