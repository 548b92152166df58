"""Rules: read, check and compile YAML files.

`read_rules(*sources)` takes files and folders and returns a `Ruleset`, or raises `RuleError` with all errors.
`compile_rules(texts)` takes texts and returns a `Ruleset` and the problems as data.
"""

from reducer.operations.fields import When
from reducer.rules.compile import check_rules, compile_rules, read_rules, rules_of
from reducer.rules.instructions import descriptions, instructions, introduction
from reducer.rules.model import Expect, Rule, Ruleset, Step, Test, Texts

__all__ = [
    "Expect",
    "Rule",
    "Ruleset",
    "Step",
    "Test",
    "Texts",
    "When",
    "check_rules",
    "compile_rules",
    "descriptions",
    "instructions",
    "introduction",
    "read_rules",
    "rules_of",
]
