"""Records as plain JSON values, for `--format json` and the pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from reducer.errors import Diagnostic


def as_json(value: Any) -> Any:
    """Convert dataclasses and named tuples to objects, and tuples to lists, at every depth."""
    if is_dataclass(value):
        return fields_of(value)
    if hasattr(value, "_asdict"):
        return as_json(value._asdict())
    if isinstance(value, Mapping):
        return dict(zip(value, map(as_json, value.values()), strict=True))
    return list(map(as_json, value)) if isinstance(value, (list, tuple)) else value


def fields_of(value: Any, *without: str) -> dict[str, Any]:
    """Convert a dataclass to an object of plain JSON values, without the fields named in `without`."""
    return {each.name: as_json(getattr(value, each.name)) for each in fields(value) if each.name not in without}


def problem_fields(problem: Diagnostic) -> dict[str, Any]:
    """Return a problem of a rule file as JSON values."""
    from reducer.rules.diagnostics import catalogue  # takes time to import, and other forms do not need it

    fields = fields_of(problem)
    name = catalogue()[problem.code].name
    return {**fields.pop("location"), "severity": problem.severity, "name": name, **fields}
