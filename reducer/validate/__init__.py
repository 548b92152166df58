"""The structural checklist for stored histories: what PydanticAI and the providers refuse, and what is odd.

Nothing is mended: a history is read, and what is wrong is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from reducer.validate.codes import CODES, Code, Severity
from reducer.validate.document import Document, documents
from reducer.validate.finding import Finding, Path, described
from reducer.validate.locate import locate
from reducer.validate.messages import check_messages, check_one
from reducer.validate.session import check_session, check_session_message, is_session_message

__all__ = ["CODES", "Code", "Finding", "Severity", "validate"]

_WRAPPED = 3
"""Levels of a wrapper in which a list of messages is looked for."""


def validate(stored: bytes) -> list[Finding]:
    """Check a stored history, or one on each line: give all findings in the order of the file, each with its line and column.

    `stored`: UTF-8 JSON as PydanticAI 0.2 to 2.x stores it: a list of messages, one message, or a wrapper that holds such a list. Session
    histories, as chat front ends store them, get a lighter checklist. Raises nothing: what cannot be read is a finding too. Paths of JSON
    lines are those of their line.
    """
    return [finding for document in documents(stored) for finding in _validated(document)]


def _validated(document: Document) -> list[Finding]:
    findings = list(document.findings)
    if document.is_read:
        findings += check_value(document.value)
    return placed(document, findings)


def check_value(value: Any) -> Iterator[Finding]:
    """Check what one JSON text says."""
    found = find_messages(value)
    if found is None:
        session = _find(value, is_session_message)
        if session is not None:
            root, messages = session
            yield from check_session(root, messages) if type(messages) is list else check_session_message(root, messages, {}, set())
            return
        yield Finding("V003", (), f"no history: found {described(value)}, expected a list of messages, each an object with `kind` and `parts`")
        return
    root, messages = found
    if type(messages) is list:
        yield from check_messages(root, messages)
    else:
        # Whether its calls are answered, one message cannot tell.
        yield from check_one(root, messages, set())


def find_messages(value: Any) -> tuple[Path, Any] | None:
    """Find the list of PydanticAI's messages in a JSON value, or the one message that it is: where it stands, and itself. None where there is none."""
    # An empty list says what it is by its name only.
    empty = type(value) is dict and value.get("messages") == []
    return (("messages",), []) if empty else _find(value, _is_message)


def _find(value: Any, is_message: Callable[[Any], bool]) -> tuple[Path, Any] | None:
    if type(value) is list:
        return ((), value) if not value or any(map(is_message, value)) else None
    if is_message(value):
        return (), value
    level: list[tuple[Path, Any]] = [((), value)]
    for _ in range(_WRAPPED):
        level = [((*path, key), inner) for path, outer in level if type(outer) is dict for key, inner in outer.items()]
        for path, inner in level:
            if type(inner) is list and inner and any(map(is_message, inner)):
                return path, inner
    return None


def _is_message(value: Any) -> bool:
    if type(value) is not dict:
        return False
    parts = value.get("parts")
    if value.get("kind") in ("request", "response"):
        return True
    return type(parts) is list and ("kind" in value or any(type(part) is dict and "part_kind" in part for part in parts))


def placed(document: Document, findings: list[Finding]) -> list[Finding]:
    """Give the findings with line and column, in the order in which they stand in the text."""
    without = [finding for finding in findings if not finding.line]
    if not without:
        return findings
    text = document.text
    at = locate(text, (finding.path for finding in without), document.starts)
    ordered = sorted(without, key=lambda finding: at.get(finding.path, 0))
    result = [finding for finding in findings if finding.line]
    line, begin, counted = document.line, 0, 0  # `begin` is where the line starts
    for finding in ordered:
        start = at.get(finding.path, 0)
        breaks = text.count("\n", counted, start)
        if breaks:
            line += breaks
            begin = text.rfind("\n", counted, start) + 1
        counted = start
        result.append(finding._replace(line=line, column=start - begin + 1))
    return result
