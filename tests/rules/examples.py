"""Rule files for tests: the cases in `cases.yaml`, and the examples in `reducer/rules/diagnostics.toml`."""

from __future__ import annotations

import re
from typing import Any

from tests.helpers import table

CASES: dict[str, Any] = table(__file__, "cases.yaml")


def example_files(example: str) -> dict[str, bytes]:
    """Return the rule files of an example by name.

    Missing keys are added unless the first line is `#!`. `\\xfc` stands for this byte, which is not valid UTF-8.
    """
    named = split_files("a.yaml", example)
    return {name: _completed(text).encode().replace(b"\\xfc", b"\xfc") for name, text in named}


def split_files(first: str, text: str) -> list[tuple[str, str]]:
    """Split a text into named files: a line such as `# b.yaml` starts a new file."""
    parts = re.split(r"^# (\w+\.yaml)\n", text, flags=re.MULTILINE)
    return list(zip([first, *parts[1::2]], parts[::2], strict=True))


def _completed(text: str) -> str:
    if text.startswith("#!\n"):
        return text.removeprefix("#!\n")
    if text.startswith("- "):
        text = "steps:\n" + "".join(f"  {line}\n" for line in text.splitlines())
    head = "" if "version:" in text else "version: 1\n" if "tool:" in text else "version: 1\ntool: lookup\n"
    return head + text
