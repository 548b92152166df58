"""`init`: drafts rules from the answers of tools that have none."""

from __future__ import annotations

from collections.abc import Sequence

from reducer.cli.parser import parsed, parser

_ABOUT = """\
Draft a rule for each tool that has none: from a stored history, or from a sample, a file with one answer of a tool.
The draft says for each step why it is proposed, and comes with a sample and a test. What is there already is never overwritten.
"""
_EXAMPLES = """\
examples:
  python -m reducer init session.json              rules/TOOL.yaml for each tool in a history that has no rule
  python -m reducer init session.json --tool search
                                                   for one tool only
  python -m reducer init answer.json --tool search a sample: JSON or text, one answer of a tool
  python -m reducer init search.json               the same: the tool is named as the file
  python -m reducer init a.json b.json --tool search -o my-rules/
                                                   from several answers, into another folder

Then read and change the draft, and try it:
  python -m reducer check rules/
  python -m reducer session.json --rules rules/ --format diff

Exit codes: 0 done, 1 nothing to draft, 2 cannot run, or a file is in the way.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop`."""
    reader = parser("init", _ABOUT, _EXAMPLES)
    reader.add_argument("files", nargs="+", metavar="HISTORY|SAMPLE", help="a stored history, a folder of them, one answer of a tool, or - for standard input")
    reader.add_argument("-o", "--output", default="rules", metavar="DIR", help="the folder of rules that drafts go into (default: rules)")
    reader.add_argument("--tool", metavar="NAME", help="the one tool to draft for; of a sample, the tool that gave it")
    options = parsed(reader, arguments)
    from reducer.cli.drafts import init

    return init(options.files, options.output, options.tool)
