"""The examples in `reducer/rules/diagnostics.toml` as rule files."""

from __future__ import annotations

import re


def example_files(example: str) -> dict[str, bytes]:
    """Return the rule files of an example by their names.

    A line such as `# b.yaml` starts another file. Missing keys are added unless the first line is `#!`. `\\xfc` stands
    for that byte, which is not UTF-8.
    """
    parts = re.split(r"^# (\w+\.yaml)\n", example, flags=re.MULTILINE)
    named = zip(["a.yaml", *parts[1::2]], parts[::2], strict=True)
    return {name: _completed(text).encode().replace(b"\\xfc", b"\xfc") for name, text in named}


def _completed(text: str) -> str:
    if text.startswith("#!\n"):
        return text.removeprefix("#!\n")
    if text.startswith("- "):
        text = "steps:\n" + "".join(f"  {line}\n" for line in text.splitlines())
    head = "" if "version:" in text else "version: 1\n" if "tool:" in text else "version: 1\ntool: lookup\n"
    return head + text
