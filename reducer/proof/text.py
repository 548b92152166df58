"""What inline tests found, as text: each failure at its place, with what was expected, what was seen, and what the steps did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reducer.errors import Problem
from reducer.proof import Failure, Proof
from reducer.proof.coverage import Coverage
from reducer.report import StepReport


def lines_of(proof: Proof, failures: Iterable[tuple[Failure, Problem]]) -> Iterator[str]:
    """Write a failed test: every failure at its place, in the end what each step did."""
    for failure, problem in failures:
        yield f"{problem.location}: failed: {problem.message}"
        yield from problem.pointed()
        if failure.expected and not failure.what.startswith("law"):
            yield f"  expected: {failure.expected}"
            yield f"  seen:     {failure.seen}"
        if problem.help:
            yield f"  help: {problem.help}"
    yield from (f"  {line}" for line in steps_of(proof))


def told(problem: Problem, word: str) -> str:
    """Write something that tests leave out."""
    return "\n".join((f"{problem.location}: {word}: {problem.message}", *problem.pointed()))


def steps_of(proof: Proof) -> Iterator[str]:
    """Say what each step did, one line each."""
    if proof.gated:
        yield "no step ran: the `when` of the rule does not hold"
    yield from map(_step, proof.steps)


def _step(step: StepReport) -> str:
    name = f"step {step.step.number}, {step.step.name}" if step.step else "max_chars"
    if not step.ran:
        return f"{name}: its `when` does not hold"
    if step.missing and not step.places:
        return f"{name}: {step.missing[0]}"
    if step.before == step.after:
        return f"{name}: nothing to take"
    back = f", of which preserve put back {step.put_back:,}" if step.put_back else ""
    return f"{name}: {step.before:,} -> {step.after:,} characters{back}"


def summary(rules: int, proofs: Iterable[Proof]) -> str:
    """Count the tests and those that failed."""
    proofs = list(proofs)
    failed = sum(bool(proof.failures) for proof in proofs)
    if not proofs:
        return f"{count(rules, 'rule')}, no tests: nothing was tested"
    return f"{count(len(proofs), 'test')} of {count(rules, 'rule')}: {f'{failed:,} failed' if failed else 'all passed' if len(proofs) > 1 else 'passed'}"


def covered(found: Coverage) -> str:
    """Say how much of the rules is tested."""
    return f"coverage: {found.tested:,} of {count(found.rules, 'rule')} have tests, which exercise {found.exercised:,} of {count(found.steps, 'step')}"


def count(number: int, noun: str) -> str:
    """Write a number with its noun."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
