"""Reduce what stands on standard input, a rule and a content as JSON, and print the result as ASCII: another process
for the law of equal bytes.
"""

import json
import sys

from reducer.engine import reduce_content
from reducer.values import dump
from tests.helpers import compiled

rule, content = json.load(sys.stdin)
ruleset = compiled(rule)
assert ruleset is not None
print(ascii(dump(reduce_content(ruleset, "t", content))))
