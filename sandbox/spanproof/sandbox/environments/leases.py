"""The images one sandbox uses: each leased at its first use, and until the sandbox closes. Thread-safe."""

from __future__ import annotations

import threading

from spanproof.sandbox.environments.build import Environments
from spanproof.sandbox.environments.store import Lease
from spanproof.sandbox.model import PackageSet


class Leases:
    """See the module's text."""

    def __init__(self, environments: Environments) -> None:
        self._environments = environments
        self._leases: dict[PackageSet, Lease] = {}
        self._lock = threading.Lock()

    def get_lease(self, packages: PackageSet) -> Lease:
        """Return the image of a set, built where it is not there yet.

        Raises:
            EnvironmentUnavailable: names the pin and the remedy.
        """
        found = self._leases.get(packages)
        if found is not None:
            return found
        with self._lock:
            if packages not in self._leases:
                self._leases[packages] = self._environments.get_lease(packages)
            return self._leases[packages]

    def close(self) -> None:
        """Release them. Safe to call twice."""
        with self._lock:
            for lease in self._leases.values():
                lease.close()
            self._leases.clear()
