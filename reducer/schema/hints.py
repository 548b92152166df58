"""What an editor shows of an operation, from its docstring and its examples: the text over a key, and a step to fill in."""

from __future__ import annotations

import json
from typing import Any

import yaml

from reducer.op import Example, Op

_CALLED = {dict: "objects", list: "lists", str: "texts"}
_ONE_LINE = 1 << 30


def hover(op: type[Op]) -> str:
    """Describe an operation in Markdown: what it does, to what, and its examples."""
    kinds = [name for kind, name in _CALLED.items() if kind in op.accepts]
    on = kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} and {kinds[-1]}"
    return "\n\n".join([op.__doc__ or "", f"Works on {on}; other values stay.", *map(shown, op.examples)])


def shown(example: Example) -> str:
    """Show an example in Markdown: the step as in a rule file, what is given and what stays of it."""
    given, result = (json.dumps(value, ensure_ascii=False) for value in (example.given, example.result))
    step = "\n  ".join(f"{key}: {_yaml(item)}" for key, item in example.step.items())
    return f"{example.title[:1].upper()}{example.title[1:]}:\n\n```yaml\n- {step}\n```\n\n```text\n{given}\n{result}\n```"


def snippet(op: type[Op]) -> dict[str, Any]:
    """Give a step to fill in: the example that has most keys, each value a stop for the cursor."""
    step = max((example.step for example in op.examples), key=len)
    stops = _Stops()
    body = {"path": stops("items"), **{key: stops.within(value) for key, value in step.items() if key != "path"}}
    return {"label": f"step: {op.verb()}", "description": op.__doc__, "body": body}


def a_test() -> dict[str, Any]:
    """Give an inline test to fill in."""
    stops = _Stops()
    body = {"name": stops("what it shows"), "given": {"file": stops("samples/answer.json")}, "expect": {"min_reduction": stops("70%")}}
    return {"label": "a test on a sample", "body": body}


class _Stops:
    """Numbers the places where the cursor stops in a snippet."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self, value: Any) -> str:
        self._number += 1
        return f"${{{self._number}:{written(value)}}}"

    def within(self, value: Any) -> Any:
        if type(value) is dict:
            return {key: self.within(item) for key, item in value.items()}
        return [self(item) for item in value] if type(value) is list else value if value is True else self(value)


def written(value: Any) -> str:
    """Write a value for a snippet: as YAML, and so that nothing in it is a place for the cursor."""
    return _yaml(value).replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def _yaml(value: Any) -> str:
    """Write a value in the one-line form of YAML, quoted where it must be."""
    if type(value) is dict:
        return f"{{{', '.join(f'{key}: {_yaml(item)}' for key, item in value.items())}}}"
    if type(value) is list:
        return f"[{', '.join(map(_yaml, value))}]"
    text = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=_ONE_LINE).rstrip("\n")[1:-1]
    return json.dumps(value, ensure_ascii=False) if text.startswith("'") and "'" in text[1:-1] else text
