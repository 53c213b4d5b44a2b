"""Kinds of hosts and paths: what an attempt was after, without the name, which differs from run to run."""

from __future__ import annotations

import re
from ipaddress import ip_address

from spanproof.sandbox import AttemptKind

_METADATA = frozenset({"169.254.169.254", "fd00:ec2::254", "metadata.google.internal"})
_CREDENTIALS = re.compile(
    r"/\.(?:ssh|aws|azure|kube|docker|gnupg|netrc|pgpass|git-credentials|config/gcloud)(?:/|\Z)"
    r"|/(?:shadow|gshadow|sudoers)\Z|\.(?:pem|key|p12|env)\Z|/\.env(?:\.|\Z)|/id_(?:rsa|ed25519|ecdsa)\Z"
)
_FOLDERS = (
    ("process information", ("/proc", "/sys")),
    ("device", ("/dev",)),
    ("system configuration", ("/etc",)),
    ("home folder", ("/home", "/root", "/Users")),
    ("temporary folder", ("/tmp", "/var/tmp")),  # noqa: S108 - a kind of path, nothing is written there
    ("system folder", ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/var", "/boot")),
)


def classify_target(kind: AttemptKind, target: str) -> str:
    """Return the kind of an attempt's target: `metadata service`, `credentials`, `home folder`, a program."""
    if kind is AttemptKind.NETWORK:
        return classify_host(target)
    if kind is AttemptKind.FILE:
        return classify_path(target)
    return target.rpartition("/")[2][:40] or target[:40]


def classify_host(target: str) -> str:
    """Return the kind of a host, given as `host`, `host:port` or `[address]:port`."""
    host = target
    if target.startswith("["):
        host = target[1:].partition("]")[0]
    elif target.count(":") == 1:
        host = target.partition(":")[0]
    if host.lower() in _METADATA:
        return "metadata service"
    try:
        address = ip_address(host)
    except ValueError:
        local = host.lower() == "localhost" or host.lower().endswith((".localhost", ".local", ".internal"))
        return "internal host" if local else "named host"
    if address.is_loopback:
        return "loopback address"
    if address.is_private or address.is_link_local:
        return "internal address"
    return "public address"


def classify_path(path: str) -> str:
    """Return the kind of a path."""
    if _CREDENTIALS.search(path):
        return "credentials"
    for name, folders in _FOLDERS:
        if any(path == folder or path.startswith(f"{folder}/") for folder in folders):
            return name
    return "other path"
