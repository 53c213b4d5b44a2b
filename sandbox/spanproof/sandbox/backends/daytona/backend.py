"""The `daytona` backend: programs in sandboxes of the Daytona service."""

from __future__ import annotations

from spanproof.sandbox.backends.daytona.service import DaytonaService
from spanproof.sandbox.backends.daytona.settings import Settings
from spanproof.sandbox.backends.remote.backend import RemoteSandbox


class DaytonaSandbox(RemoteSandbox):
    """Runs programs in sandboxes of Daytona; `workers` of them at once."""

    name = "daytona"
    settings = Settings.describe()

    def __init__(self, *, workers: int = 1, **settings: str) -> None:
        super().__init__(DaytonaService(Settings.parse(self.name, settings)), workers=workers)
