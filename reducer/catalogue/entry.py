"""One kind of mistake in a rule file, and how its examples are written."""

from __future__ import annotations

import re
from typing import NamedTuple


class Entry(NamedTuple):
    """A code with its short name, its cause in one sentence, and the same thing written wrong and right.

    Both examples are whole rule files, or the part of one that `files` completes; behind a line `#!` nothing is added. They are empty
    where the mistake is no text.
    """

    code: str
    name: str
    cause: str
    wrong: str
    right: str


def files(example: str) -> dict[str, bytes]:
    """Give the rule files of an example by their names: what stands below a line such as `# b.yaml` is a file of that name.

    A lone surrogate from U+DC80 on stands for a byte that is not UTF-8.
    """
    parts = re.split(r"^# (\w+\.yaml)\n", example, flags=re.MULTILINE)
    named = zip(["a.yaml", *parts[1::2]], parts[::2], strict=True)
    return {name: _whole(text).encode("utf-8", "surrogateescape") for name, text in named}


def _whole(text: str) -> str:
    """Complete a rule file: steps get their place and what stands above, other keys a `version` and a `tool`."""
    if text.startswith("#!\n"):
        return text.removeprefix("#!\n")
    if text.startswith("- "):
        text = "steps:\n" + "".join(f"  {line}\n" for line in text.splitlines())
    head = "" if "version:" in text else "version: 1\n" if "tool:" in text else "version: 1\ntool: lookup\n"
    return head + text
