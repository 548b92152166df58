"""JMESPath, as *places* in a value that rules change, and as *expressions* that rules evaluate.

`compile_path` takes the part of the language that names places, and returns a `Path` with its steps as plain tuples.
`compile_expression` takes all of the language, and returns an `Expression` that the `jmespath` library evaluates.
"""

from __future__ import annotations

from reducer.paths.expressions import Chain, Expression, compile_expression
from reducer.paths.places import Path, Place, Shape, ValuePlace, compile_path, names_of, split_filter, walk
from reducer.paths.syntax import PathError

__all__ = [
    "Chain",
    "Expression",
    "Path",
    "PathError",
    "Place",
    "Shape",
    "ValuePlace",
    "compile_expression",
    "compile_path",
    "names_of",
    "split_filter",
    "walk",
]
