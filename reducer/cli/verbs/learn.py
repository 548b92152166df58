"""`learn`: drafts rules from recorded histories."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Sequence

from reducer.cli.parser import parsed, parser

_ABOUT = """\
Draft rules from recorded histories. What the agents wrote after a tool return, and could only have from there, shows what a rule must keep:
which keys were never referred to, how many items and how much of a text suffice, from which size on. Half of the histories (by task) are not
learned from; on those the drafts are measured as if they had run while the agent worked.
"""
_EXAMPLES = """\
examples:
  python -m reducer learn histories/                       what could be learned, and how well it does; writes nothing
  python -m reducer learn histories/ -o drafts/            write the rules to a new folder, or beside others; files are never replaced
  python -m reducer learn histories/ -o drafts/ --keep 99% careful: of the values used later 99% are still seen
  python -m reducer learn logs.jsonl.gz --holdout 0 -o drafts/
                                                           learn from everything, measure nothing
  python -m reducer learn histories/ --format json         as numbers for another program

Folders below a given folder are sources: what is learned is measured on each. Read every draft: its comments say what it rests on.
Exit codes: 0 done, 1 nothing to draft, 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop` for what cannot be read or written."""
    reader = parser("learn", _ABOUT, _EXAMPLES)
    reader.add_argument("histories", nargs="+", metavar="HISTORY", help="a stored history, a folder of them, JSON lines, or - for standard input")
    reader.add_argument("-o", "--output", metavar="DIR", help="write the drafts there: rule files, and samples/ for their tests")
    reader.add_argument("--keep", type=_share, default=0.95, metavar="SHARE", help="share of the values used later that is still seen (default: 95%%)")
    reader.add_argument("--holdout", type=_part, default=0.5, metavar="SHARE", help="share of the tasks that is not learned from (default: 0.5)")
    reader.add_argument("--format", choices=("table", "json"), default="table", help="what is printed (default: table)")
    options = parsed(reader, arguments)
    from reducer.cli.learning import Learning, learning

    return learning(Learning(tuple(options.histories), options.output, options.keep, options.holdout, options.format))


def _share(text: str) -> float:
    value = _number(text)
    if value is None or not 0 < value <= 1:
        raise ArgumentTypeError(f"expected a share such as 99%, not {text}")
    return value


def _part(text: str) -> float:
    value = _number(text)
    if value is None or not 0 <= value < 1:
        raise ArgumentTypeError(f"expected a share below 1 such as 0.5, not {text}")
    return value


def _number(text: str) -> float | None:
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        return None
