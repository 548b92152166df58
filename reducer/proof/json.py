"""What inline tests found, as JSON for other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reducer.errors import Problem
from reducer.proof import Proof
from reducer.proof.coverage import Coverage
from reducer.proof.located import At, failures_of, gaps_at, test_at
from reducer.report.json import step_as_json


def as_json(proofs: Iterable[Proof], found: Coverage | None, untested: Iterable[Problem], read: Callable[[str], At]) -> dict[str, Any]:
    """Give all that was found: the tests in the order of the files, and what they leave out if that was asked for."""
    tests = [_test(proof, read) for proof in proofs]
    failed = sum(not test["passed"] for test in tests)
    written: dict[str, Any] = {"passed": len(tests) - failed, "failed": failed, "tests": tests}
    written["rules_without_tests"] = [_place(problem) for problem in untested]
    if found is not None:
        written["coverage"] = {
            "rules": {"all": found.rules, "tested": found.tested},
            "steps": {"all": found.steps, "exercised": found.exercised},
            "gaps": [{"what": gap.what, **_place(problem)} for gap, problem in zip(found.gaps, gaps_at(found.gaps, read), strict=True)],
        }
    return written


def _test(proof: Proof, read: Callable[[str], At]) -> dict[str, Any]:
    here = test_at(proof, read)
    return {
        "name": proof.test.name,
        "tools": list(proof.rule.tools),
        "file": here.file,
        "line": here.line,
        "column": here.column,
        "passed": not proof.failures,
        "characters": {"before": proof.before, "after": proof.after},
        "failures": [
            {"what": failure.what, **_place(problem), "expected": failure.expected, "seen": failure.seen, "help": problem.help}
            for failure, problem in failures_of(proof, read)
        ],
        "steps": [step_as_json(step) for step in proof.steps],
    }


def _place(problem: Problem) -> dict[str, Any]:
    return {"message": problem.message, "file": problem.location.file, "line": problem.location.line, "column": problem.location.column}
