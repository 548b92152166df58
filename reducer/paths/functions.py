"""The functions of conditions: those of JMESPath, `lower(text)` and `matches(text, 'pattern')`."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from jmespath.functions import Functions, signature

_MAX_PATTERN_CHARS = 1000


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    """Compile a pattern with google-re2, which takes linear time on any text. Raises `ImportError` and `re2.error`."""
    re2 = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern.encode(), options)


def pattern_error(pattern: Any) -> tuple[str, str]:
    """Return the reason why `matches` cannot use a pattern and a fix, or empty texts if it can."""
    if type(pattern) is not str or len(pattern) > _MAX_PATTERN_CHARS:
        message = f"the pattern of `matches()` must be a text with at most {_MAX_PATTERN_CHARS:,} characters"
        return message, "write `matches(name, '^host-[0-9]+')`"
    try:
        _compiled(pattern)
    except ImportError:
        return "`matches()` needs google-re2, which is not installed", "pip install 'reducer[patterns]'"
    except Exception as error:  # `re2.error`, or a lone surrogate
        reason = error.args[0]
        return f"RE2 refuses this pattern: {reason.decode() if isinstance(reason, bytes) else reason}", ""
    return "", ""


class _Functions(Functions):
    @signature({"types": ["string"]})
    def _func_lower(self, text: str) -> str:
        return text.lower()

    @signature({"types": ["string"]}, {"types": ["string"]})
    def _func_matches(self, text: str, pattern: str) -> bool:
        return _compiled(pattern).search(text.encode("utf-8", "replace")) is not None


FUNCTIONS = _Functions()
