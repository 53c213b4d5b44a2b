"""The `modal` backend: programs in sandboxes of the Modal service."""

from __future__ import annotations

from spanproof.sandbox.backends.modal.service import ModalService
from spanproof.sandbox.backends.modal.settings import Settings
from spanproof.sandbox.backends.remote.backend import RemoteSandbox


class ModalSandbox(RemoteSandbox):
    """Runs programs in sandboxes of Modal; `workers` of them at once."""

    name = "modal"
    settings = Settings.describe()

    def __init__(self, *, workers: int = 1, **settings: str) -> None:
        super().__init__(ModalService(Settings.parse(self.name, settings)), workers=workers)
