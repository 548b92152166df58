"""The engine reduces one tool return with the rule that applies to it.

`reduce_content` takes a tool name and the content of a return, and returns the reduced content, or the same object if
nothing changes. `attempt` also reports what each step did; `apply_once` makes one pass only.
"""

from __future__ import annotations

from reducer.engine.outcome import Outcome, StepRun
from reducer.engine.run import apply_once, attempt, prepare, reduce_content
from reducer.plan.edits import Edit
from reducer.plan.protected import Protected

__all__ = ["Edit", "Outcome", "Protected", "StepRun", "apply_once", "attempt", "prepare", "reduce_content"]
