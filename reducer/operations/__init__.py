"""The operations of the rule language, one module each, found by their files; the module's name is the verb."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from reducer.operations.op import Op


def operations() -> dict[str, type[Op]]:
    """Return every operation by its verb, in alphabetical order."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    kinds = (kind for module in modules for kind in vars(module).values() if isinstance(kind, type))
    return {kind.verb(): kind for kind in kinds if issubclass(kind, Op) and kind is not Op}
