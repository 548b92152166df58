"""The command line: `python -m reducer [HISTORY ...]`, the dry run, and other verbs by their names.

What a verb needs is imported when it runs: `--version` starts in the time that Python takes.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TextIO

from reducer.cli.stop import Stop, say

__all__ = ["VERBS", "main"]

VERBS: Mapping[str, str] = {
    "run": "the dry run, which is what runs without a verb",
    "init": "draft rules for tools that have none, each with a sample and a test",
    "query": "show what a path finds in samples and histories",
    "check": "find the mistakes in rule files",
    "test": "run the tests that stand in rule files",
    "explain": "say in plain words what rules do, why a return was reduced as it was, what a code means",
    "schema": "print the rule language as a JSON Schema, for editors",
    "validate": "check the structure of stored histories, and reductions against their originals",
    "compare": "put rule sets and blunt baselines side by side on histories",
    "entities": "find indicators and names of threats in texts and JSON",
    "learn": "draft rules from recorded histories",
    "restore": "put the originals of an archive back into a history",
    "archive": "tell what an archive of originals holds, or shorten it",
}
"""What each verb does, in the order in which they are listed. A verb is the module of that name in `reducer.cli.verbs`."""


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
    verb = arguments[0] if arguments and arguments[0] in VERBS else None
    module = import_module(f"reducer.cli.verbs.{verb or 'run'}")
    code: int = module.main(arguments[1:] if verb else arguments)
    return code


def _silence(stream: TextIO) -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return
