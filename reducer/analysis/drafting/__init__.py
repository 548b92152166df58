"""Drafting: from tool returns to the text of a rule file.

`draft_rule` drafts the rule of one tool from the shape of its answers. `learn` takes recorded histories, whose later
messages show which values agents used, and `drafts` writes the rules that it found. Both produce `Draft`s.
"""

from reducer.analysis.drafting.evidence import Recording, Score, recorded, total
from reducer.analysis.drafting.from_answers import BIG, ENOUGH, Trial, draft_rule
from reducer.analysis.drafting.from_histories import Learned, ToolDraft, drafts, is_writable, learn
from reducer.analysis.drafting.rule_text import Draft, file_names

__all__ = ["BIG", "ENOUGH", "Draft", "Learned", "Recording", "Score", "ToolDraft", "Trial"]
__all__ += ["draft_rule", "drafts", "file_names", "is_writable", "learn", "recorded", "total"]
