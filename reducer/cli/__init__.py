"""The command line: `main(argv)` runs one verb and returns its exit code (0 done, 1 found something, 2 cannot run).

Each verb is a module of this package with `main(arguments) -> int`; its docstring is the help text. It is imported only
when the verb runs, so that `--version` starts as fast as Python itself.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from reducer.cli.screen import CommandError, say
from reducer.errors import ArchiveError, FileError, did_you_mean, nearest, reason

__all__ = ["VERBS", "main"]

VERBS: Mapping[str, str] = {
    "run": "show what rules do to stored histories (the default)",
    "init": "draft rules for tools without one, each with a sample and a test",
    "query": "show what a path selects in samples and histories",
    "check": "find mistakes in rule files",
    "try": "show what a rule does to samples of its tool",
    "test": "run the tests in rule files",
    "serve": "open the workbench in the browser: edit rules and see what they do",
    "mcp": "run a proxy that reduces what MCP servers return",
    "rules": "list the built-in rules, or copy some of them",
    "explain": "explain rules, how one return is reduced, or a diagnostic code",
    "schema": "print the JSON Schema of rule files, for editors",
    "validate": "check stored histories, or compare them with their originals",
    "compare": "compare rule sets and simple baselines on histories",
    "entities": "find indicators and threat names in text and JSON",
    "restore": "restore original tool returns from an archive",
    "archive": "show what an archive contains, or delete old originals",
}
"""The help of each verb, in the order in which the help lists them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line with `argv`, by default the arguments of the process, and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    verb = arguments.pop(0) if arguments and arguments[0] in VERBS else "run"
    _prepare_streams()
    gc.set_threshold(50_000)  # imports create no garbage, and collecting it takes a seventh of the start-up time
    try:
        code: int = import_module(f"reducer.cli.{verb}").main(arguments)
        sys.stdout.flush()
        return code
    except (CommandError, FileError, ArchiveError) as error:
        say(f"error: {error}")
        return 2
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # `rich` exits with 1 if the reader closed the output
            return 0
        return error.code if isinstance(error.code, int) else 2
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.filename is None:  # the output cannot be written
            with suppress(OSError, ValueError):  # flushing the buffer at exit must not raise again
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader closed the output
            return 0
        say(f"error: {error.filename or 'cannot write'}: {reason(error)}{_nearest(error)}")
        return 2


def _nearest(error: OSError) -> str:
    """Suggest a verb, or a file in the same folder, for a name that does not exist."""
    if not isinstance(error, FileNotFoundError):
        return ""
    name = Path(str(error.filename))
    verb = nearest(str(name), VERBS)
    if verb:
        return f"; did you mean the verb `{verb}`?"
    near = nearest(name.name, os.listdir(name.parent)) if name.parent.is_dir() else ""
    return f"; {did_you_mean(str(name.with_name(near)))}" if near else ""


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name) or open(os.devnull, "w")  # noqa: SIM115  # the parent process closed it
        setattr(sys, name, stream)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # never fail because a terminal lacks a character
