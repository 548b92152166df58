"""Verbs: each is a module of its name, is listed, and explains itself."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

from reducer import cli
from reducer.cli import VERBS, main


def test_every_module_with_a_main_function_is_a_listed_verb() -> None:
    modules = [module.name for module in pkgutil.iter_modules(cli.__path__)]
    assert {name for name in modules if hasattr(import_module(f"reducer.cli.{name}"), "main")} == set(VERBS)


def test_the_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [
        line.split()[0]
        for line in lines[lines.index("verbs (details: `python -m reducer VERB --help`):") + 1 :][: len(VERBS)]
    ] == list(VERBS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["h.json", "--tol=x"], "reducer: error: unrecognized arguments: --tol=x; did you mean --tool?"),
        (["check", "--fxi", "rules"], "reducer check: error: unrecognized arguments: --fxi; did you mean --fix?"),
        (["check", "--nothing-like-it"], "reducer check: error: unrecognized arguments: --nothing-like-it"),
    ],
)
def test_an_unknown_option_names_the_nearest(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.splitlines()[-1] == said


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("usage: reducer")
    assert "examples:" in told
    assert "Exit codes: " in told
