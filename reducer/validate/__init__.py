"""The structural checklist for stored histories: what PydanticAI and the providers refuse, and what is odd.

Nothing is mended: a history is read, and what is wrong is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reducer.validate.codes import CODES, Code, Severity
from reducer.validate.document import Document, documents
from reducer.validate.finding import Finding, described
from reducer.validate.histories import History, histories
from reducer.validate.locate import locate
from reducer.validate.messages import check_messages, check_one
from reducer.validate.session import check_session, check_session_message

__all__ = ["CODES", "Code", "Finding", "Severity", "validate"]


def validate(stored: bytes) -> list[Finding]:
    """Check a stored history, or one on each line: give all findings in the order of the file, each with its line and column.

    `stored`: UTF-8 JSON as PydanticAI 0.2 to 2.x stores it: a list of messages, one message, or a wrapper that holds such a list. Session
    histories, as chat front ends store them, get a lighter checklist. Raises nothing: what cannot be read is a finding too. Paths of JSON
    lines are those of their line.
    """
    return [finding for document in documents(stored) for finding in validated(document)]


def validated(document: Document) -> list[Finding]:
    """Check what was read already."""
    findings = list(document.findings)
    if document.is_read:
        findings += check_value(document.value)
    return placed(document, findings)


def check_value(value: Any) -> Iterator[Finding]:
    """Check what one JSON text says."""
    none = True
    for found in histories(value):
        none = False
        yield from _checked(found)
    if none:
        yield Finding("V003", (), f"no history: found {described(value)}, expected a list of messages, each an object with `kind` and `parts`")


def _checked(found: History) -> Iterator[Finding]:
    if found.each is not None:
        # Each message is wrapped: they are checked as the list that they make.
        for finding in _checked(found._replace(path=(), each=None)):
            path = finding.path
            yield finding._replace(path=(*found.each[path[0]], *path[1:]) if path and isinstance(path[0], int) else found.path)
    elif type(found.messages) is list:
        yield from (check_session if found.is_session else check_messages)(found.path, found.messages)
    elif found.is_session:
        yield from check_session_message(found.path, found.messages, {}, set())
    else:
        # Whether its calls are answered, one message cannot tell.
        yield from check_one(found.path, found.messages, set())


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
