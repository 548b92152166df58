"""Drafting: from tool returns to the text of a rule file.

`draft_rule` drafts the rule of one tool from the shape of its answers, and returns it as a `Draft`.
"""

from reducer.analysis.drafting.from_answers import BIG, ENOUGH, Trial, draft_rule
from reducer.analysis.drafting.rule_text import Draft, file_names

__all__ = ["BIG", "ENOUGH", "Draft", "Trial", "draft_rule", "file_names"]
