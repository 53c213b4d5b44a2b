"""The backend's settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from spanproof.sandbox.backends.remote.settings import RemoteSettings, build_setting
from spanproof.sandbox.errors import BadSetting

_QUANTITY: Final = re.compile(r"\d+(\.\d+)?(m|[kMGTP]i?)?")


@dataclass(frozen=True, slots=True)
class Settings(RemoteSettings):
    """Of Jobs in a cluster."""

    image: str = build_setting(
        "python:3.12-slim", "image of the programs' container: needs python3, 3.11 or newer, and sh"
    )
    namespace: str = build_setting("spanproof", "the cluster's namespace that Jobs are made in")
    context: str | None = build_setting(None, "context of the kubeconfig, where it is not the current one")
    kubeconfig: str | None = build_setting(
        None, "path of the kubeconfig; default KUBECONFIG, ~/.kube/config, or a pod's own account"
    )
    runtime_class: str | None = build_setting(
        None, "RuntimeClass of the pods: gvisor, or Kata's kata-fc, which runs them in Firecracker"
    )
    rights: str = build_setting(
        "none",
        "`none`: programs run as a user; `namespaces`: the guest is root, and keeps programs apart, for which"
        " the runtime class should be a wall of its own",
        choices=("none", "namespaces"),
    )
    network: str = build_setting(
        "policy",
        "`policy`: a NetworkPolicy without any way out is made; `own`: there is one",
        choices=("policy", "own"),
    )
    cpu: str = build_setting("1", "limit of a pod's processors")
    memory: str = build_setting("1Gi", "limit of a pod's memory")
    start_s: int = build_setting(120, "seconds until a pod runs, its image's pull included", least=1)
    lifetime_s: int = build_setting(
        600, "seconds after which the cluster ends a Job that no one ended", least=60
    )

    @property
    def separates(self) -> bool:
        """Whether the guest may keep programs apart."""
        return self.rights == "namespaces"

    @classmethod
    def parse(cls, backend: str, given: Mapping[str, str]) -> Self:
        """See `RemoteSettings.parse`; amounts are quantities of Kubernetes."""
        parsed = super(Settings, cls).parse(backend, given)
        for name in ("cpu", "memory"):
            text = getattr(parsed, name)
            if not _QUANTITY.fullmatch(text):
                raise BadSetting(
                    f"sandbox backend {backend!r}: {name}={text!r} is no quantity of Kubernetes;"
                    " write 500m, 1 or 1Gi"
                )
        return parsed
