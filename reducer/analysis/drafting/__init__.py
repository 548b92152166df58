"""Drafting: from tool returns to the text of a rule file.

`draft_rule` takes answers of one tool and drafts by what they look like. `learn` takes recorded histories, whose later
messages are the evidence of what agents used; `drafts` writes what it returns. Both return `Draft`s.
"""

from reducer.analysis.drafting.evidence import Recording, Score, recorded, total
from reducer.analysis.drafting.from_answers import BIG, ENOUGH, Proposal, draft_rule
from reducer.analysis.drafting.from_histories import Learned, ToolDraft, drafts, is_writable, learn
from reducer.analysis.drafting.rule_text import Draft, file_names

__all__ = ["BIG", "ENOUGH", "Draft", "Learned", "Proposal", "Recording", "Score", "ToolDraft"]
__all__ += ["draft_rule", "drafts", "file_names", "is_writable", "learn", "recorded", "total"]
