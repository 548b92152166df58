"""Other names of entity types: MISP attribute types, STIX objects and patterns, and plain words.

Sources: https://www.misp-project.org/datamodels/ and STIX 2.1 (OASIS), sections 4 and 6.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from reducer.entities.entity import GROUPS, TYPES

_ALIASES = {
    "ipv4": "ip-src ip-dst ipv4-addr ipv4-address ip4 ip-v4",
    "ipv6": "ipv6-addr ipv6-address ip6 ip-v6",
    "ip": "ips ip-addr ip-address ipaddress ipaddr address addresses",
    "domain": "hostname hostnames host domain-name domains fqdn dns",
    "url": "uri urls uris link links",
    "email": "email-src email-dst email-addr email-address email-reply-to email-message mail e-mail emails "
    "whois-registrant-email target-email",
    "md5": "md5sum",
    "sha1": "sha1sum",
    "sha256": "sha256sum",
    "hash": "hashes file-hash filehash checksum",
    "cve": "vulnerability vulnerabilities cves cve-id",
    "mitre_attack": "attack-pattern attack attack-id att&ck mitre mitre-attack-pattern mitre-technique technique "
    "techniques tactic tactics ttp ttps",
    "threat_actor": "intrusion-set actor actors threat-actors adversary apt group threat-group",
    "malware": "malware-type malware-family family ransomware",
    "ioc": "iocs indicator indicators observable observables observed-data",
}
_TYPES = {alias: name for name, aliases in _ALIASES.items() for alias in aliases.split()}
_MAX_CHARS = 100


def types_for(name: str, known: Collection[str] = (*TYPES, *GROUPS)) -> tuple[str, ...]:
    """Return the types or groups of `known` for a name of MISP or STIX: `ip-src`, `domain|ip`, `file:hashes.SHA256`."""
    plain = name[:_MAX_CHARS].lower().replace("_", "-").replace("'", "").replace('"', "")
    if plain.startswith("file:hashes"):
        plain = plain.removeprefix("file:hashes").lstrip(".")
    elif ":" in plain and "|" not in plain:
        plain = plain.partition(":")[0]
    found = dict.fromkeys(_type_for(part) for part in re.split(r"[|:]", plain))
    return tuple(kind for kind in found if kind in known)


def _type_for(part: str) -> str:
    if re.fullmatch("(?:md|sha)-[0-9]+", part):
        part = part.replace("-", "")
    name = part.replace("-", "_")
    return name if name in TYPES or name in GROUPS else _TYPES.get(part, "")
