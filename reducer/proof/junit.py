"""What inline tests found, as JUnit XML, which continuous integration shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import PurePath
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reducer.errors import Problem
from reducer.proof import Proof
from reducer.proof.located import At, failures_of, test_at
from reducer.proof.text import lines_of, told
from reducer.screen import visible as _visible


def as_junit(proofs: Iterable[Proof], untested: Iterable[Problem], read: Callable[[str], At]) -> str:
    """Write a suite for each rule file with its tests as cases; each problem in `untested` is a case that failed."""
    root = Element("testsuites", name="reducer")
    for file, group in groupby(proofs, lambda proof: proof.rule.file):
        suite = SubElement(root, "testsuite", name=_fit(file))
        cases = list(group)
        for proof in cases:
            _case(suite, proof, read)
        _count(suite, len(cases), sum(bool(proof.failures) for proof in cases))
    missing = list(untested)
    if missing:
        suite = SubElement(root, "testsuite", name="rules without tests")
        for problem in missing:
            file = _fit(problem.location.file)
            case = SubElement(suite, "testcase", classname=PurePath(file).stem, name="has tests", file=file, line=str(problem.location.line))
            SubElement(case, "failure", message=_fit(problem.message)).text = _fit(told(problem, "failed"), "\n\t")
        _count(suite, len(missing), len(missing))
    _count(root, *(sum(int(suite.get(name, "0")) for suite in root) for name in ("tests", "failures")))
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=False)


def _case(suite: Element, proof: Proof, read: Callable[[str], At]) -> None:
    here = test_at(proof, read)
    file = _fit(here.file)
    case = SubElement(suite, "testcase", classname=PurePath(file).stem, name=_fit(proof.test.name), file=file, line=str(here.line))
    found = failures_of(proof, read)
    if found:
        message = "; ".join(_fit(failure.message) for failure, _ in found)
        SubElement(case, "failure", message=message).text = _fit("\n".join(lines_of(proof, found)), "\n\t")


def _count(suite: Element, tests: int, failures: int) -> None:
    for name, number in (("tests", tests), ("failures", failures), ("errors", 0)):
        suite.set(name, str(number))


def _fit(text: str, but: str = "") -> str:
    return _visible(text, but).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")  # XML has no such characters, escaped or not
