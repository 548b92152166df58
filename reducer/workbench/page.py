"""Build the HTML report: one file with its data, styles and scripts, which loads nothing."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from reducer.analysis.report import TITLES

_IMPORTS = re.compile(r"^import .*?;\n|^export (?=async function|class|const|function)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"\{\{(\w+)\}\}")


def report_page(
    report: Mapping[str, Any], trees: Sequence[Any], rules: Mapping[str, str], made: Mapping[str, str]
) -> bytes:
    """Return the page of a report in plain JSON values, with the tree of each of its returns.

    `rules` maps the files of rules to their texts, and `made` names the version (`by`) and the date (`on`).
    Each tree is compressed, and the page reads it when its return is opened. Scripts and styles run only with the hash
    that the policy of the page names, and data is never markup.
    """
    folders = _folders([*report["rules"]["files"], *report["histories"]])
    style = static("style.css").decode()
    script = "\n".join(_IMPORTS.sub("", static(name).decode()) for name in ("tree.js", "report.js"))
    sources = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}"
    packed = [_packed({**tree, "file": Path(tree["file"] or "").name}) for tree in trees]
    fields = {
        "policy": f"{sources}; base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "report": folders.sub("", _data({**report, "titles": TITLES, "texts": rules, "made": made})),
        "trees": _data(packed),
    }
    return _FIELD.sub(lambda field: fields[field[1]], static("report.html").decode()).encode()


def _folders(files: Iterable[str]) -> re.Pattern[str]:
    """Match, in JSON, the folders that the page does not name: the current one, and those around those of files."""
    folders = {f"{Path(file).parent.parent}/" for file in files if Path(file).is_absolute()} - {"//"}
    written = [json.dumps(folder)[1:-1] for folder in {*folders, f"{Path.cwd()}/"}]
    longest_first = map(re.escape, sorted(written, key=len, reverse=True))
    return re.compile(rf"(?:(?<![\w./-])|(?<=\\n))(?:{'|'.join(longest_first)})")


def _packed(tree: Any) -> str:
    return b64encode(zlib.compress(_json(tree).encode(), 9)).decode()


def static(name: str) -> bytes:
    """Return a file of the pages."""
    return files(__package__).joinpath("static", name).read_bytes()


def _hash(content: str) -> str:
    """Return the source expression of a Content-Security-Policy that allows an inline script or style."""
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def _json(value: Any) -> str:
    """Write ASCII JSON, in which lone surrogates are escaped."""
    return json.dumps(value, separators=(",", ":"))


def _data(value: Any) -> str:
    """Write JSON that cannot end the element that contains it."""
    return _json(value).replace("<", "\\u003c")
