"""What others call the entity types: MISP attribute types, STIX objects and patterns, and plain words.

Sources: https://www.misp-project.org/datamodels/ and STIX 2.1 (OASIS), sections 4 and 6.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from reducer.entities.entity import GROUPS, TYPES

_SAYINGS = {
    "ipv4": "ip-src ip-dst ipv4-addr ipv4-address ip4 ip-v4",
    "ipv6": "ipv6-addr ipv6-address ip6 ip-v6",
    "ip": "ips ip-addr ip-address ipaddress ipaddr address addresses",
    "domain": "hostname hostnames host domain-name domains fqdn dns",
    "url": "uri urls uris link links",
    "email": "email-src email-dst email-addr email-address email-reply-to email-message mail e-mail emails whois-registrant-email target-email",
    "md5": "md5sum",
    "sha1": "sha1sum",
    "sha256": "sha256sum",
    "hash": "hashes file-hash filehash checksum",
    "cve": "vulnerability vulnerabilities cves cve-id",
    "mitre_attack": "attack-pattern attack attack-id att&ck mitre mitre-attack-pattern mitre-technique technique techniques tactic tactics ttp ttps",
    "threat_actor": "intrusion-set actor actors threat-actors adversary apt group threat-group",
    "malware": "malware-type malware-family family ransomware",
    "ioc": "iocs indicator indicators observable observables observed-data",
}
_MEANT = {saying: name for name, sayings in _SAYINGS.items() for saying in sayings.split()}
_PIECES = re.compile(r"[|:]")
_MOST = 100  # characters of a name that is looked at


def meant(name: str, known: Collection[str] = (*TYPES, *GROUPS)) -> tuple[str, ...]:
    """Give the types or groups of `known` that a name of MISP or STIX stands for: `ip-src`, `domain|ip`, `file:hashes.SHA256`; none for others."""
    plain = name[:_MOST].lower().replace("_", "-").replace("'", "").replace('"', "")
    if plain.startswith("file:hashes"):
        plain = plain.removeprefix("file:hashes").lstrip(".")
    elif ":" in plain and "|" not in plain:
        plain = plain.partition(":")[0]
    found = dict.fromkeys(_one(piece) for piece in _PIECES.split(plain))
    return tuple(kind for kind in found if kind in known)


def _one(piece: str) -> str:
    if re.fullmatch("(?:md|sha)-[0-9]+", piece):
        piece = piece.replace("-", "")
    own = piece.replace("-", "_")
    return own if own in TYPES or own in GROUPS else _MEANT.get(piece, "")
