"""Rules and contents for tests, and the shipped rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import yaml

from reducer.engine import Outcome, attempt, reduce_content
from reducer.entities import scan
from reducer.formats import decode, parse_nested, plain
from reducer.rules import Rule, Ruleset, check_rules, compile_rules, read_rules
from reducer.values import is_media

# --- rules


def rule_file(rule: dict[str, Any], name: str = "rule.yaml") -> tuple[str, str]:
    """Return the file name and the text of a rule for the tool `t`. The data needs no `version`."""
    return name, json.dumps({"version": 1, "tool": "t", **rule})


def rule_files(rule: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the files of a rule, and of the rules in its key `others`, in the order in which they are tried."""
    alone = {key: value for key, value in rule.items() if key != "others"}
    others = [rule_file(other, f"rule{number}.yaml") for number, other in enumerate(rule.get("others", ()), 2)]
    return [rule_file(alone), *others]


def compiled(rule: dict[str, Any]) -> Ruleset | None:
    """Compile a rule given as data, perhaps with others, or return None if one of them is rejected."""
    return compile_rules(rule_files(rule))[0]


def rules(**rule: Any) -> Ruleset:
    """Compile a rule given as data, perhaps with others, and fail if one of them is rejected."""
    ruleset, problems = compile_rules(rule_files(rule))
    assert ruleset is not None, problems
    return ruleset


def reduced(rule: dict[str, Any], content: Any) -> Any:
    """Reduce a content with one rule given as data."""
    return reduce_content(rules(**rule), "t", content)


def fixed_point(ruleset: Ruleset, content: Any) -> Outcome:
    """Reduce a content without a fault to a result that does not change again."""
    outcome = attempt(ruleset, "t", content)
    assert outcome.fault == ""
    assert reduce_content(ruleset, "t", outcome.content) is outcome.content
    return outcome


def ruleset_of(*tools: str) -> Ruleset:
    """Return one rule per tool name or glob."""
    texts = [(f"{n}.yaml", f"version: 1\ntool: '{tool}'\nsteps: [{{limit: 2}}]\n") for n, tool in enumerate(tools)]
    ruleset, problems = compile_rules(texts)
    assert ruleset is not None, problems
    return ruleset


def forced(rule: Rule) -> Ruleset:
    """Return a ruleset in which `rule` applies to every tool."""
    return Ruleset((rule,), lambda tool: (rule,))


# --- contents


def decoded(content: Any) -> Any:
    """Return the structure in a text, or any other content unchanged."""
    return decode(content) if isinstance(content, str) else content


def decoded_nested(text: str) -> Any:
    """Return the structure in a nested text, or the text if it contains none."""
    found = parse_nested(text)
    return text if found is None else plain(found[0])


def nested(levels: int, value: Any = 1, key: str = "") -> Any:
    """Return a value in so many lists, or in objects with one key."""
    for _ in range(levels):
        value = {key: value} if key else [value]
    return value


def texts(value: Any) -> Iterator[str]:
    """Yield every text and key in a value, except those in media items."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and not is_media(value):
        for key, item in value.items():
            yield key
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def entities(value: Any, types: frozenset[str] | None = None) -> dict[str, None]:
    """Return the entities in the texts of a content, as written."""
    return {entity.value: None for text in texts(value) for entity in scan(text, types)}


def is_bounded(value: str, text: str) -> bool:
    """Return whether `value` is in `text`, bounded by characters that belong to no word.

    The letter of the escape in the JSON text `\\n192.0.2.1` does not count, and `\\u00e4` is the letter that it writes.
    """
    value, text = unescaped(value), unescaped(text)
    letter = "A-Za-z0-9\u00c0-\u058f"
    escapes = r"(?<=\\[nrt])|(?<=\\x[0-9A-Fa-f]{2})"
    before = f"(?:(?<![{letter}])|{escapes})" if value[0].isalnum() else ""
    after = f"(?![{letter}])" if value[-1].isalnum() else ""
    return value in text and re.search(before + re.escape(value) + after, text) is not None


def unescaped(text: str) -> str:
    """Return a text with its escapes `\\u00e4` decoded, in UTF-16 units."""
    return re.sub(r"\\{1,4}u([0-9A-Fa-f]{4})", lambda match: chr(int(match[1], 16)), text)


WORDS = ("the traffic was seen again last night near größer 🙂 it's " + r'"x" a\b end.').split()
ENTITIES = ("185.220.101.34", "1[.]2[.]3[.]4", "evil-updates.com", "CVE-2024-3400", "APT28", "T1059.001")


def prose(chosen: Random, words: int) -> str:
    """Return a text with this number of words. A few of them are entities."""
    return " ".join(chosen.choice(ENTITIES if chosen.random() < 0.03 else WORDS) for _ in range(words))


# --- tables


def table(test: str, name: str) -> Any:
    """Read a YAML file next to a test module, which is given as `__file__`."""
    return yaml.safe_load(Path(test).with_name(name).read_text("utf-8"))


# --- the shipped rules

RULES = Path(__file__).parents[1] / "rules"
RULESET, PROBLEMS = check_rules(RULES)
_GENERAL = read_rules(RULES / "general")
BY_FILE: dict[str, Rule] = {
    Path(rule.file).stem: rule for ruleset in (RULESET, _GENERAL) for rule in (ruleset.rules if ruleset else ())
}
PRODUCTS = {
    "virustotal_file": ("virustotal__vt_test_file", "virustotal_v3__vt3_file_1", "virustotal_v3__vt3_search"),
    "virustotal_network": ("virustotal__vt_test_domain", "virustotal__vt_test_ipv4"),
    "shodan_host": ("shodan__host_*",),
    "misp_event": ("misp__event_*",),
    "stix_bundle": ("stix__bundle_apt1",),
    "grype_scan": ("anchore_grype__*",),
    "aws_security_hub": ("aws_securityhub__getfindings",),
    "defender_incidents": ("microsoft365defender__fetch_response",),
}
"""The recorded answers for each rule for a product. The other rules are tested with samples and histories."""
