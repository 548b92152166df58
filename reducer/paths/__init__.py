"""JMESPath: paths that name the places a rule changes, and expressions that a rule evaluates.

`compile_path` accepts the part of the language that names places and returns a `Path`, whose steps are plain tuples.
`compile_expression` accepts the whole language and returns an `Expression`, which the `jmespath` library evaluates.
"""

from __future__ import annotations

from reducer.paths.expressions import Chain, Expression, compile_expression
from reducer.paths.places import Path, Shape, ValuePlace, compile_path, names_of, overlap, split_filter, walk
from reducer.paths.syntax import PathError

__all__ = [
    "Chain",
    "Expression",
    "Path",
    "PathError",
    "Shape",
    "ValuePlace",
    "compile_expression",
    "compile_path",
    "names_of",
    "overlap",
    "split_filter",
    "walk",
]
