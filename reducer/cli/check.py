"""Find mistakes in rule files.

examples:
  python -m reducer check
      ./rules, or the built-in rules if there is none
  python -m reducer check --fix
      correct misspelt keys, missing quotes and similar mistakes, then check
  python -m reducer check --format json
      for other programs

Exit codes: 0 no errors, 1 errors (with --strict, also warnings), 2 cannot run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType

from reducer.analysis.records import problem_fields
from reducer.cli.arguments import parse, parser
from reducer.cli.outputs import write
from reducer.cli.screen import CommandError, counted, has_failed, print_json, print_problem, problem_counts, visible
from reducer.cli.sources import Chosen, choose_rules
from reducer.errors import Diagnostic
from reducer.files import has_samples, is_builtin
from reducer.rules import Ruleset, check_rules
from reducer.rules.fix import fixed


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("check", __doc__, ("rules", "--strict"), formats=("text", "json"))
    reader.add_argument("--fix", action="store_true", help="apply the corrections that are safe, then check")
    options = parse(reader, arguments)
    if options.fix:
        _correct(choose_rules(options.rules))
    chosen = choose_rules(options.rules)
    ruleset, problems = check_with_samples(*chosen.sources)
    replaced = ruleset.replaced if ruleset else ()
    severities = Counter(map(attrgetter("severity"), problems))
    if options.format == "json":
        print_json({"problems": list(map(problem_fields, problems)), "replaced": replaced})
    else:
        for problem in problems:
            print_problem(f"{problem}\n")
        for each in replaced:
            print(visible(str(each)))
        files = counted(len(chosen.files), "rule file") + ("" if options.rules else f" in {chosen.name}")
        print(problem_counts(severities, files))
    return has_failed(severities, options.strict)


def check_with_samples(
    *sources: Path | str, edited: Mapping[str, bytes] = MappingProxyType({})
) -> tuple[Ruleset | None, tuple[Diagnostic, ...]]:
    """Return the same as `check_rules`, with the problems that running the rules on their samples reveals."""
    ruleset, problems = check_rules(*sources, edited=edited)
    if ruleset is None:
        return None, problems
    found = list(problems)
    for rule in ruleset.rules:
        has_files = Path(rule.file).with_name("samples").is_dir()
        if has_samples(rule.file) and (has_files or rule.tests or not rule.statically_idempotent):
            from reducer.analysis.sample_checks import problems_when_run  # the engine takes time to import

            found += problems_when_run(rule, ruleset, edited.get(rule.file))
    return ruleset, tuple(sorted(found, key=attrgetter("location")))


def _correct(chosen: Chosen) -> None:
    """Correct rule files in place. Raises `CommandError` and OSError."""
    if not Path("rules").is_dir() and any(map(is_builtin, chosen.files)):
        raise CommandError("the built-in rules are never changed; specify your own")
    before = {str(file): file.read_bytes() for file in chosen.files}
    after = fixed(before, lambda texts: check_with_samples(*chosen.sources, edited=texts)[1])
    for name, text in after.items():
        if text != before[name]:
            write(Path(name), text)
