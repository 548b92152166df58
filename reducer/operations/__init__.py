"""The operations of the rule language, one module each, found by their files; the module's name is the verb."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from reducer.operations.op import Op


def operations() -> dict[str, type[Op]]:
    """Give every operation by its verb, in alphabetical order."""
    found = {}
    for module in iter_modules(__path__):
        members = vars(import_module(f"{__name__}.{module.name}")).values()
        found.update(
            {
                kind.verb(): kind
                for kind in members
                if isinstance(kind, type) and issubclass(kind, Op) and kind is not Op
            }
        )
    return dict(sorted(found.items()))
