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

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from reducer.cli.arguments import parse, parser
from reducer.cli.files import Source, check_targets, find_sources, read_histories, write
from reducer.cli.sources import choose_rules
from reducer.files import MAX_RULE_BYTES, read_file
from reducer.histories.stored import returns
from reducer.rules.parser import parse as parse_rule
from reducer.rules.parser import plain
from reducer.rules.schema import rule_schema


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("schema", __doc__, ("--rules",))
    add = reader.add_argument
    add("--history", action="append", default=[], metavar="FILE", help="suggest the tools in these histories")
    add("-o", "--output", default="-", metavar="FILE", help="write the schema there (default: standard output)")
    options = parse(reader, arguments)
    target = None if options.output == "-" else Path(options.output)
    if target is not None:
        sources = find_sources(options.history) if options.history else []
        check_targets([target], [*choose_rules(options.rules).files, *(source.path for source in sources)])
    tools = read_histories(options.history, _tools)[0] if options.history else []
    write(target, schema_text(set[str]().union(*tools), options.rules))
    return 0


def schema_text(tools: Iterable[str], rules: Sequence[str]) -> bytes:
    """Return the schema as JSON in UTF-8; it suggests `tools`. Raises `CommandError` and OSError."""
    trees = [parse_rule(read_file(file, MAX_RULE_BYTES), str(file))[0] for file in choose_rules(rules).files]
    contents = [plain(tree) for tree in trees if tree is not None]
    schema = rule_schema(sorted(set(tools)), _names(contents, "entities"), _names(contents, "conditions"))
    text = json.dumps(schema, ensure_ascii=False, indent=1)
    return f"{text}\n".encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape


def _names(contents: Iterable[Any], key: str) -> list[str]:
    """Return the keys of a top-level mapping of rule files, which may contain any errors."""
    mappings = (content.get(key) for content in contents if type(content) is dict)
    return sorted({str(name) for names in mappings if type(names) is dict for name in names})


def _tools(_: Source, history: bytes) -> set[str]:
    return {entry.tool for entry in returns(history) if not entry.untouched}
