"""`schema`: prints the JSON Schema of rule files, for editors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from reducer.cli.arguments import parse, parser
from reducer.cli.inputs import all_sources, read_chunks
from reducer.cli.messages import CommandError, reason
from reducer.cli.outputs import check_target, write
from reducer.cli.rules import choose_rules, names_under
from reducer.errors import HistoryError
from reducer.histories.stored import returns
from reducer.rules.schema import rule_schema

_EXAMPLES = """\
examples:
  python -m reducer schema -o rules/.schema.json   for the rule files in rules/ that start with the line below
  python -m reducer schema --history session.json -o rules/.schema.json
                                                   suggest the tools of a stored history
  python -m reducer schema --rules my/ -o my/.schema.json
                                                   with the entity types and conditions that rule files define
  python -m reducer schema | diff - rules/.schema.json
                                                   check that the stored schema is current

The first line of a rule file says where its schema is, relative to the file. Editors with yaml-language-server
(VS Code's YAML extension, Neovim, Helix, Emacs and others) then complete, explain and check:
  # yaml-language-server: $schema=.schema.json
Without --rules, the rules in ./rules are used, otherwise the bundled rules.
Exit codes: 0 done, 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("schema", "Print the JSON Schema (draft 2020-12) of rule files, for editors.", _EXAMPLES)
    add = reader.add_argument
    add("--history", action="append", default=[], metavar="FILE", help="suggest the tools of these histories; or -")
    add(
        "--rules",
        action="append",
        default=[],
        metavar="DIR|FILE",
        help="include the types and conditions defined there",
    )
    add("-o", "--output", default="-", metavar="FILE", help="write the schema there (default: standard output)")
    options = parse(reader, arguments)
    target = None if options.output == "-" else Path(options.output)
    if target is not None:
        histories = (Path(name) for name in options.history if name != "-")
        check_target(options.output, [*choose_rules(options.rules).files, *histories])
    write(target, schema_text(_tools(options.history), options.rules))
    return 0


def schema_text(tools: Iterable[str], rules: Sequence[str]) -> bytes:
    """Return the schema that suggests `tools`, as JSON in UTF-8. Raises `CommandError`."""
    try:
        files = choose_rules(rules).files
        entities, conditions = (
            sorted({name for file in files for name in names_under(file, key)}) for key in ("entities", "conditions")
        )
    except OSError as error:
        raise CommandError(f"{error.filename}: {reason(error)}") from None
    text = json.dumps(rule_schema(sorted(set(tools)), entities, conditions), ensure_ascii=False, indent=1)
    return f"{text}\n".encode("utf-8", "backslashreplace")  # a lone surrogate as its JSON escape


def _tools(names: Sequence[str]) -> Iterator[str]:
    """Yield the tools of the reducible returns in histories. Raises `CommandError` for a file that is no history."""
    for source in all_sources(names):
        for chunk in read_chunks(source):
            whole = chunk.kind == "history"
            for content in [chunk.content] if whole else chunk.content.splitlines() if chunk.kind == "lines" else ():
                try:
                    yield from (found.tool for found in returns(content) if not found.untouched)
                except HistoryError as error:
                    # Invalid lines are skipped, as in `run`.
                    if whole:
                        raise CommandError(f"{source.name}: {error}") from None
