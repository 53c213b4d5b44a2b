"""The backend's settings: what each is for, and from texts to values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spanproof.sandbox.backends.remote.settings import Numbers, read_values
from spanproof.sandbox.errors import BadSetting

KNOWN: Final[Mapping[str, str]] = {
    "image": "image of the programs' container: needs python3, 3.11 or newer, and sh (python:3.12-slim)",
    "namespace": "the cluster's namespace that Jobs are made in (spanproof)",
    "context": "context of the kubeconfig, where it is not the current one",
    "kubeconfig": "path of the kubeconfig; default KUBECONFIG, ~/.kube/config, or a pod's own account",
    "runtime_class": "RuntimeClass of the pods: gvisor, or Kata's kata-fc, which runs them in Firecracker",
    "rights": "`none` (the default): programs run as a user; `namespaces`: the guest is root, and keeps"
    " programs apart, for which the runtime class should be a wall of its own",
    "network": "`policy` (the default): a NetworkPolicy without any way out is made; `own`: there is one",
    "cpu": "limit of a pod's processors (1)",
    "memory": "limit of a pod's memory (1Gi)",
    "start_s": "seconds until a pod runs, its image's pull included (120)",
    "lifetime_s": "seconds after which the cluster ends a Job that no one ended (600)",
    "reuse": "programs a pod runs before it is replaced, where it can keep them apart (50)",
    "retries": "new pods tried when one fails before the program has started (2)",
}

_QUANTITY: Final = re.compile(r"\d+(\.\d+)?(m|[kMGTP]i?)?")
_NUMBERS: Final[Numbers] = {
    "start_s": (int, 1),
    "lifetime_s": (int, 60),
    "reuse": (int, 1),
    "retries": (int, 0),
}
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "rights": ("none", "namespaces"),
    "network": ("policy", "own"),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What `KNOWN` describes."""

    image: str = "python:3.12-slim"
    namespace: str = "spanproof"
    context: str | None = None
    kubeconfig: str | None = None
    runtime_class: str | None = None
    rights: str = "none"
    network: str = "policy"
    cpu: str = "1"
    memory: str = "1Gi"
    start_s: int = 120
    lifetime_s: int = 600
    reuse: int = 50
    retries: int = 2

    @property
    def separates(self) -> bool:
        """Whether the guest may keep programs apart."""
        return self.rights == "namespaces"


def read_settings(given: Mapping[str, str]) -> Settings:
    """Read the values of settings.

    Raises:
        BadSetting: one is not known, or has no value that it can have.
    """
    values = read_values("kubernetes", KNOWN, _NUMBERS, given)
    for name, text in given.items():
        place = f"sandbox backend 'kubernetes': {name}={text!r}"
        if name in _CHOICES and text not in _CHOICES[name]:
            raise BadSetting(f"{place} is neither {' nor '.join(_CHOICES[name])}")
        if name in ("cpu", "memory") and not _QUANTITY.fullmatch(text):
            raise BadSetting(f"{place} is no quantity of Kubernetes; write 500m, 1 or 1Gi")
    return Settings(**values)
