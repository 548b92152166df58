"""The laws for plain texts in the notations that a rule names, with values that look like their syntax."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import yaml
from hypothesis import strategies as st

from reducer.formats import NOTATIONS
from tests.laws.laws import case_of, law_test
from tests.laws.strategies import TYPES, fields, rules_of, some

Rows = Sequence[dict[str, str]]
_KEYS = ("name", "state", "note")


def _lines(rows: Rows) -> str:
    return "".join(f"{row['name']} {row['state']} {_flat(row['note'])}\n" for row in rows)


def _csv(rows: Rows) -> str:
    written = io.StringIO()
    writer = csv.DictWriter(written, _KEYS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def _markdown(rows: Rows) -> str:
    lines = ["Found these hosts:", "", "| name | state | note |", "|---|---|---|"]
    for row in rows:
        cells = [_flat(value).replace("\\", "").replace("|", "\\|") for value in row.values()]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", "That is all.", ""])


def _columns(rows: Rows) -> str:
    lines = [f"{'NAME':<12}{'STATE':<12}NOTE"]
    for row in rows:
        lines.append(f"{row['name']:<12}{row['state']:<12}{_flat(row['note'])}".rstrip())
    return "\n".join([*lines, ""])


def _yaml(rows: Rows) -> str:
    return yaml.safe_dump([*rows], sort_keys=False, allow_unicode=True, width=60)


def _yaml_of_names(rows: Rows) -> str:
    items = {f"{row['name']}-{number}": row for number, row in enumerate(rows)}
    return f"# hosts of last night\nhosts:\n{_indented(yaml.safe_dump(items, sort_keys=False))}total: {len(rows)}\n"


def _sections(rows: Rows) -> str:
    return "\n".join(f"## {row['name']}\n\nState: {row['state']}\n\n{row['note']}\n" for row in rows)


def _blocks(rows: Rows) -> str:
    blocks = []
    for row in rows:
        lines = [f"{key}: {_flat(value)}" for key, value in row.items()]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _flat(text: str) -> str:
    return " ".join(text.split())


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


WRITERS: tuple[tuple[str, Callable[[Rows], str]], ...] = (
    ("lines", _lines),
    ("csv", _csv),
    ("table", _markdown),
    ("table", _columns),
    ("yaml", _yaml),
    ("yaml", _yaml_of_names),
    ("sections", _sections),
    ("blocks", _blocks),
)
_NOTES = (
    *("seen with 203.0.113.77 in the night", "mail-diacie[.]top and evil-updates.com", "APT28 used CVE-2024-3400"),
    *("a | b", 'he said "no", twice', "first line\nsecond line", "# no heading", "key: value", "- item", "```", "---"),
    *("größer 🙂", "…[7 more items]", "…[12 more characters]…", "the same words again and again " * 8, "", "[a, b]"),
)
_row = st.fixed_dictionaries(
    {"name": some("gate", "mail", "db", "x1"), "state": some("up", "down", "low", "high"), "note": some(*_NOTES)}
)
_rows = st.lists(_row, min_size=2, max_size=12)
_texts = st.builds(lambda writer, rows: (writer[0], writer[1](rows)), some(*WRITERS), _rows)

_amounts = st.one_of(st.integers(1, 4), st.just({"head": 1, "tail": 1}))
_conditions = some("[?state == 'low']", "[?contains(note, 'night')]", "[?heading == 'gate']", "[?contains(@, 'night')]")
_steps = st.one_of(
    fields({"limit": _amounts}, sort_by=some("state", "name", "-heading"), mark=some(True, "state", False)),
    fields({"drop": _conditions}, mark=some(True, False)),
    fields({"keep": _conditions}),
    fields({"keep": some(["name"], ["name", "state"], ["heading", "level"], ["NAME", "STATE"])}),
    fields({"drop": some(["note"], ["state"], ["text"], ["NOTE"], ["total"])}),
    fields({"dedupe": some(True, "state", {"ignore": "digits"})}),
    fields({"truncate": some(3, 12, 40), "path": some("@", "[*].note", "[*].text", "[*].NOTE", "hosts.*.note")}),
    fields({"extract": some(["ipv4"], ["domain", "cve"])}),
    fields({"limit": _amounts, "path": st.just("hosts")}),
    fields({"drop": some(["note"], ["state"]), "path": some("hosts.*", "hosts.gate-0")}),
    st.just({"compact": True}),
)
_preserves = st.lists(some(*TYPES), max_size=3, unique=True)
_rules = rules_of(_steps, preserve=_preserves, max_chars=some(40, 200), mark=st.just(False))


def _aimed(rule: dict[str, Any], text: tuple[str, str], nested: bool, encoded: bool) -> Any:
    """Return the case of a rule for a text, perhaps nested in a value or in a text that encodes it as JSON."""
    notation, written = text
    if not nested:
        return case_of({**rule, "text": notation}, written)
    steps = []
    for step in rule["steps"]:
        path = step.get("path", "@")
        below = "" if path == "@" else path if path.startswith("[") else f".{path}"
        steps.append({**step, "path": f"output{below}", **({"text": notation} if not below else {})})
    content = {"id": 1, "output": written}
    steps.append({"path": "output", "text": notation, "dedupe": True})
    return case_of({**rule, "steps": steps}, json.dumps(content) if encoded else content)


_cases = st.builds(_aimed, _rules, _texts, st.booleans(), st.booleans())
test_the_laws_hold = law_test(_cases)


def test_every_notation_is_tried() -> None:
    assert {name for name, _ in WRITERS} >= {*NOTATIONS}
