"""Tell domains from what looks like one: files, calls, attributes, packages, detection names, sentences without a blank."""

from __future__ import annotations


def plausible(data: bytes, name: bytes, start: int, end: int) -> bool:
    """Tell whether `name` (lower case), written without a sign of defanging at data[start:end], is a domain."""
    return True
