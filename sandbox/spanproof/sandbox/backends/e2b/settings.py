"""The backend's settings."""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.sandbox.backends.remote.settings import RemoteSettings, build_setting


@dataclass(frozen=True, slots=True)
class Settings(RemoteSettings):
    """Of machines of E2B."""

    template: str = build_setting(
        "base", "template of the machines: an ID, or a name with the tag of one build"
    )
    domain: str | None = build_setting(None, "domain of the service, where it is not e2b.app")
    api_url: str | None = build_setting(
        None, "address of the service's API, where it does not follow from the domain"
    )
    sandbox_url: str | None = build_setting(
        None, "address at which machines are reached, where it does not follow from the domain"
    )
    request_timeout_s: float = build_setting(30.0, "seconds a request to the service may take", least=0.1)
    lifetime_s: int = build_setting(
        300, "seconds after which the service ends a machine that no one ended", least=30
    )
