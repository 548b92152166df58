"""The prefix of requests never changes, so that a provider can cache it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.usage import UsageLimits

from reducer.agent import history_processor
from tests.agent.agents import ARTICLES, FORMS, PROMPT, analyst, history_capability, reducing, script


@pytest.fixture
def both(rules: Path) -> Path:
    """Return a folder with rules for `deep_research` and `explore`."""
    (rules / "explore.yaml").write_text("version: 1\ntool: explore\nsteps: [{path: nodes, limit: 2}]\npreserve: []\n")
    return rules


def requests(capability: Any, count: int) -> list[str]:
    """Run an agent with this number of requests, and return them as JSON."""
    asked = script(*(("status", "deep_research", "explore")[number % 3] for number in range(1, count)))
    made = analyst(asked, capability, instructions="You are an analyst.")
    made.run_sync(PROMPT, usage_limits=UsageLimits(request_limit=None))
    assert len(asked.received) == count
    assert len(set(asked.tools)) == 1
    return [sent.decode() for sent in asked.received]


def changed_prefixes(sent: list[str]) -> int:
    """Count the requests that do not start with the previous request without its closing bracket."""
    return sum(not after.startswith(before[:-1]) for before, after in pairwise(sent))


@pytest.mark.parametrize("form", FORMS)
def test_no_prefix_of_fifty_requests_changes(form: str, both: Path) -> None:
    sent = requests(reducing(form, both), 50)
    assert changed_prefixes(sent) == 0
    assert ("shortened by fixed rules" in sent[0]) == (form != "processor")
    assert ARTICLES[0] in sent[-1]
    assert ARTICLES[3] not in sent[-1]


def test_reducing_by_age_changes_prefixes(both: Path) -> None:
    """The count detects changes: if only the newest return stays unreduced, every prefix changes."""

    def by_age(messages: list[Any]) -> list[Any]:
        reduced = history_processor(both)(messages)
        return [*reduced[:-1], messages[-1]]

    assert changed_prefixes(requests(history_capability(by_age), 8)) == 4
