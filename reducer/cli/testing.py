"""The inline tests of rule files, run and printed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from reducer.cli.expression import chosen_by
from reducer.cli.output import write
from reducer.cli.rules import choose_rules, load, read_besides, short
from reducer.cli.stop import Stop, say
from reducer.cli.watch import Watched
from reducer.errors import Problem
from reducer.proof import Proof, Snapshots, chosen_tests, prove_all
from reducer.proof.coverage import Coverage, coverage, untested
from reducer.proof.located import At, failures_of, gaps_at, reader
from reducer.proof.snapshots import snapshots_for
from reducer.proof.text import count, covered, lines_of, summary, told
from reducer.rule import Ruleset
from reducer.screen import visible


class Options(NamedTuple):
    """What the command line asks for."""

    rules: tuple[str, ...]
    chosen: str | None = None
    verbose: bool = False
    coverage: bool = False
    required: bool = False
    update: bool = False
    format: str = "text"


class Tested(NamedTuple):
    """What was found: the tests, in the order of the files, what they leave out, and the rules without tests if those fail."""

    proofs: tuple[Proof, ...]
    coverage: Coverage | None
    untested: tuple[Problem, ...]
    read: Callable[[str], At]


def run_tests(options: Options, hears: Callable[[Tested], None] | None = None) -> int:
    """Run the tests, print what they found, and give the exit code; `hears` gets it. Raises `Stop`."""
    if options.chosen is not None and options.coverage:
        raise Stop("--coverage is about all tests, and -k chooses some: leave one of them out")
    chosen = None if options.chosen is None else chosen_by(options.chosen)
    files = choose_rules(options.rules)
    ruleset = load(files)
    meant = list(chosen_tests(ruleset, chosen))
    if chosen is not None and not meant:
        raise Stop(f"-k {options.chosen}: no test has that in its name, its tools or its file")
    snapshots = snapshots_for(ruleset.rules) if options.update else None
    read = reader()
    show = _printer(options.verbose, read) if options.format == "text" else None
    proofs = tuple(_shown(prove_all(ruleset, meant, snapshots), show))
    found = coverage(ruleset.rules, proofs) if options.coverage else None
    missing = tuple(gaps_at(untested(ruleset.rules), read)) if options.required else ()
    tested = Tested(proofs, found, missing, read)
    _print(tested, ruleset, options.format)
    if snapshots is not None:
        _write(snapshots)
    if hears is not None:
        hears(tested)
    return 1 if missing or any(proof.failures for proof in proofs) else 0


def watched(options: Options) -> Watched:
    """Make what runs the tests again and again. Raises `Stop`."""
    if options.format != "text":
        raise Stop("--watch is for people: leave out --format")

    def run() -> dict[str, str]:
        found: list[Tested] = []
        run_tests(options, found.append)
        return {f"{proof.rule.file}: {proof.test.name}": "failed" if proof.failures else "passed" for proof in found[0].proofs}

    return Watched(run, lambda: choose_rules(options.rules).files, lambda: read_besides(choose_rules(options.rules).files))


def _shown(proofs: Iterable[Proof], show: Callable[[Proof], None] | None) -> Iterator[Proof]:
    for proof in proofs:
        if show is not None:
            show(proof)
        yield proof


def _printer(verbose: bool, read: Callable[[str], At]) -> Callable[[Proof], None]:
    tell = _teller()

    def show(proof: Proof) -> None:
        if proof.failures:
            tell("\n".join((*lines_of(proof, failures_of(proof, read)), "")))
        elif verbose:
            saved = f"{proof.before:,} -> {proof.after:,} characters" if proof.after != proof.before else f"{proof.before:,} characters, unchanged"
            print(visible(f"passed  {proof.rule.file}: {proof.test.name} ({saved})"))

    return show


def _print(tested: Tested, ruleset: Ruleset, format: str) -> None:
    if format == "json":
        from reducer.proof.json import as_json

        print(json.dumps(as_json(tested.proofs, tested.coverage, tested.untested, tested.read), ensure_ascii=False, indent=2))
        return
    if format == "junit":
        from reducer.proof.junit import as_junit

        print(as_junit(tested.proofs, tested.untested, tested.read))
        return
    tell = _teller()
    gaps = gaps_at(tested.coverage.gaps, tested.read) if tested.coverage is not None else []
    failing = {problem.location for problem in tested.untested}
    for problem in tested.untested:
        tell(f"{told(problem, 'failed')}\n")
    for gap in gaps:
        if gap.location not in failing:
            tell(f"{told(gap, 'not tested')}\n")
    if tested.coverage is not None:
        print(covered(tested.coverage))
    without = f"; {count(len(tested.untested), 'rule')} without tests" if tested.untested else ""
    print(f"{summary(len(ruleset.rules), tested.proofs)}{without}")


def _write(snapshots: Snapshots) -> None:
    for file, content in snapshots.files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Stop(f"{file.parent}: {error.strerror or error}") from None
        write(str(file), content)
        say(f"wrote {short(file)}, {len(content):,} bytes")


def _teller() -> Callable[[str], None]:
    """Give what prints a text of problems: coloured on a terminal that wants it."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return lambda text: print(visible(text, "\n\t"))  # without colour there is no need for rich, which takes time to import
    from rich.text import Text

    from reducer.screen import console

    screen = console(sys.stdout)

    def tell(text: str) -> None:
        shown = Text(visible(text, "\n\t"))
        shown.highlight_regex(r"(?m)^\S.*?: failed:|\^+$", "bold red")
        shown.highlight_regex(r"(?m)^\S.*?: not tested:", "bold yellow")
        shown.highlight_regex(r"(?m)^  (help|expected|seen):", "bold cyan")
        shown.highlight_regex(r"(?m)^  (step \d+|max_chars).*", "dim")
        screen.print(shown, soft_wrap=True)

    return tell
