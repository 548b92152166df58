"""Write the section about actions in `rules/README.md`: `python -m tests.tools.write_rules_page`."""

from __future__ import annotations

from pathlib import Path

from reducer.operations import operations
from reducer.rules.schema import hover

PAGE = Path(__file__).parents[2] / "rules" / "README.md"
BEGIN, END = "<!-- actions -->\n", "<!-- /actions -->\n"


def actions() -> str:
    """Describe every action in Markdown, from its docstring and its examples."""
    return "".join(f"\n### `{verb}`\n\n{hover(op)}\n" for verb, op in operations().items()) + "\n"


def main() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{actions()}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
