"""The backend's settings."""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.sandbox.backends.remote.settings import RemoteSettings, build_setting


@dataclass(frozen=True, slots=True)
class Settings(RemoteSettings):
    """Of machines of Modal."""

    image: str = build_setting(
        "python:3.12-slim-bookworm",
        "image of the machines: one of a registry, or the ID of one of Modal's; needs python3, 3.11 or newer,"
        " and sh",
    )
    app: str = build_setting("spanproof", "app that the machines belong to; made where there is none")
    environment: str | None = build_setting(
        None, "Modal's environment of the app, where it is not the account's default"
    )
    runtime: str | None = build_setting(
        None, "`gvisor` or `vm`; default Modal's own", choices=("gvisor", "vm")
    )
    region: str | None = build_setting(None, "region of the machines, where it is not the account's default")
    cpu: float = build_setting(1.0, "processors of a machine", least=0.125)
    memory_mib: int = build_setting(2048, "limit of a machine's memory, in MiB", least=128)
    lifetime_s: int = build_setting(
        1800, "seconds after which the service ends a machine that no one ended", least=60
    )
