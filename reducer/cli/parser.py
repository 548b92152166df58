"""How verbs read their arguments."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial


def parser(verb: str, about: str, examples: str) -> argparse.ArgumentParser:
    """Make the parser of a verb: `about` stands before its options, `examples` after them, both as they are laid out."""
    layout = partial(argparse.RawDescriptionHelpFormatter, max_help_position=28)
    return argparse.ArgumentParser(f"reducer {verb}".strip(), description=about, epilog=examples, formatter_class=layout, allow_abbrev=False)


def parsed(reader: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of a verb, names and options in any order; what is wrong with them ends it with exit code 2."""
    options, unknown = reader.parse_known_intermixed_args(arguments)
    if unknown:
        # argparse has no public list of the options: they are what its help names.
        known = sorted(set(re.findall(r"(?<!\S)--[a-z-]+", reader.format_help())))
        nearest = get_close_matches(unknown[0].partition("=")[0], known, 1)
        meant = f"; did you mean {nearest[0]}?" if nearest else ""
        reader.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
    return options
