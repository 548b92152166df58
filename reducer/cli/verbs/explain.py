"""`explain`: tells what a code means, which a problem of a rule file or a finding of a history carries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from reducer.cli.parser import parser
from reducer.cli.stop import Stop
from reducer.screen import visible

_EXAMPLES = """\
examples:
  python -m reducer explain E010           what a problem of a rule file is about: cause, wrong, right
  python -m reducer explain needs-quotes   the same by its name
  python -m reducer explain V030           what a finding of `validate` is about

Exit codes: 0 explained, 2 cannot run.
"""
_CODE = re.compile(r"[A-Za-z]\d{1,4}")


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop` for what is no code."""
    reader = parser("explain", "Tell what a code means.", _EXAMPLES)
    reader.add_argument("code", metavar="CODE", help="a code such as E010, or its name")
    return code(reader.parse_args(arguments).code)


def code(given: str) -> int:
    """Print what a code, or the name of one, means and give the exit code. Raises `Stop` for what is none, with the nearest."""
    from reducer.catalogue import CATALOGUE
    from reducer.validate.codes import CODES

    named = {entry.name: entry.code for entry in CATALOGUE.values()}
    wanted = named.get(given.lower(), given.upper())
    if wanted in CATALOGUE:
        entry = CATALOGUE[wanted]
        print(f"{entry.code} {entry.name}: {entry.cause}")
        for title, example in (("wrong", entry.wrong), ("right", entry.right)):
            if example:
                lines = (visible(line, "\t") for line in example.removeprefix("#!\n").splitlines() or [""])
                print(f"\n{title}:\n" + "\n".join(f"  {line}".rstrip() for line in lines))
        return 0
    if wanted in CODES:
        found = CODES[wanted]
        print(f"{found.code} {found.severity}: {found.says}" + (f"\nRefused by {found.refused_by}." if found.refused_by else ""))
        return 0
    known = [*CATALOGUE, *CODES] if _CODE.fullmatch(given) else [*CATALOGUE, *CODES, *named]
    near = get_close_matches(wanted if _CODE.fullmatch(given) else given.lower(), known, 1, 0.5)
    raise Stop(f"{visible(given)}: there is no such code{f'; did you mean {near[0]}?' if near else ', see `python -m reducer check`'}")
