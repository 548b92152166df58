"""What a run must reach, for whoever runs it unattended: `--fail-under references=98%,saved=60%`; and what requests are billed at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from reducer.measures.cost import Prices
from reducer.report import Report
from reducer.report.measured import share

_NAMES = ("references", "entities", "saved")


class Floors(NamedTuple):
    """The least share of each measure, from 0 to 1."""

    least: Mapping[str, float] = {}

    def missed(self, report: Report) -> Iterator[str]:
        """Say of each measure that is below its floor what it is. What there is nothing of is never below."""
        for name, least in self.least.items():
            part, whole = _measured(name, report)
            if whole and part / whole < least:
                yield f"{name}: {share(part, whole)} is under {least * 100:.4g}%"


def floors(text: str, measured: bool) -> Floors:
    """Read `name=share,…`, empty for none. Raises `ValueError` with what was expected, and for what is not `measured`."""
    least: dict[str, float] = {}
    for entry in text.split(",") if text else ():
        name, _, number = (part.strip() for part in entry.partition("="))
        if name not in _NAMES:
            near = get_close_matches(name, _NAMES, 1)
            raise ValueError(f"unknown measure {name}: {f'did you mean {near[0]}?' if near else 'there are ' + ', '.join(_NAMES)}")
        try:
            value = float(number.removesuffix("%")) / 100
        except ValueError:
            value = -1
        if not number.endswith("%") or not 0 <= value <= 1:
            raise ValueError(f"{entry.strip()}: expected a share such as {name}=98%")
        if name != "saved" and not measured:
            raise ValueError(f"{name} is not measured here: add --measures")
        least[name] = value
    return Floors(least)


def prices(text: str | None) -> Prices:
    """Read `read,write,plain`, multiples of the price of input. Raises `ValueError` with what was expected."""
    if text is None:
        return Prices()
    try:
        read, write, plain = (float(part) for part in text.split(","))
    except ValueError:
        read = write = plain = -1.0
    if not all(0 <= price < float("inf") for price in (read, write, plain)):
        raise ValueError(f"--cache-prices {text}: expected three numbers such as 0.1,1.25,1: read from the cache, written to it, without it")
    return Prices(read, write, plain)


def _measured(name: str, report: Report) -> tuple[int, int]:
    measures = report.tally.measures
    if name == "saved":
        return report.before - report.after, report.before
    if measures is None:
        return 0, 0
    if name == "references":
        return measures.kept, measures.references
    return sum(found.kept for found in measures.entities.values()), sum(found.total for found in measures.entities.values())
