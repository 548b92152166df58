"""The start-up time of the command line. The target is at most 1.5 times the import of yaml and pydantic.

`import pydantic` alone imports little of it, so a second baseline also defines a model.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

_RULE = "version: 1\ntool: lookup\nsteps:\n  - path: records\n    limit: 5\n"
_MODEL = """
import yaml
from typing import Annotated
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
class Model(BaseModel):
    field: Annotated[int, BeforeValidator(int)] = Field(0, ge=0)
"""
_COMMANDS = {
    "import yaml, pydantic": ["-c", "import yaml, pydantic"],
    "and one model": ["-c", _MODEL],
    "python alone": ["-c", "pass"],
    "--version": ["-m", "reducer", "--version"],
    "check one rule": ["-m", "reducer", "check", "lookup.yaml"],
    "dry run of the sample": ["-m", "reducer"],
}


def test_start(compare: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "lookup.yaml").write_text(_RULE)
    # Byte code is cached, as after any installation.
    paths = {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONPYCACHEPREFIX": str(tmp_path / "cache")}
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | paths
    run = partial(subprocess.run, cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=True)
    contenders = {
        name: lambda _, arguments=arguments: run([sys.executable, *arguments]) for name, arguments in _COMMANDS.items()
    }
    compare("start-up", contenders, lambda: None)
