"""`explain`: says in plain words what rules do, and why one return was reduced as it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from reducer.cli.parser import parsed, parser
from reducer.cli.stop import Stop

_ABOUT = """\
Say in plain words what rules do, why one return of a history was reduced as it was, or what a code means.
"""
_EXAMPLES = """\
examples:
  python -m reducer explain rules/                 what each rule does, in plain words
  python -m reducer explain rules/search.yaml      one rule
  python -m reducer explain session.json --call call_7#2 --rules rules/
                                                   which rule the return has and why, what it does, and what each of its steps took
  python -m reducer explain E010                   what a problem of a rule file is about: cause, wrong, right
  python -m reducer explain needs-quotes           the same by its name
  python -m reducer explain V030                   what a finding of `validate` is about

Without --rules, ./rules is used if it has rule files, else the rules bundled with reducer.
Exit codes: 0 done, 2 cannot run.
"""
_CODE = re.compile(r"[A-Za-z]\d{1,4}|[A-Za-z-]+")
"""A code, or the name of one: no file with an ending, and none in a folder."""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop`."""
    reader = parser("explain", _ABOUT, _EXAMPLES)
    reader.add_argument(
        "what", nargs="+", metavar="RULES|HISTORY|CODE", help="rule files or folders of them, one stored history, or a code such as E010, or its name"
    )
    reader.add_argument("--call", metavar="ID", help="the return of the history, by its call id; ID#2 is the second return that has it")
    reader.add_argument("--rules", action="append", metavar="DIR|FILE", help="rule files, or a folder of them, that the history is reduced by")
    options = parsed(reader, arguments)
    what: list[str] = options.what
    if options.call is not None:
        from reducer.cli.explained import explain_call

        if len(what) > 1:
            raise Stop("--call names a return of one history: give one HISTORY")
        return explain_call(what[0], options.call, tuple(options.rules or ()))
    if options.rules:
        raise Stop("--rules goes with a HISTORY and --call ID; the rules to explain stand alone: `explain RULES`")
    if len(what) == 1 and _CODE.fullmatch(what[0]) and not Path(what[0]).exists():
        from reducer.cli.codes import explain_code

        return explain_code(what[0])
    from reducer.cli.explained import explain_rules

    return explain_rules(what)
