"""Print the JSON Schema (draft 2020-12) of rule files, for editors.

examples:
  python -m reducer schema -o rules/.schema.json
      for rule files in rules/ that start with the line below
  python -m reducer schema --rules my/
      with the entity types and conditions that these rules define

If the first line of a rule file names its schema, editors with
yaml-language-server complete and check the file:
  # yaml-language-server: $schema=.schema.json
Without --rules, the rules in ./rules are used, otherwise the built-in rules.
Exit codes: 0 done, 2 cannot run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reducer.cli.arguments import parse, parser
from reducer.cli.outputs import check_targets, write
from reducer.cli.sources import choose_rules
from reducer.rules.schema import schema_text


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("schema", __doc__, ("--rules",))
    output = "write the schema there (default: standard output)"
    reader.add_argument("-o", "--output", default="-", metavar="FILE", help=output)
    options = parse(reader, arguments)
    target = None if options.output == "-" else Path(options.output)
    files = choose_rules(options.rules).files
    if target is not None:
        check_targets([target], [], files)
    write(target, schema_text((), files))
    return 0
