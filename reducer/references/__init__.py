"""References: values from tool returns that the agent uses in later messages.

A reference is a distinctive value that occurs in a tool return, and later in a text or in tool-call arguments of the
agent. It is novel if no other message contained it before, so that tool returns are its only source.
`references` takes the events of a history and returns its references; `Mentions` finds values that are used later.
"""

from __future__ import annotations

from reducer.references.history import Call, Event, Mentions, Prompt, Reference, Response, Returned, references
from reducer.references.search import is_bounded, occurrences, searched, searcher
from reducer.references.values import NUMBER

__all__ = ["NUMBER", "Call", "Event", "Mentions", "Prompt", "Reference", "Response", "Returned"]
__all__ += ["is_bounded", "occurrences", "references", "searched", "searcher"]
