"""What rules did to tool returns and what they cost, as data; tests of rules, and drafting.

`look.look` takes rules and a stored history and returns what each step did to each return; `measures` what that cost
the agent; `rule_tests` runs inline tests; `drafting` writes rules. The views in `cli` print all of it.
"""
