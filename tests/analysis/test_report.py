"""The report as data: what was missed, what needs attention, what the views say."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer.analysis.attention import attention
from reducer.analysis.missing import near
from reducer.analysis.prices import Prices
from reducer.analysis.report import LookOptions, Report, ReturnReport, look, report, tokens
from reducer.cli.views.json_report import as_json
from reducer.rules import Ruleset, compile_rules
from reducer.screen import visible
from tests.cli.conftest import RECORDS, ROOT, history


def rules(*texts: str) -> Ruleset:
    ruleset, problems = compile_rules((f"r{number}.yaml", text) for number, text in enumerate(texts))
    assert ruleset is not None, problems
    return ruleset


def seen(text: str, *returns: tuple[str, Any]) -> Report:
    ruleset = rules(text)
    found = look(ruleset, "h.json", history(*returns), LookOptions(detailed=True))
    return report("rules", ruleset, ["h.json"], found.returns)


def one(text: str, content: Any) -> ReturnReport:
    (entry,) = seen(text, ("t", content)).returns
    return entry


def needs(text: str, *contents: Any) -> list[tuple[str, str]]:
    return [(entry.kind, entry.message) for entry in attention(seen(text, *(("t", content) for content in contents)))]


HEAD = "version: 1\ntool: t\n"

# --- what steps and returns tell


def test_sizes_add_up() -> None:
    entry = one(
        HEAD + "steps:\n  - path: records\n    limit: 5\n  - path: records\n    keep: [name]\n",
        json.dumps({"records": RECORDS}),
    )
    assert entry.status == "reduced"
    taken = sum(step.before - step.after for step in entry.steps)
    assert entry.before - entry.after == entry.rewritten + taken - entry.restored
    assert entry.rewritten > 0
    assert entry.restored == 0


@pytest.mark.parametrize(
    ("text", "content", "status", "why"),
    [
        ("steps:\n  - truncate: 50\n", "short", "unchanged", "the rule removes nothing"),
        ("when: {min_chars: 100}\nsteps:\n  - truncate: 50\n", "x" * 90, "gated", "the rule's `when` does not hold"),
        ("steps:\n  - truncate: 50\n", 3, "untouched", "its content is no text, list or object"),
    ],
)  # fmt: skip
def test_why_a_return_stays(text: str, content: Any, status: str, why: str) -> None:
    entry = one(HEAD + text, content)
    assert (entry.status, entry.why, entry.before) == (status, why, entry.after)


def test_a_second_return_with_the_same_id_has_its_number() -> None:
    data = history(("t", "a"), ("t", "b"), ids=("x", "x"))
    first, second = look(rules(HEAD + "max_chars: 100\n"), "h", data).returns
    assert (first.name, second.name) == ("x", "x#2")


def test_tools_are_in_order_of_size() -> None:
    found = seen(HEAD + "max_chars: 100\n", ("small", "a"), ("t", "b" * 50), ("large", "c" * 99))
    assert [(tool.tool, tool.calls, tool.before) for tool in found.tools] == [
        ("large", 1, 99),
        ("t", 1, 50),
        ("small", 1, 1),
    ]


@pytest.mark.parametrize(("characters", "expected"), [(0, 0), (1, 1), (4, 1), (5, 2)])
def test_tokens_are_a_quarter(characters: int, expected: int) -> None:
    assert tokens(characters) == expected


# --- what needs attention

DATA = {
    "resolutions": [{"last_seen": "2024", "host": "a"}] * 3,
    "whois": {"raw": "x" * 50},
    "count": 3,
    "none": None,
    "empty": [],
}


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("path: resolution\n    limit: 2", "`limit resolution`: `resolution` found nothing; the nearest key is `resolutions`"),
        ("path: Whois.raw\n    truncate: 20", "`truncate Whois.raw`: `Whois.raw` found nothing; the nearest key is `whois`"),
        ("path: whois.rawtext\n    truncate: 20", "`truncate whois.rawtext`: `whois.rawtext` found nothing; the nearest key is `raw`"),
        ("path: whois.zzz\n    truncate: 20", "`truncate whois.zzz`: `whois.zzz` found nothing; `whois` has the keys `raw`"),
        (
            "path: resolutions.host\n    truncate: 20",
            "`truncate resolutions.host`: `resolutions.host` found nothing; "
                "`resolutions` is a list, so `.host` finds nothing there; did you mean `resolutions[*].host`?",
        ),
        ("path: count\n    limit: 2", "`limit count`: `count` found nothing; there is a number, and `limit` works on lists"),
        ("path: none\n    limit: 2", "`limit none`: `none` found nothing; `none` is null there"),
        ("path: whois[*]\n    keep: [a]", "`keep whois[*]`: `whois[*]` found nothing; `whois` is an object, no list; did you mean `whois`?"),
        ("path: empty[*]\n    keep: [a]", "`keep empty[*]`: `empty[*]` found nothing; `empty` is empty"),
        (
            "path: \"resolutions[?host == 'z']\"\n    keep: [host]",
            "`keep resolutions[?host == 'z']`: `resolutions[?host == 'z']` found nothing; its filter holds for no item",
        ),
        ("path: resolutions\n    limit: 2\n    sort_by: last_sen", "`limit resolutions`: `last_sen` found nothing; the nearest key is `last_seen`"),
        ("path: resolutions\n    limit: 2\n    sort_by: zzz", "`limit resolutions`: `zzz` found nothing; there are the keys `last_seen`, `host`"),
        ("path: resolutions\n    keep: [host, last_sen]", "`keep resolutions`: `last_sen` found nothing; the nearest key is `last_seen`"),
        ("drop: [whoiss]", "`drop @`: `whoiss` found nothing; the nearest key is `whois`"),
    ],
)  # fmt: skip
def test_what_found_nothing(step: str, message: str) -> None:
    assert needs(f"{HEAD}steps:\n  - {step}\n", DATA) == [("no place", message)]


@pytest.mark.parametrize(
    "step",
    [
        "path: resolutions\n    limit: 2\n    sort_by: last_seen",
        "path: resolutions\n    keep: [host, last_seen, last_seens]",  # both spellings: some sources write the one
        "path: resolutions\n    keep: [host, last_seen, zzz]",  # a key that some returns have and these have not
        "path: empty\n    limit: 2\n    sort_by: anything",
        "drop: [something_else]",
    ],
)
def test_what_is_no_mistake(step: str) -> None:
    assert needs(f"{HEAD}steps:\n  - {step}\n", DATA) == []


def test_what_some_returns_have_is_no_mistake() -> None:
    text = HEAD + "steps:\n  - path: resolution\n    limit: 1\n"
    assert needs(text, DATA, {"resolution": [1, 2]}) == []
    assert [kind for kind, _ in needs(text, DATA, DATA)] == ["no place"]


def test_a_step_whose_place_an_earlier_one_took() -> None:
    text = HEAD + "steps:\n  - path: whois\n    drop: raw\n  - path: whois.raw\n    truncate: 10\n"
    assert needs(text, DATA) == [
        ("no place", "`truncate whois.raw`: `whois.raw` found nothing; an earlier step removed it"),
        ("warning", "step 1 (`drop`) already removes `whois.raw`"),
    ]


def test_a_text_that_holds_no_json() -> None:
    text = HEAD + "steps:\n  - path: a\n    limit: 1\n"
    assert needs(text, "plain") == [
        ("no place", "`limit a`: `a` found nothing; the return is a text that contains no JSON")
    ]


def test_preserve_that_undoes_a_step() -> None:
    text = HEAD + "steps:\n  - path: rows\n    limit: 1\npreserve: [cve]\n"
    rows = [{"cve": f"CVE-2024-{number:05}"} for number in range(30)]
    ((kind, message),) = needs(text, {"rows": rows})
    assert kind == "undone"
    assert message.startswith("preserve restored ")
    assert " characters that `limit rows` removed; `preserve: []` on the step restores nothing" in message
    # Where most of it stays away, nothing was undone.
    assert needs(text, {"rows": [{"cve": row["cve"], "raw": "x" * 60} for row in rows]}) == []


def test_a_return_that_is_still_too_long() -> None:
    ((kind, message),) = needs(HEAD + "max_chars: 10\n", "a word " * 50)
    assert kind == "too long"
    after = one(HEAD + "max_chars: 10\n", "a word " * 50).after
    assert 10 < after < 350
    assert message == f"c1 is {after - 10} characters above `max_chars` 10"


def test_rules_are_missed_only_when_all_returns_were_looked_at() -> None:
    ruleset = rules(HEAD + "max_chars: 100\n", "version: 1\ntool: [never, 'never_*']\nmax_chars: 100\n")
    found = look(ruleset, "h", history(("t", "a")), LookOptions(lambda entry: entry.tool == "t")).returns
    assert [entry.message for entry in attention(report("r", ruleset, ["h"], found))] == ["never, never_*"]
    assert attention(report("r", ruleset, ["h"], found, whole=False)) == ()


@given(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=6))
@example("A", ["a"])
def test_the_nearest_key_is_one_of_the_keys(name: str, keys: list[str]) -> None:
    found = near(name, keys)
    assert found == "" or found in keys
    if name in keys and name:
        assert found.casefold() == name.casefold()


# --- views


@given(st.text())
@example("\x1b[2J\u202e\ud800\n")
def test_visible_text_can_be_printed(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 or char in "\u202e\u2066" for char in shown)
    assert visible("naïve ✓ text") == "naïve ✓ text"


def test_the_json_keys_stay() -> None:
    found = seen(HEAD + "steps:\n  - path: rows\n    limit: 1\n", ("t", {"rows": [{"a": 1}, {"a": 2}]}), ("other", "x"))
    value = as_json(found, attention(found), Prices())
    assert json.loads(json.dumps(value)) == value
    assert value["totals"] == {
        "calls": 2,
        "reduced": 1,
        "characters": {"before": 27, "after": 19, "saved": 0.2963},
        "tokens": {"before": 7, "after": 5, "estimated": "characters / 4"},
    }
    assert value["tools"][0] == {
        "tool": "t",
        "rule": {"file": "r0.yaml", "tools": ["t"]},
        "untouched": 0,
        "calls": 1,
        "reduced": 1,
        "characters": {"before": 26, "after": 18, "saved": 0.3077},
        "tokens": {"before": 7, "after": 5, "estimated": "characters / 4"},
    }
    assert value["returns"][0]["steps"][0]["changes"] == [
        {
            "kind": "removed",
            "path": "rows[1]",
            "places": 1,
            "items": 1,
            "total": 2,
            "before": 8,
            "after": 0,
            "names": [],
            "sample": '{"a": 2}',
        }
    ]
    assert value["attention"] == [
        {
            "kind": "no rule",
            "where": "other",
            "message": "1 call, 1 characters",
            "calls": 1,
            "characters": 1,
            "nearest": "",
        }
    ]


def test_reports_are_the_same_in_every_process() -> None:
    code = (
        "import json\nfrom tests.analysis.test_report import *\n"
        "found = seen(HEAD + 'steps:\\n  - path: a\\n    keep: [x]\\n', ('t', {'a': {k: k * 9 for k in 'xyzuvwabcd'}}))\n"
        "print(json.dumps(as_json(found, attention(found), Prices())))"
    )
    command = [sys.executable, "-c", code]
    runs = {
        subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={"PYTHONHASHSEED": seed}).stdout
        for seed in "12"
    }
    assert len(runs) == 1
    assert '"sample"' in runs.pop()
