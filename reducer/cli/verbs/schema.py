"""`schema`: prints the rule language as a JSON Schema, for editors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from reducer.cli.output import refuse, write
from reducer.cli.parser import parsed, parser
from reducer.cli.rules import choose_rules
from reducer.cli.stop import Stop

_EXAMPLES = """\
examples:
  python -m reducer schema -o rules/.schema.json   for the rule files in rules/ that begin with the line below
  python -m reducer schema --history session.json -o rules/.schema.json
                                                   with the tools of a stored history among the suggestions
  python -m reducer schema --rules my/ -o my/.schema.json
                                                   with the entity types and conditions that the rule files of a folder describe
  python -m reducer schema | diff - rules/.schema.json
                                                   whether the one that is stored is current

The first line of a rule file says where its schema is, seen from the file; editors with yaml-language-server
(VS Code's YAML extension, Neovim, Helix, Emacs and others) then complete, explain and check:
  # yaml-language-server: $schema=.schema.json
Without --rules, ./rules is used if it has rule files, else the rules bundled with reducer.
Exit codes: 0 done, 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop` for what cannot be read or written."""
    reader = parser("schema", "Print the rule language as a JSON Schema (draft 7), for editors.", _EXAMPLES)
    reader.add_argument("--history", action="append", metavar="FILE", help="suggest the tools of a stored history; a folder, or - for standard input too")
    reader.add_argument("--rules", action="append", metavar="DIR|FILE", help="know the entity types and conditions of these rule files")
    reader.add_argument("-o", "--output", default="-", metavar="FILE", help="write it there (default: standard output)")
    options = parsed(reader, arguments)
    return schema(options.history or (), options.rules or (), options.output)


def schema(histories: Sequence[str], rules: Sequence[str], output: str) -> int:
    """Write the schema to `output` and give the exit code. Raises `Stop` for what cannot be read or written."""
    if output != "-":
        refuse(output, [*choose_rules(rules).files, *(Path(name) for name in histories if name != "-")])
    write(output, schema_text(_tools(histories), rules))
    return 0


def schema_text(tools: Iterable[str], rules: Sequence[str]) -> bytes:
    """Give the schema that suggests `tools` as it is written, JSON as UTF-8. Raises `Stop` for rules that cannot be read."""
    from reducer.schema import rule_schema

    files = choose_rules(rules).files
    entities, conditions = (sorted({name for file in files for name in _described(file, key)}) for key in ("entities", "conditions"))
    text = json.dumps(rule_schema(sorted(set(tools)), entities, conditions), ensure_ascii=False, indent=1)
    return f"{text}\n".encode("utf-8", "backslashreplace")  # half a character as its JSON escape


def _tools(names: Sequence[str]) -> Iterator[str]:
    """Give the tools of the returns in histories that rules may apply to. Raises `Stop` for what is no history."""
    if not names:
        return
    from reducer.cli.histories import each
    from reducer.cli.units import read_units
    from reducer.errors import HistoryError
    from reducer.stored import returns

    for source in each(names):
        for unit in read_units([source], {}, frozenset()):
            if unit.form == "fault":
                raise Stop(unit.message)
            whole = unit.form == "history"
            for content in [unit.content] if whole else unit.content.splitlines() if unit.form == "lines" else ():
                try:
                    yield from (found.tool for found in returns(content) if not found.untouched)
                except HistoryError as error:
                    # Of lines those that are no history are passed over, as by the dry run.
                    if whole:
                        raise Stop(f"{source.name}: {error}") from None


def _described(file: Path, key: str) -> Iterator[str]:
    """Give the names that a rule file describes under a key, whatever else is wrong with it."""
    from reducer.source import parse, plain

    try:
        tree, _ = parse(file.read_bytes(), str(file))
    except OSError as error:
        raise Stop(f"{file}: {error.strerror or error}") from None
    rule: Any = None if tree is None else plain(tree)
    described = rule.get(key) if type(rule) is dict else None
    yield from (str(name) for name in described) if type(described) is dict else ()
