"""The command line as a program: terminals, imports, help, and interruption."""

from __future__ import annotations

import json
import os
import pkgutil
import signal
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

from reducer import cli as package
from reducer.cli import VERBS, main
from tests.cli.conftest import ENVIRONMENT, RECORDS, ROOT, RULE, Cli, Result, history, start

pty = pytest.importorskip("pty")
HEAVY = {"pydantic_ai", "rich", "ahocorasick_rs", "ahocorasick"} | {
    f"reducer.{name}" for name in ("engine", "histories.stored", "entities.scan")
}


def on_terminal(*arguments: str, **env: str) -> str:
    """Run on a terminal of 100 columns, and return the output."""
    ours, theirs = pty.openpty()
    environment = {"TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": "", "FORCE_COLOR": "", **env}
    with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patch:
        output = pool.submit(everything, ours)
        for name, value in environment.items():
            patch.setenv(name, value) if value else patch.delenv(name, raising=False)
        with open(theirs, "w") as terminal:
            patch.setattr(sys, "stdout", terminal)
            patch.setattr(sys, "stderr", terminal)
            code = main(list(arguments))
    assert code == 0, output.result()
    return output.result().decode()


def everything(terminal: int) -> bytes:
    """Read what is written to a terminal until it is closed."""
    sent = b""
    with suppress(OSError), open(terminal, "rb", buffering=0) as stream:
        while piece := stream.read(65536):
            sent += piece
    return sent


