"""`compare`: rule sets and blunt baselines side by side, on the same histories."""

from __future__ import annotations

from collections.abc import Sequence

from reducer.cli.parser import parsed, parser

_ABOUT = """\
Put rule sets and blunt baselines side by side on recorded histories: what each saves, which values that the agent used later it keeps,
which entities, and what the requests cost with a prompt cache. Every way is measured as if it had run while the agent worked.
"""
_EXAMPLES = """\
baselines: truncate:N (the first N characters), head:N (the first N items of every list), keep-last:N (the returns of the last N requests)

examples:
  python -m reducer compare                                the bundled sample history with the bundled rules
  python -m reducer compare histories/                     ./rules (else the bundled ones) against three baselines
  python -m reducer compare histories/ --rules old/ --rules new/ --baseline truncate:8000
  python -m reducer compare histories/ --picture saved.svg saved against kept, as a picture (.svg or .html)
  python -m reducer compare logs.jsonl.gz --format json    as numbers for another program

Exit codes: 0 done, 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop` for what cannot be read or written."""
    reader = parser("compare", _ABOUT, _EXAMPLES)
    reader.add_argument("histories", nargs="*", metavar="HISTORY", help="a stored history, a folder of them, JSON lines, or - for standard input")
    reader.add_argument("--rules", action="append", metavar="DIR|FILE", help="a rule set; give it once for each one to compare")
    reader.add_argument("--baseline", action="append", metavar="NAME:N", help="a baseline; can be given more than once")
    reader.add_argument("--cache-prices", metavar="…", help="input read from a prompt cache, written to it, and without (default: 0.1,1.25,1)")
    reader.add_argument("--format", choices=("table", "json"), default="table", help="what is printed (default: table)")
    reader.add_argument("--picture", metavar="FILE", help="draw saved against kept there: .svg, or .html with the table")
    options = parsed(reader, arguments)
    from reducer.cli.contest import Contest, contest

    return contest(
        Contest(tuple(options.histories), tuple(options.rules or ()), tuple(options.baseline or ()), options.cache_prices, options.format, options.picture)
    )
