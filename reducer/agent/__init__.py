"""Reduce tool returns inside a PydanticAI agent, when they are first sent to the model.

`history_processor(rules)` returns a function for `Agent(history_processors=[…])` or `ProcessHistory(…)`;
`ReduceToolReturns(rules)` is a capability. With an archive, `recall_tools` lets the model read originals.
"""

from reducer.agent.capability import ReduceToolReturns
from reducer.agent.originals import recall_tools
from reducer.agent.parts import Rules
from reducer.agent.processor import history_processor
from reducer.agent.telemetry import Reduction
from reducer.archive import Archive, ArchiveError

__all__ = ["Archive", "ArchiveError", "ReduceToolReturns", "Reduction", "Rules", "history_processor", "recall_tools"]
