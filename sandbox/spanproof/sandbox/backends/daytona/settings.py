"""The backend's settings."""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.sandbox.backends.remote.settings import RemoteSettings, build_setting


@dataclass(frozen=True, slots=True)
class Settings(RemoteSettings):
    """Of machines of Daytona."""

    snapshot: str | None = build_setting(
        None, "what machines are made of: a snapshot's name or ID; default the service's own"
    )
    target: str | None = build_setting(None, "region of the machines, where it is not the account's default")
    user: str = build_setting("root", "user of the guest's commands; only root keeps programs apart")
    api_url: str = build_setting("https://app.daytona.io/api", "address of the service's API")
    request_timeout_s: float = build_setting(30.0, "seconds a request to the service may take", least=0.1)
    start_s: int = build_setting(120, "seconds until a machine runs", least=1)