def in_shell(arguments: str) -> tuple[int, str]:
    """Run in a shell, and return the exit code and standard error."""
    command = ["bash", "-c", f"'{sys.executable}' -m reducer {arguments}"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
    return done.returncode, done.stderr


def test_colour_on_a_terminal_only(folder: Path, cli: Cli) -> None:
    diff = ("h.json", "--rules", "lookup.yaml", "--format", "diff")
    assert "\x1b[" in on_terminal(*diff)
    assert "\x1b" not in on_terminal(*diff, NO_COLOR="1")
    for form in ("table", "diff", "json"):
        assert "\x1b" not in cli("h.json", "--rules", "lookup.yaml", "--format", form).out


@pytest.mark.parametrize("columns", [80, 200])
def test_tables_keep_their_first_column_and_their_numbers(folder: Path, columns: int) -> None:
    tool, long = "get_indicator_details", "a_tool_with_quite_a_long_name_" * 2
    returns = [(tool, {"records": RECORDS})] * 3
    (folder / "h.json").write_bytes(history(*returns, (long, "x" * 300), text="host3 and host29"))
    (folder / "a.yaml").write_text(RULE.replace("lookup", tool))
    commands = {tool: ("h.json", "--rules", "a.yaml"), "truncate:2000": ("compare", "h.json", "--rules", "a.yaml")}
    for name, command in commands.items():
        lines = on_terminal(*command, NO_COLOR="1", COLUMNS=str(columns)).splitlines()
        (row,) = (line for line in lines if line.startswith(f" {name} "))
        assert "%" in row
        assert max(map(len, lines)) <= columns


@pytest.mark.parametrize("columns", [60, 120])
def test_an_excerpt_keeps_its_indentation(folder: Path, columns: int) -> None:
    content = {"rows": [{"id": "x" * 300, "k" * 200: "y" * 300}] * 5, "z" * 70: "x" * 300}
    (folder / "a.json").write_text(json.dumps(content))
    lines = on_terminal("try", "lookup.yaml", "a.json", NO_COLOR="1", COLUMNS=str(columns)).splitlines()
    rows = [line for line in lines if '"id": "' in line]
    assert [line[:13] for line in rows] == ['     "id": "x'] * 5
    assert {len(row) for row in rows} == {min(columns, 120)}
    assert all(row.endswith("x…") for row in rows)


def test_names_cannot_steer_the_terminal(folder: Path) -> None:
    returns = (("a\x1b]0;title\x07\u202e\n", "x"), ("lookup", {"records": [{"name": "\x1b[2J"}] * 9}))
    (folder / "h.json").write_bytes(history(*returns))
    (folder / "x.txt").write_text("a\x1b[2J\u202eb")
    shown = [("h.json", "--rules", "lookup.yaml", "--format", form) for form in ("table", "diff")]
    shown += [("try", "lookup.yaml", "x.txt", "--format", form) for form in ("text", "result")]
    for command in shown:
        assert {"\x1b", "\u202e"}.isdisjoint(on_terminal(*command, NO_COLOR="1"))


@pytest.mark.parametrize("form", ["table", "html"])
def test_a_closed_pipe_is_not_an_error(folder: Path, form: str) -> None:
    (folder / "many.json").write_bytes(history(*((f"tool_{number}", "x") for number in range(1500))))
    command = ("many.json", "--rules", "lookup.yaml", "--format", form)
    done = start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.stdout is not None
    done.stdout.read(10)
    done.stdout.close()
    assert done.communicate(timeout=60)[1] == b""
    assert done.returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
@pytest.mark.parametrize(
    ("redirect", "code", "message"),
    [
        (">/dev/full", 2, "reducer: error: cannot write: No space left on device\n"),
        (">&-", 0, ""),
        ("- <&-", 2, "reducer: error: standard input is closed\n"),
    ],
)
def test_an_output_that_is_full_or_closed(folder: Path, redirect: str, code: int, message: str) -> None:
    assert in_shell(f"h.json --rules lookup.yaml {redirect}") == (code, message)


def test_the_output_of_a_command_is_read(folder: Path) -> None:
    assert in_shell("validate <(cat h.json)") == (0, "")


def test_ctrl_c_prints_nothing(folder: Path) -> None:
    done = start("-", "--rules", "lookup.yaml", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.stdin is not None
    # The pipe has space for this when the input is read; everything is imported by then.
    done.stdin.write(b"[" * 10_000_000)
    done.send_signal(signal.SIGINT)
    assert (done.wait(60), done.stdout.read(), done.stderr.read()) == (130, b"", b"")


def test_a_fifo_without_a_writer_is_refused(folder: Path, cli: Cli) -> None:
    os.mkfifo("pipe.json")
    for verb in ([], ["validate"], ["query", "a"]):
        result = cli(*verb, "pipe.json")
        message = "reducer: error: pipe.json: a FIFO can have no writer, so it is not read; use - and standard input\n"
        assert result == Result(2, "", message)


# --- start-up


@pytest.mark.parametrize(
    ("arguments", "without"),
    [
        ("--help", HEAVY | {"pydantic", "yaml", "jmespath"}),
        ("check lookup.yaml", HEAVY - {"ahocorasick_rs", "ahocorasick"}),
        ("h.json --rules lookup.yaml", {"pydantic_ai"}),
        ("h.json --rules lookup.yaml --format json", {"pydantic_ai", "rich"}),
    ],
)
def test_simple_commands_import_little(folder: Path, arguments: str, without: set[str]) -> None:
    # The last line lists the modules that a run imports.
    code = f"import sys; from reducer.cli import main; main({arguments.split()}); print(); print(*sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60, check=True)
    imported = set(done.stdout.splitlines()[-1].split())
    assert "reducer.cli" in imported
    assert not imported & without


def test_the_package_is_imported_lazily() -> None:
    code = "import sys, reducer; assert 'pydantic' not in sys.modules; reducer.Reducer"
    subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, check=True)


# --- help


def test_the_version(cli: Cli) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert cli("--version").out == f"reducer {declared}\n"


def test_every_module_with_a_main_function_is_a_verb_in_the_help(cli: Cli) -> None:
    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    assert {name for name in names if hasattr(import_module(f"reducer.cli.{name}"), "main")} == set(VERBS)
    lines = cli("--help").out.splitlines()
    first = lines.index("verbs (details: `python -m reducer VERB --help`):") + 1
    assert [line.split()[0] for line in lines[first : first + len(VERBS)]] == list(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples_and_exit_codes(verb: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = cli(verb, "--help")
    assert result.code == 0
    assert result.out.startswith(f"usage: reducer {verb} [-h]")
    described, _, examples = (import_module(f"reducer.cli.{verb}").__doc__ or "").partition("examples:\n")
    assert f"\n\n{described}" in result.out  # the description follows the usage
    assert "\nExit codes: 0 " in result.out.partition("\nexamples:\n  ")[2]
    assert f"  python -m reducer{'' if verb == 'run' else f' {verb}'}" in examples
    assert [line for line in result.out.splitlines() if len(line) > 80] == []


def test_the_help_without_a_verb_is_that_of_run(cli: Cli) -> None:
    assert cli("--help") == cli("run", "--help")
