"""What the tests of the shipped rules share: the rules, their products in the real data, and ways to look at contents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from reducer.entities import scan
from reducer.rule import Rule, Ruleset, check_rules
from tests.contents import texts

RULES = Path(__file__).parents[1] / "rules"
RULESET, PROBLEMS = check_rules(RULES)
BY_FILE: dict[str, Rule] = {Path(rule.file).stem: rule for rule in RULESET.rules} if RULESET else {}
PRODUCTS = {
    "virustotal_file": ("virustotal__vt_test_file", "virustotal_v3__vt3_file_1", "virustotal_v3__vt3_search"),
    "virustotal_domain": ("virustotal__vt_test_domain",),
    "virustotal_ip": ("virustotal__vt_test_ipv4",),
    "shodan_host": ("shodan__host_*",),
    "misp_event": ("misp__event_*",),
    "stix_bundle": ("stix__bundle_apt1",),
    "grype_scan": ("anchore_grype__*",),
    "aws_security_hub": ("aws_securityhub__getfindings",),
    "siem_incidents": ("microsoft365defender__fetch_response",),
}
"""For each rule its product's answers among the real data. The others have samples of their own, and `execute` has histories."""


def forced(rule: Rule) -> Ruleset:
    """Make a ruleset in which `rule` is for every tool."""
    return Ruleset((rule,), lambda tool: rule)


def entities(value: Any, types: frozenset[str] | None = None) -> dict[str, None]:
    """Read the entities of a content, text by text, as written."""
    return {entity.value: None for text in texts(value) for entity in scan(text, types)}


def stands(value: str, text: str) -> bool:
    """Tell whether `value` stands in `text` bounded by non-word characters."""
    return any(
        not (match.start() and text[match.start() - 1].isalnum() and value[0].isalnum())
        and not (match.end() < len(text) and text[match.end()].isalnum() and value[-1].isalnum())
        for match in re.finditer(re.escape(value), text)
    )
