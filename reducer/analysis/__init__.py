"""Analyse rules: what they do to recorded histories, what that costs the agent, and whether their tests pass.

`look.look` takes a ruleset and a stored history and returns the effect of each step on each tool return, as data that
the views in `cli` print. `measures` measures the cost, `rule_tests` runs inline tests, `drafting` writes rules.
"""
