"""The operations of the rule language. Each is one module, discovered automatically; its name is the verb."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from reducer.operations.op import Op


@cache
def operations() -> dict[str, type[Op]]:
    """Return all operations by verb, in alphabetical order."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found: dict[str, type[Op]] = {}
    for module in modules:
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, Op) and kind is not Op:
                found[kind.verb()] = kind
    return found
