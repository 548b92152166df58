"""`test`: runs the inline tests of rule files."""

from __future__ import annotations

from collections.abc import Sequence

from reducer.cli.parser import parsed, parser
from reducer.cli.watch import watch

_ABOUT = """\
Run the tests that stand in rule files, and check the laws of reducing on each: the same type, root keys stay, nothing is invented,
reducing again changes nothing, never larger, preserved entities still stand.
"""
_EXAMPLES = """\
examples:
  python -m reducer test                        ./rules, or the bundled rules where there is none
  python -m reducer test rules/ more.yaml       folders and files
  python -m reducer test -k 'newest and not misp'
                                                tests with such words in their names, tools or files
  python -m reducer test --coverage             and which rules and steps no test exercises
  python -m reducer test --require-tests        fail for rules without tests
  python -m reducer test --update               write the snapshots anew that have changed
  python -m reducer test --watch                run again whenever a rule or a sample is saved
  python -m reducer test --format junit         for continuous integration; json for other programs

A test:
  tests:
    - name: the newest stay
      given: {file: samples/lookup.json}        or json: …, text: …, history: h.json with call: ID
      expect: {max_chars: 4000, contains: [APT28], values: {"length(records)": 20}}
  More to expect: unchanged, equals, not_contains, min_reduction: 80%, preserves: [ioc], snapshot: samples/lookup.expected.json

Exit codes: 0 all passed, 1 something failed (with --require-tests also a rule without tests), 2 cannot run.
"""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and give the exit code. Raises `Stop`."""
    reader = parser("test", _ABOUT, _EXAMPLES)
    reader.add_argument("rules", nargs="*", metavar="RULES", help="rule files, or folders of them")
    reader.add_argument("-k", dest="chosen", metavar="EXPR", help="only tests with such words in the name, the tool or the file: `and`, `or`, `not`, ( )")
    reader.add_argument("-v", "--verbose", action="store_true", help="name every test, and what it saves")
    reader.add_argument("--coverage", action="store_true", help="list rules without tests and steps that no test exercises")
    reader.add_argument("--require-tests", action="store_true", help="fail for rules without tests")
    reader.add_argument("--update", action="store_true", help="write snapshots anew where they differ from what the rules give")
    reader.add_argument("--format", choices=("text", "junit", "json"), default="text", help="what is printed (default: text)")
    reader.add_argument("--watch", action="store_true", help="run again when a rule, a sample or a snapshot is saved, and tell what changed")
    options = parsed(reader, arguments)
    from reducer.cli.testing import Options, run_tests, watched

    asked = Options(tuple(options.rules), options.chosen, options.verbose, options.coverage, options.require_tests, options.update, options.format)
    if options.watch:
        watch(watched(asked))
    return run_tests(asked)
