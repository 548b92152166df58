"""Prints what the codes of problems and findings mean."""

from __future__ import annotations

import re
from difflib import get_close_matches

from reducer.cli.stop import Stop
from reducer.screen import visible

_CODE = re.compile(r"[A-Za-z]\d{1,4}")


def explain_code(given: str) -> int:
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
