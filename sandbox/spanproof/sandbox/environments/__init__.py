"""Environments: locked package sets, built once in a sandbox into read-only directories that runs share.

In: a `PackageSet`. Out: the lease of an image, to bind into a sandbox. Downloading happens outside, with the
user's own pip or npm as they are configured, and runs no code of a package; unpacking happens inside, without
a network.
"""

from spanproof.sandbox.environments.build import Environments
from spanproof.sandbox.environments.leases import Leases
from spanproof.sandbox.environments.lock import Lock, Locked
from spanproof.sandbox.environments.sources import MAX_PACKAGES_BYTES, Wanted, parse_packages, read_packages
from spanproof.sandbox.environments.store import Image, Lease, Store

__all__ = [
    "MAX_PACKAGES_BYTES",
    "Environments",
    "Image",
    "Lease",
    "Leases",
    "Lock",
    "Locked",
    "Store",
    "Wanted",
    "parse_packages",
    "read_packages",
]
