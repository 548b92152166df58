"""Count what an extractor finds in labelled documents."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

TYPES = ("ipv4", "ipv6", "domain", "url", "email", "md5", "sha1", "sha256", "cve", "ttp")


class Counts(NamedTuple):
    """Values found and expected, found and not expected, expected and not found."""

    right: int
    false: int
    missed: int

    @property
    def precision(self) -> float:
        """Give the share of what was found that was expected, in percent."""
        return 100 * self.right / (self.right + self.false) if self.right + self.false else 100.0

    @property
    def recall(self) -> float:
        """Give the share of what was expected that was found, in percent."""
        return 100 * self.right / (self.right + self.missed) if self.right + self.missed else 100.0

    @property
    def f1(self) -> float:
        """Give the harmonic mean of precision and recall, in percent."""
        return (
            200 * self.right / (2 * self.right + self.false + self.missed)
            if self.right + self.false + self.missed
            else 100.0
        )


def normal(kind: str, value: str) -> tuple[str, str]:
    """Give type and value as the labels have them: URLs without a slash at the end, hashes and hosts in lower case."""
    kind = {"mitre_attack": "ttp"}.get(kind, kind)
    if kind == "url":
        return kind, value.rstrip("/")
    return kind, value.upper() if kind in ("cve", "ttp") else value.lower()


def score(
    labelled: Path, extract: Callable[[str], Iterable[tuple[str, str]]], types: Iterable[str] = TYPES
) -> dict[str, Counts]:
    """Compare what `extract` gives (pairs of type and canonical value) with the labels of every document, by type and
    for `all` of `types`.

    A value counts once in a document; values that the labels call optional count neither way. The labels hold
    techniques and no tactics (TA0043), so these are left out.
    """
    types = tuple(types)
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for line in labelled.open(encoding="utf-8"):
        document = json.loads(line)
        found = {normal(kind, value) for kind, value in extract(document["text"])}
        expected = {
            normal(kind, value)
            for kind, values in document["expected"].items()
            for value in values
            if normal(kind, value)[0] in types
        }
        optional = {normal(kind, value) for kind, values in document["optional"].items() for value in values}
        found = {
            (kind, value)
            for kind, value in found - (optional - expected)
            if kind in types and not value.startswith("TA0")
        }
        for place, part in enumerate((found & expected, found - expected, expected - found)):
            for kind, _ in part:
                sums[kind][place] += 1
                sums["all"][place] += 1
    return {kind: Counts(*sums[kind]) for kind in (*types, "all")}
