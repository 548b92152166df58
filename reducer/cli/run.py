"""Show what rules do to the tool returns of stored histories: what they save, what
each step removed, and what needs attention. This is a dry run: inputs are never
changed. `run` is the default verb, so the word can be left out.

examples:
  python -m reducer
      the built-in sample history with the built-in rules
  python -m reducer --rules rules/ histories/
      your rules on all histories in a folder
  python -m reducer a.json --format diff
      what each step removed (add --tool 'get_*' for some tools)
  python -m reducer a.json --call call_7#2
      the second return with the call id call_7
  python -m reducer a.json --format html -o a.html
      a page for the browser, with each return before and after
  python -m reducer a.json -o b.json --archive a.db
      write the reduced history, and archive the original returns
  python -m reducer a.jsonl.gz --jobs 4 -o b.jsonl
      JSON lines of any size, compressed with gzip or Zstandard
  python -m reducer *.parquet --column messages
      a column of Parquet files, one row group at a time
  curl … | python -m reducer - --format json
      standard input; JSON for other programs
  python -m reducer a/ --fail-under saved=60%
      exit with 1 if less is saved, for continuous integration
  python -m reducer new/ --rules rules/ --strict
      exit with 1 if a path finds nothing in new recordings

A history is JSON as PydanticAI stores it: a list of messages, or an object that
contains one. Session histories of chat front ends, and the formats of OpenAI,
Anthropic, LangChain and the Vercel AI SDK, are detected.
Without --rules, the rules in ./rules are used, otherwise the built-in rules.
Exit codes: 0 done; 1 invalid lines in JSON lines, below --fail-under, or (with
--strict) something needs attention; 2 cannot run.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Sequence

from reducer.cli import VERBS
from reducer.cli.arguments import integer, parse, parser, share
from reducer.cli.screen import CommandError, suggestion, version

_MEASURES = ("references", "entities", "saved")


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    shared = ("histories", "--rules", "--tool", "--call", "--input-format")
    reader = parser("run", __doc__, shared, formats=("table", "diff", "json", "html"))
    verbs = "\n".join(f"  {name:<12}{what}" for name, what in VERBS.items())
    reader.description = f"{reader.description}verbs (details: `python -m reducer VERB --help`):\n{verbs}\n"
    add = reader.add_argument
    references = "also remove content that later messages reference, as an agent does (default: keep it)"
    add("--as-in-agent", dest="references", action="store_false", help=references)
    repeats = "leave out what an earlier return of the same history shows"
    add("--repeats", action="store_true", help=repeats)
    minimums = "exit with 1 if a measure is below its share, for example saved=60%%"
    add("--fail-under", type=_minimums, default={}, metavar="MEASURE=SHARE", help=minimums)
    add("--strict", action="store_true", help="exit with 1 if something needs attention")
    output = "write the reduced histories (or the page of --format html) to this file or folder; - for standard output"
    add("-o", "--output", metavar="FILE|DIR/", help=output)
    add("--column", metavar="NAME", help="the column of Parquet files that contains histories")
    add("--archive", metavar="FILE", help="archive the original tool returns in this SQLite file; requires --output")
    jobs = "use N processes; the results are the same"
    add("--jobs", type=integer("a number of processes", 1, 256), default=1, metavar="N", help=jobs)
    verbose = "show all tools, examples of what was lost, and all that needs attention"
    add("-v", "--verbose", action="store_true", help=verbose)
    add("--version", action="store_true", help="print the version and exit")
    options = parse(reader, arguments)
    if options.version:
        print(f"reducer {version()}")
        return 0
    # Import late, so that --version and --help start as fast as Python.
    from reducer.cli.dry_run import dry_run

    is_page = (options.output or "").endswith((".html", ".htm"))
    if options.output not in (None, "-") and is_page != (options.format == "html"):
        raise CommandError(f"--output {options.output}: `--format html` writes a page, whose name ends in .html")
    options.writes = options.output is not None and options.format != "html"
    options.measures = not options.writes or bool(options.fail_under)
    return dry_run(options)


def _minimums(text: str) -> dict[str, float]:
    """Read the value of `--fail-under`."""
    return dict(map(_minimum, text.split(",")))


def _minimum(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    if name not in _MEASURES:
        raise ArgumentTypeError(f"unknown measure {name}; {suggestion(name, _MEASURES)}")
    return name, share(number)
