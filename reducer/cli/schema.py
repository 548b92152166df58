"""Print the JSON Schema (draft 2020-12) of rule files, for editors.

examples:
  python -m reducer schema -o rules/.schema.json   for rule files in rules/ that start with the line below
  python -m reducer schema --rules my/             with the entity types and conditions that these rules define
  python -m reducer schema --history session.json  with the tools in a stored history

If the first line of a rule file names its schema, editors with yaml-language-server complete and check the file:
  # yaml-language-server: $schema=.schema.json
Without --rules, the rules in ./rules are used, otherwise the built-in rules.
Exit codes: 0 done, 2 cannot run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reducer.cli.arguments import parse, parser
from reducer.cli.inputs import read_histories
from reducer.cli.outputs import check_targets, write
from reducer.cli.sources import choose_rules
from reducer.histories.stored import returns
from reducer.inputs.sources import Source, find_sources
from reducer.rules.schema import schema_text


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("schema", __doc__, ("--rules",))
    add = reader.add_argument
    add("--history", action="append", default=[], metavar="FILE", help="suggest the tools in these histories")
    add("-o", "--output", default="-", metavar="FILE", help="write the schema there (default: standard output)")
    options = parse(reader, arguments)
    target = None if options.output == "-" else Path(options.output)
    files = choose_rules(options.rules).files
    if target is not None:
        check_targets([target], [*files, *(source.path for source in find_sources(options.history))])
    tools = read_histories(options.history, _tools)[0] if options.history else []
    write(target, schema_text(set[str]().union(*tools), files))
    return 0


def _tools(_: Source, history: bytes) -> set[str]:
    return {entry.tool for entry in returns(history) if not entry.untouched}
