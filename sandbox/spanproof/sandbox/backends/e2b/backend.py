"""The `e2b` backend: programs on machines of the E2B service."""

from __future__ import annotations

from spanproof.sandbox.backends.e2b.service import E2BService
from spanproof.sandbox.backends.e2b.settings import Settings
from spanproof.sandbox.backends.remote.backend import RemoteSandbox


class E2BSandbox(RemoteSandbox):
    """Runs programs on machines of E2B; `workers` of them at once."""

    name = "e2b"
    settings = Settings.describe()

    def __init__(self, *, workers: int = 1, **settings: str) -> None:
        super().__init__(E2BService(Settings.parse(self.name, settings)), workers=workers)
