"""One module for each stored format. `FORMATS` contains the `Format` of every module in this package."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from reducer.histories.format import Format

FORMATS: tuple[Format, ...] = tuple(
    import_module(f"{__name__}.{module.name}").FORMAT for module in iter_modules(__path__)
)
"""All formats, in alphabetical order."""
