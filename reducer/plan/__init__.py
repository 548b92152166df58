"""A plan records what a reduction leaves out of one return; nothing is built until it is complete.

Operations receive a `Place`, a value with its plan so far, and call its methods to keep items, keys or parts of a text.
`nodes.build` takes a value and its plan, and returns the result.
"""

from __future__ import annotations

from reducer.plan.place import Place, Settings, Work

__all__ = ["Place", "Settings", "Work"]
