"""The forms in which addresses and host names are compared."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from socket import AF_INET6, inet_ntop, inet_pton
from unicodedata import normalize

_CACHED = 2048  # texts repeat their hosts


@lru_cache(maxsize=_CACHED)
def address_of(text: str) -> str:
    """Return an IP address as RFC 5952 writes it, or "" if it is none."""
    try:
        if ":" not in text:
            return str(IPv4Address(text))
        # Ten times as fast as `IPv6Address`, but systems differ in the addresses that they end in an IPv4 address.
        plain = inet_ntop(AF_INET6, inet_pton(AF_INET6, text))
        if "." not in plain:
            return plain
        address = IPv6Address(text)
    except (OSError, ValueError):
        return ""
    return f"::ffff:{address.ipv4_mapped}" if address.ipv4_mapped else str(address)


@lru_cache(maxsize=_CACHED)
def host_of(name: str) -> str:
    """Return a host name as the DNS compares it: in lower case, and labels of other scripts in punycode (UTS 46)."""
    if name.isascii():
        return name.lower()
    return ".".join(map(_label, normalize("NFKC", name).lower().split(".")))


def _label(label: str) -> str:
    return label if label.isascii() else f"xn--{label.encode('punycode').decode()}"
