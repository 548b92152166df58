"""A picture of contenders: what each saves against what it keeps, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from reducer.screen import visible

_WIDTH, _HEIGHT = 640, 420
_LEFT, _TOP, _RIGHT, _BOTTOM = 60, 20, 150, 50
_COLOURS = ("#0b6bcb", "#c41c1c", "#1f7a1f", "#9a5b13", "#6f3fb5", "#0f7b7b", "#b3257a", "#555f6b")


class Point(NamedTuple):
    """One contender: `saved` and `kept` are shares from 0 to 1; `rules` tells rules from baselines, which are drawn as circles."""

    name: str
    saved: float
    kept: float
    rules: bool


def svg(points: Sequence[Point]) -> str:
    """Draw points as an SVG picture, saved to the right, kept upwards; both axes from 0 to 100%, the upper one from a round tenth below the least."""
    least = max(0.0, min((int(point.kept * 10) / 10 for point in points), default=0.0) - 0.1)
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x(saved: float) -> float:
        return round(_LEFT + width * max(0.0, min(saved, 1.0)), 1)

    def y(kept: float) -> float:
        return round(_TOP + height * (1 - (kept - least) / (1 - least)), 1)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12" role="img">',
        "<title>What each way saves against what it keeps</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
    ]
    for tenth in range(0, 11, 2):
        lines.append(f'<path d="M{x(tenth / 10)} {_TOP}V{_TOP + height}" stroke="#e3e6ea"/>')
        lines.append(f'<text x="{x(tenth / 10)}" y="{_TOP + height + 18}" text-anchor="middle" fill="#444">{tenth * 10}%</text>')
    for tenth in range(round(least * 10), 11):
        lines.append(f'<path d="M{_LEFT} {y(tenth / 10)}H{_LEFT + width}" stroke="#e3e6ea"/>')
        lines.append(f'<text x="{_LEFT - 8}" y="{y(tenth / 10) + 4}" text-anchor="end" fill="#444">{tenth * 10}%</text>')
    lines.append(f'<text x="{_LEFT + width / 2}" y="{_HEIGHT - 10}" text-anchor="middle">characters of tool returns saved</text>')
    middle = _TOP + height / 2
    lines.append(f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">references kept</text>')
    for number, point in enumerate(points):
        colour = _COLOURS[number % len(_COLOURS)]
        at, up = x(point.saved), y(point.kept)
        shape = (
            f'<rect x="{at - 5}" y="{up - 5}" width="10" height="10" fill="{colour}"/>'
            if point.rules
            else f'<circle cx="{at}" cy="{up}" r="5" fill="{colour}"/>'
        )
        name = escape(visible(point.name))
        lines.append(f'<g>{shape}<title>{name}: {point.saved:.1%} saved, {point.kept:.1%} kept</title><text x="{at + 9}" y="{up + 4}">{name}</text></g>')
    return "\n".join([*lines, "</svg>", ""])
