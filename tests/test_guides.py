"""Every example in a guide runs and produces the output that the guide shows.

The blocks of a guide run from top to bottom in a new folder, which contains `rules` and `reducer/samples`:

- `python` blocks run. Their output is the `text` block that follows. The tag `continues` keeps the names of the
  previous block, and `pydantic-ai>=2` and `pydantic-ai<2` skip the block with other versions.
- The tag `needs=PACKAGE` skips a block if the package is not installed.
- The lines of `console` blocks that start with `$ ` run. Their output is the lines below; `...` stands for any lines.
- A `yaml` block is a rule file without problems, and its tests pass. If its first line is a comment with a file name,
  the block is stored under this name. A block with the tag `failing` is only stored, and one with `part` is ignored.
- `json` and `text` blocks with the tags `given` and `left` are a return and the result of the rule file above.

The generated section about actions is skipped, because `tests/operations` runs these examples.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reducer import Reducer
from reducer.cli import main

ROOT = Path(__file__).parents[1]
OTHERS = "reducer/agent/OTHERS.md"
"""The guide for other frameworks. `tests/agent/test_others.py` runs its examples."""
GUIDES = sorted(
    str(file.relative_to(ROOT))
    for pattern in ("README.md", "rules/README.md", "reducer/**/README.md", OTHERS, "tests/README.md")
    for file in ROOT.glob(pattern)
    if "node_modules" not in file.parts
)
FILE_NAME = re.compile(r"# (\S+\.yaml)\n")
OTHER_VERSION = "pydantic-ai<2" if int(version("pydantic-ai-slim").split(".")[0]) >= 2 else "pydantic-ai>=2"
"""The tag of blocks for the other versions of PydanticAI."""


class Block(NamedTuple):
    """A fenced block of a guide, and the number of its first line."""

    line: int
    language: str
    tags: list[str]
    body: str


def read(guide: str) -> str:
    return (ROOT / guide).read_text(encoding="utf-8")


def blocks(guide: str) -> Iterator[Block]:
    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    text = re.sub(r"<!-- actions -->.*<!-- /actions -->", blank, read(guide), flags=re.DOTALL)
    for found in re.finditer(r"^```(\w+) *([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(text.count("\n", 0, found.start(3)) + 1, found[1], found[2].split(), found[3])


def assert_prints(expected: str, printed: str, where: str) -> None:
    text = "".join(f"{line.rstrip()}\n" for line in printed.strip().splitlines())
    lines = expected.strip().splitlines()
    pattern = "".join("(?:.*\n)?" if line == "..." else re.escape(f"{line.rstrip()}\n") for line in lines)
    assert re.fullmatch(pattern, text, re.DOTALL), f"{where}: the example prints\n{text}"


def run_console(block: Block, where: str, capsys: pytest.CaptureFixture[str]) -> None:
    for example in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
        command, _, expected = example.partition("\n")
        words = shlex.split(command)
        if words[:3] == ["python", "-m", "reducer"]:
            main(words[3:])
            printed = "".join(capsys.readouterr())
        else:
            printed = subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout
        assert_prints(expected, printed, f"{where}: {command}")


def store_rules(block: Block) -> Path:
    named = FILE_NAME.match(block.body)
    file = Path(named[1] if named else "example.yaml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.body, encoding="utf-8")
    return file


def content(block: Block) -> Any:
    """Return the content of a tool return that a block shows."""
    return json.loads(block.body) if block.language == "json" else block.body.removesuffix("\n")


def needed(block: Block) -> str | None:
    """Return the package that a block needs."""
    for tag in block.tags:
        if tag.startswith("needs="):
            return tag.removeprefix("needs=")
    return None


def execute(guide: str, block: Block, names: dict[str, Any]) -> None:
    """Execute a `python` block, with the lines of the guide in tracebacks."""
    exec(compile("\n" * (block.line - 1) + block.body, guide, "exec", dont_inherit=True), names)


@pytest.mark.parametrize("guide", [guide for guide in GUIDES if guide != OTHERS])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_examples(
    guide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "rules", tmp_path / "rules")
    shutil.copytree(ROOT / "reducer" / "samples", tmp_path / "reducer" / "samples")
    monkeypatch.chdir(tmp_path)
    environment = {"COLUMNS": "120", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)  # the example sets it
    for name, value in (environment | {"RAY_AUTH_MODE": "disabled"}).items():
        monkeypatch.setenv(name, value)
    run_blocks(guide, [block for block in blocks(guide) if find_spec(needed(block) or "reducer")], capsys)


def run_blocks(guide: str, chosen: Iterable[Block], capsys: pytest.CaptureFixture[str]) -> None:
    """Run blocks of a guide in the current folder, and compare their output with the guide."""
    names: dict[str, Any] = {}
    printed = ""
    reducer: Any = None
    given = None
    for block in chosen:
        where = f"{guide}:{block.line}"
        if printed:
            assert (block.language, block.tags) == ("text", []), f"{where}: the output of the example is missing"
            assert_prints(block.body, printed, where)
            printed = ""
        elif block.language == "python" and OTHER_VERSION not in block.tags:
            names = names if "continues" in block.tags else {}
            capsys.readouterr()
            execute(guide, block, names)
            printed = capsys.readouterr().out
        elif block.language == "console":
            run_console(block, where, capsys)
        elif block.language == "yaml" and block.tags == ["failing"]:
            store_rules(block)
        elif block.language == "yaml" and block.tags != ["part"]:
            file = store_rules(block)
            reducer = Reducer.load(file)
            assert not any(rule.tests for rule in reducer.ruleset.rules) or main(["test", str(file)]) == 0, where
            capsys.readouterr()
        elif block.tags == ["given"]:
            given = content(block)
        elif block.tags == ["left"]:
            assert reducer.reduce_content(reducer.ruleset.rules[0].tools[0], given) == content(block), where
    assert not printed, f"{guide}: the output of the last example is missing"


@pytest.mark.parametrize("guide", GUIDES)
def test_guides_begin_with_an_example(guide: str) -> None:
    assert next(blocks(guide)).line <= 30


@pytest.mark.parametrize("guide", GUIDES)
def test_links_lead_to_files_and_headings(guide: str) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", read(guide)):
        path, _, heading = link.partition("#")
        target = (ROOT / guide).parent / path if path else ROOT / guide
        assert target.exists(), f"{guide}: {link}"
        if heading:
            text = target.read_text(encoding="utf-8")
            titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            assert heading in {re.sub(r"[^a-z0-9_ -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("guide", GUIDES)
def test_files_that_guides_name_exist(guide: str) -> None:
    prose = re.sub(r"^```.*?^```$", "", read(guide), flags=re.MULTILINE | re.DOTALL)
    for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", prose):
        folders = ((ROOT / guide).parent, ROOT / "reducer", ROOT)
        assert any((folder / name).is_file() for folder in folders), f"{guide}: {name}"


def test_the_readme_is_short() -> None:
    assert len(read("README.md").splitlines()) <= 180


@pytest.mark.parametrize("name", ["run", "tests"])
def test_continuous_integration_runs_the_commands_of_the_readme(name: str) -> None:
    assert re.search(rf"^<!-- {name} -->\n```bash\npython3 -m venv \.venv && .*\n```$", read("README.md"), re.MULTILINE)
    assert re.search(rf"for name in .*\b{name}\b.*; do", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
