"""The `modal` backend: programs in sandboxes of the Modal service."""

from __future__ import annotations

from spanproof.sandbox.backends.modal.service import ModalService
from spanproof.sandbox.backends.modal.settings import KNOWN, read_settings
from spanproof.sandbox.backends.remote.backend import RemoteSandbox


class ModalSandbox(RemoteSandbox):
    """Runs programs in sandboxes of Modal; `workers` of them at once."""

    name = "modal"
    settings = KNOWN

    def __init__(self, *, workers: int = 1, **settings: str) -> None:
        super().__init__(ModalService(read_settings(settings)), workers=workers)
