"""Rules: read from files, checked as a whole, compiled."""

from reducer.rule.compile import KEY_TYPES
from reducer.rule.model import Expect, Given, Rule, Ruleset, Step, Test, When
from reducer.rule.read import check_rules, compile_rules, read_rules
from reducer.rule.words import instructions, plain_words

__all__ = [
    "KEY_TYPES",
    "Expect",
    "Given",
    "Rule",
    "Ruleset",
    "Step",
    "Test",
    "When",
    "check_rules",
    "compile_rules",
    "instructions",
    "plain_words",
    "read_rules",
]
