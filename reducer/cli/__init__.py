"""The command line: `python -m reducer [HISTORY ...]`, the dry run, and `python -m reducer check [RULES ...]`.

What a verb needs is imported when it runs: `--version` and `check` start in the time that yaml and pydantic take.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TextIO

from reducer.cli.stop import Stop, say

__all__ = ["main"]

_ABOUT = """\
Show what rules do to the tool returns of stored histories: what they save, which step took what, and what needs attention.
A dry run: what is read is never written.

verbs:
  check [RULES ...]     find the mistakes in rule files; see `python -m reducer check --help`
  entities FILE ...     find indicators and names of threats in texts and JSON; see `python -m reducer entities --help`
"""
_EXAMPLES = """\
examples:
  python -m reducer                                the bundled sample history with the bundled rules
  python -m reducer session.json                   what the rules save in a stored history, and what needs attention
  python -m reducer --rules rules/ histories/      your rules, on all .json files below a folder
  python -m reducer session.json --format diff --tool 'get_*'
                                                   which step took what, in the returns of some tools
  python -m reducer session.json --call call_7#2   the second return with the call id call_7 (a table; add --format diff)
  python -m reducer session.json -o reduced.json   write the reduced history; the input is never written
  curl … | python -m reducer - --format json       from standard input, as numbers for another program
  python -m reducer check rules/                   find the mistakes in rule files

A history is JSON as PydanticAI stores it: a list of messages.
Without --rules, ./rules is used if it has rule files, else the rules bundled with reducer.
Exit codes: 0 done, 1 something needs attention (with --strict), 2 cannot run. `check`: 1 for errors in rules, with --strict for warnings too.
"""
_CHECK_EXAMPLES = """\
examples:
  python -m reducer check                  ./rules, or the bundled rules where there is none
  python -m reducer check rules/ more.yaml folders and files
  python -m reducer check --strict         warnings count as well

Exit codes: 0 no errors, 1 errors (with --strict also for warnings), 2 cannot run.
"""

_ENTITIES_EXAMPLES = """\
examples:
  python -m reducer entities report.txt              a table: each entity once, how often, and where first
  python -m reducer entities a.json --type ioc --type cve
                                                     only these types and groups, with JSON paths
  curl … | python -m reducer entities - --refang     from standard input; evil[.]com is shown as evil.com
  python -m reducer entities *.txt --format jsonl    every occurrence as a line of JSON

Types: ipv4 ipv6 domain url email md5 sha1 sha256 sha512 cve mitre_attack threat_actor malware; groups: ip hash ioc.
Exit codes: 0 done, 2 cannot run.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line with `argv`, by default the arguments of the process, and give the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who started the process
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            # A terminal that has no arrow or accent is no reason to stop.
            reconfigure(errors="backslashreplace")
    thresholds = gc.get_threshold()
    # What imports make is no garbage: looking for some takes a seventh of the time to start.
    gc.set_threshold(50_000, *thresholds[1:])
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except Stop as stop:
        say(f"error: {stop}")
        code = 2
    except SystemExit as exit:
        code = exit.code if isinstance(exit.code, int) else 2
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # Who read the output has seen enough. What is left in the buffer must not raise once more at exit.
        _silence(sys.stdout)
        code = 0
    except OSError as error:
        _silence(sys.stdout)
        say(f"error: cannot write: {error.strerror or error}")
        code = 2
    finally:
        gc.set_threshold(*thresholds)
    return code


def _run(arguments: list[str]) -> int:
    verb = _VERBS.get(arguments[0]) if arguments else None
    if verb is not None:
        return verb(arguments[1:])
    return _dry_run(arguments)


def _dry_run(arguments: list[str]) -> int:
    parser = _parser("reducer", _ABOUT, _EXAMPLES)
    parser.add_argument("histories", nargs="*", metavar="HISTORY", help="a stored history, a folder of them, or - for standard input")
    parser.add_argument("--rules", action="append", metavar="DIR|FILE", help="rule files, or a folder of them; can be given more than once")
    parser.add_argument("--tool", metavar="GLOB", help="only the returns of the tools with such names")
    parser.add_argument("--call", metavar="ID", help="only the return with this call id; ID#2 is the second return that has it")
    parser.add_argument("--format", choices=("table", "diff", "json"), default="table", help="what is printed (default: table)")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if something needs attention")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the reduced history there; - for standard output")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    options = parser.parse_intermixed_args(arguments)
    if options.version:
        print(f"reducer {_version()}")
        return 0
    from reducer.cli.run import Options, run

    given = Options(
        tuple(options.histories), tuple(options.rules or ()), options.tool, options.call, options.format, options.strict, options.output, tuple(_VERBS)
    )  # fmt: skip
    return run(given)


def _check(arguments: list[str]) -> int:
    parser = _parser("reducer check", "Find the mistakes in rule files.", _CHECK_EXAMPLES)
    parser.add_argument("rules", nargs="*", metavar="RULES", help="rule files, or folders of them")
    parser.add_argument("--strict", action="store_true", help="exit with 1 for warnings too")
    options = parser.parse_intermixed_args(arguments)
    from reducer.cli.check import check

    return check(tuple(options.rules), options.strict)


def _entities(arguments: list[str]) -> int:
    parser = _parser("reducer entities", "Find indicators and names of threats, defanged ones too.", _ENTITIES_EXAMPLES)
    parser.add_argument("files", nargs="+", metavar="FILE", help="a text or JSON file, or - for standard input")
    parser.add_argument("--type", action="append", metavar="TYPE", help="only entities of this type or group; can be given more than once")
    parser.add_argument("--refang", action="store_true", help="show values refanged in the table (JSON lines have both)")
    parser.add_argument("--format", choices=("table", "jsonl"), default="table", help="what is printed (default: table)")
    options = parser.parse_intermixed_args(arguments)
    from reducer.cli.entities import entities

    return entities(options.files, options.type or (), options.format, options.refang)


_VERBS: Mapping[str, Callable[[list[str]], int]] = {"check": _check, "entities": _entities}


def _parser(name: str, about: str, examples: str) -> argparse.ArgumentParser:
    layout = partial(argparse.RawDescriptionHelpFormatter, max_help_position=28)
    return argparse.ArgumentParser(name, description=about, epilog=examples, formatter_class=layout, allow_abbrev=False)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("reducer")
    except PackageNotFoundError:
        import tomllib
        from pathlib import Path

        # A checkout that is not installed.
        with (Path(__file__).parents[2] / "pyproject.toml").open("rb") as file:
            return str(tomllib.load(file)["project"]["version"])


def _silence(stream: TextIO) -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return
