"""Argument parsing that the verbs share."""

from __future__ import annotations

import argparse
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reducer.errors import did_you_mean, nearest


def parser(
    verb: str, documentation: str | None, shared: Sequence[str] = (), formats: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """Return the parser of a verb with `shared` arguments and `--format`, whose default is the first of `formats`.

    `documentation` is the docstring of the verb's module; arguments are printed before its examples.
    """
    description, title, examples = (documentation or "").partition("examples:\n")
    reader = argparse.ArgumentParser(
        f"reducer {verb}",
        description=description,
        epilog=title + examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for argument in shared:
        reader.add_argument(argument, **_SHARED[argument])
    if formats:
        default = f"output format (default: {formats[0]})"
        reader.add_argument("--format", choices=formats, default=formats[0], help=default)
    return reader


def parse(reader: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse arguments and options in any order. Exits with code 2 if one of them is invalid."""
    options, unknown = reader.parse_known_intermixed_args(arguments)
    if unknown:
        known = re.findall(r"(?<!\S)--[a-z-]+", reader.format_help())  # argparse has no public list of its options
        near = nearest(unknown[0].partition("=")[0], known)
        question = f"; {did_you_mean(near)}" if near else ""
        reader.error(f"unrecognized arguments: {' '.join(unknown)}{question}")
    return options


def explained(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return an argument type that reports the message of a `ValueError` raised by `read`."""

    def checked(text: str) -> Any:
        try:
            return read(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from None

    return checked


@explained
def _input_format(text: str) -> str:
    """Check the name of a format. `auto` is the default, which argparse checks in every run."""
    if text != "auto":
        from reducer.histories.stored import formats_of  # takes time to import

        formats_of(text)
    return text


_SHARED: Mapping[str, Mapping[str, Any]] = {
    "histories": {"nargs": "*", "metavar": "HISTORY", "help": "stored histories, folders, or - for standard input"},
    "rules": {"nargs": "*", "metavar": "RULES", "help": "rule files, folders, or packs such as builtin:web"},
    "--strict": {"action": "store_true", "help": "exit with 1 for warnings too"},
    "--rules": {
        "action": "append",
        "default": [],
        "metavar": "RULES",
        "help": "rule files, folders or packs; repeatable",
    },
    "--tool": {
        "metavar": "GLOB",
        "help": "only returns of tools that match; for a sample, the tool that returned it",
    },
    "--call": {"metavar": "ID", "help": "only the return with this call id (ID#2: the second return with this id)"},
    "--input-format": {
        "type": _input_format,
        "default": "auto",
        "metavar": "FORMAT",
        "help": "format of the histories, such as openai-chat (default: detect it)",
    },
}
"""Arguments that several verbs have."""


def integer(what: str, least: int, most: int = 10**9) -> Callable[[str], int]:
    """Return an argument type for integers from `least` to `most`; messages call the value `what`."""

    def read(text: str) -> int:
        if not (text.isdecimal() and len(text) <= 10 and least <= int(text) <= most):
            raise ArgumentTypeError(f"expected {what} from {least:,} to {most:,}, not {text}")
        return int(text)

    return read


def share(text: str) -> float:
    """Read a share such as `95%`, `95` or `0.95` as a number from 0 to 1. Raises `ArgumentTypeError`."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if text.endswith("%") or value > 1:
        value /= 100
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"expected a share such as 95% or 0.95, not {text}")
    return value
