"""`run`: the dry run, what rules do to stored histories."""

from __future__ import annotations

from argparse import ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reducer.cli import VERBS
from reducer.cli.parser import parsed, parser
from reducer.cli.watch import watch

if TYPE_CHECKING:
    from reducer.cli.workers import Worker

_ABOUT = """\
Show what rules do to the tool returns of stored histories: what they save, which step took what, and what needs attention.
A dry run: what is read is never written.
"""
_EXAMPLES = """\
examples:
  python -m reducer                                the bundled sample history with the bundled rules
  python -m reducer session.json                   what the rules save in a stored history, and what needs attention
  python -m reducer --rules rules/ histories/      your rules, on all histories below a folder
  python -m reducer session.json --format diff --tool 'get_*'
                                                   which step took what, in the returns of some tools
  python -m reducer session.json --call call_7#2   the second return with the call id call_7 (a table; add --format diff)
  python -m reducer session.json -o reduced.json   write the reduced history; the input is never written
  python -m reducer session.json -o reduced.json --archive returns.db
                                                   and file the original tool returns, for `python -m reducer restore`
  python -m reducer logs.jsonl.gz --jobs 4 -o reduced.jsonl.gz
                                                   a history on each line, of any size; archives as the names end
  python -m reducer logs.jsonl.gz --jobs 4 -o reduced.jsonl.gz --resume
                                                   go on where this was interrupted
  python -m reducer histories/ -o reduced/         all files of a folder, to another
  curl … | python -m reducer - --format json       from standard input, as numbers for another program
  python -m reducer histories/ --fail-under references=98%,saved=60%
                                                   for continuous integration: exit code 1 when rules cost more
  python -m reducer check rules/                   find the mistakes in rule files

A history is JSON as PydanticAI stores it, a list of messages, or a session history; wrappers of such are looked into.
JSON lines have one on each line; .gz and .zst are read and written.
Without --rules, ./rules is used if it has rule files, else the rules bundled with reducer.
Exit codes: 0 done, 1 bad lines in JSON lines, or under --fail-under (with --strict whatever needs attention), 2 cannot run.
`check`: 1 for errors in rules, with --strict for warnings too.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code."""
    verbs = "\n".join(f"  {name:<12}{what}" for name, what in VERBS.items())
    reader = parser("", f"{_ABOUT}\nverbs (`python -m reducer VERB --help` tells more):\n{verbs}\n", _EXAMPLES)
    reader.add_argument("histories", nargs="*", metavar="HISTORY", help="a stored history, a folder of them, or - for standard input")
    reader.add_argument("--rules", action="append", metavar="DIR|FILE", help="rule files, or a folder of them; can be given more than once")
    reader.add_argument("--tool", metavar="GLOB", help="only the returns of the tools with such names")
    reader.add_argument("--call", metavar="ID", help="only the return with this call id; ID#2 is the second return that has it")
    reader.add_argument("--format", choices=("table", "diff", "json", "html"), default="table", help="what is printed (default: table)")
    reader.add_argument(
        "--measures", action=BooleanOptionalAction, help="measure what the rules cost: references, entities, requests (default: unless --output is given)"
    )
    reader.add_argument(
        "--no-references", dest="references", action="store_false",
        help="let the rules take what later messages refer to as well (default: it stays, as nobody asks for it again)",
    )  # fmt: skip
    reader.add_argument("--fail-under", metavar="…", help="exit with 1 below these shares, such as references=98%%,entities=100%%,saved=60%%")
    reader.add_argument("--cache-prices", metavar="…", help="input read from a prompt cache, written to it, and without (default: 0.1,1.25,1)")
    reader.add_argument("--strict", action="store_true", help="exit with 1 if something needs attention")
    reader.add_argument(
        "-o", "--output", metavar="FILE|DIR/", help="write the reduced history there, into a folder if there are several; - for standard output"
    )
    reader.add_argument("--archive", metavar="FILE", help="file the originals of what --output writes there, for `restore`")
    reader.add_argument(
        "--input-format", choices=("auto", "model-messages", "session"), default="auto",
        help="what is read: PydanticAI's messages, session histories, or what it is recognised as (default: auto)",
    )  # fmt: skip
    reader.add_argument("--jobs", type=_count, default=1, metavar="N", help="work with N processes; what is written and reported is the same")
    reader.add_argument("--resume", action="store_true", help="go on with a run that was interrupted while it wrote to --output")
    reader.add_argument("--watch", action="store_true", help="run again when a history or a rule is saved, and tell what changed")
    reader.add_argument("--version", action="store_true", help="print the version and exit")
    options = parsed(reader, arguments)
    if options.version:
        print(f"reducer {_version()}")
        return 0
    if options.jobs > 1 and not options.watch:
        from reducer.cli.workers import started

        with started(options.jobs) as workers:
            return _run(options, workers)
    return _run(options, ())


def _run(options: Namespace, workers: Sequence[Worker]) -> int:
    # Imported here, so that the version is told in the time that Python takes to start.
    from reducer.cli.dry_run import Options, run, watched

    asked = Options(
        tuple(options.histories), tuple(options.rules or ()), options.tool, options.call, options.format, options.strict, options.output,
        options.jobs, options.resume, options.archive, options.input_format,
        options.output is None if options.measures is None else options.measures, options.fail_under, options.cache_prices, options.references,
    )  # fmt: skip
    if options.watch:
        watch(watched(asked))
    return run(asked, workers=workers)


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 256:
        raise ArgumentTypeError(f"expected a number of processes from 1 to 256, not {text}")
    return int(text)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("reducer")
    except PackageNotFoundError:
        import tomllib
        from pathlib import Path

        # A checkout that is not installed.
        with (Path(__file__).parents[3] / "pyproject.toml").open("rb") as file:
            return str(tomllib.load(file)["project"]["version"])
