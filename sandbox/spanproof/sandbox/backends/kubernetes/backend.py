"""The `kubernetes` backend: programs in Jobs of a cluster."""

from __future__ import annotations

from spanproof.sandbox.backend import Evidence
from spanproof.sandbox.backends.kubernetes.service import KubernetesService
from spanproof.sandbox.backends.kubernetes.settings import Settings
from spanproof.sandbox.backends.remote.backend import RemoteSandbox


class KubernetesSandbox(RemoteSandbox):
    """Runs programs in Jobs; `workers` of them at once."""

    name = "kubernetes"
    settings = Settings.describe()

    def __init__(self, *, workers: int = 1, **settings: str) -> None:
        chosen = Settings.parse(self.name, settings)
        super().__init__(KubernetesService(chosen), workers=workers)
        calls = {Evidence.CALLS} if chosen.separates else set[Evidence]()
        self.evidence = frozenset({Evidence.PEAK_MEMORY} | calls)
