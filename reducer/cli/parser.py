"""How verbs read their arguments."""

from __future__ import annotations

import argparse
from functools import partial


def parser(verb: str, about: str, examples: str) -> argparse.ArgumentParser:
    """Make the parser of a verb: `about` stands before its options, `examples` after them, both as they are laid out."""
    layout = partial(argparse.RawDescriptionHelpFormatter, max_help_position=28)
    return argparse.ArgumentParser(f"reducer {verb}".strip(), description=about, epilog=examples, formatter_class=layout, allow_abbrev=False)
