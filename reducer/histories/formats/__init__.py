"""One module for each stored format. `FORMATS` contains every module of this package."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from reducer.histories.format import Format

_MODULES: Any = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
FORMATS: tuple[Format, ...] = tuple(_MODULES)
"""All formats, in alphabetical order."""
