"""The command line: `main(argv)` runs one verb and returns its exit code (0 done, 1 found something, 2 cannot run).

A verb is the module of its name in this package, with `main(arguments) -> int`; its help, its options and what it does
are in that module. It is imported when it runs, so that `--version` takes no longer than Python itself.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TextIO

from reducer.cli.messages import CommandError, say

__all__ = ["VERBS", "main"]

VERBS: Mapping[str, str] = {
    "run": "show what rules do to stored histories (the default)",
    "init": "draft rules for tools that have none, each with a sample and a test",
    "query": "show what a path selects in samples and histories",
    "check": "find mistakes in rule files",
    "test": "run the tests in rule files",
    "explain": "explain rules, the reduction of one tool return, or a diagnostic code",
    "schema": "print the JSON Schema of rule files, for editors",
    "validate": "check the structure of stored histories, and reduced histories against their originals",
    "compare": "compare rule sets and simple baselines on histories",
    "entities": "find indicators and threat names in text and JSON",
    "learn": "draft rules from recorded histories",
    "restore": "restore original tool returns from an archive",
    "archive": "show what an archive of originals contains, or shrink it",
}
"""What each verb does, in the order of the help."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line with `argv`, by default the arguments of the process, and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _prepare_streams()
    thresholds = gc.get_threshold()
    # Imports create no garbage; looking for it takes a seventh of the start-up time.
    gc.set_threshold(50_000, *thresholds[1:])
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except CommandError as error:
        say(f"error: {error}")
        code = 2
    except SystemExit as exit:
        code = exit.code if isinstance(exit.code, int) else 2
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader of the output has closed it. What is left in the buffer must not raise again at exit.
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
    module = import_module(f"reducer.cli.{verb or 'run'}")
    code: int = module.main(arguments[1:] if verb else arguments)
    return code


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the parent process closed it
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            # A terminal without arrows or accents is no reason to fail.
            reconfigure(errors="backslashreplace")


def _silence(stream: TextIO) -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return
