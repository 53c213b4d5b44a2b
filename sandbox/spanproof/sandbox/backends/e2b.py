"""The `e2b` backend: programs on machines of the E2B service, through its own SDK.

The SDK is imported when the first machine is wanted, never before. It reads the key itself, from E2B_API_KEY,
so that it never passes through Spanproof.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from spanproof.sandbox.backend import Feature
from spanproof.sandbox.backends.remote.backend import RemoteSandbox
from spanproof.sandbox.backends.remote.service import (
    Fault,
    Host,
    Service,
    Stream,
    build_package_feature,
    build_variable_feature,
)
from spanproof.sandbox.backends.remote.settings import RemoteSettings, build_setting

if TYPE_CHECKING:
    from e2b import Sandbox as Remote

_USER = "root"  # the guest gives it up before a program runs; without it, nothing keeps programs apart
_PROBE_S = 10.0
_NOT_FOUND = 404
_AN_ID = re.compile(r"[a-z0-9]{20}")


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


class E2BService(Service):
    """Machines of E2B, by its SDK."""

    name = "e2b"
    making = "create a machine"
    separating = "use a template whose commands may"
    remedy = "check the network, the key, and the settings `domain` and `api_url`"
    remedies: ClassVar = {
        Fault.REFUSED: "the service refuses the key in E2B_API_KEY ({cause}); set a valid one",
        Fault.NO_ANSWER: "the service does not answer ({cause});"
        " check the network, and the settings `domain` and `api_url`",
        Fault.NO_IMAGE: "the service does not know the {image}; set `template` to the ID or name of one that"
        " was built with this account",
    }
    settings: Settings

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, f"template {settings.template!r}")

    def list_requirements(self) -> tuple[Feature, ...]:
        """See `Service.list_requirements`."""
        return (
            build_package_feature("e2b SDK", "e2b", "the e2b SDK is not installed", "e2b"),
            build_variable_feature("key", "E2B_API_KEY"),
        )

    def list_service_features(self) -> tuple[Feature, ...]:
        """See `Service.list_service_features`; looks the template up."""
        from e2b import Sandbox as Remote
        from e2b import Template

        name = self.settings.template
        options = {
            **self._build_request_options(),
            "request_timeout": min(_PROBE_S, self.settings.request_timeout_s),
        }
        Remote.list(limit=1, retries=0, **options).next_items()
        exists = bool(_AN_ID.fullmatch(name)) or Template.exists(name, **options)
        if exists:
            detail = name
        else:
            detail = f"the service does not know the template {name!r}"
        remedy = "set `template` to the ID or name of one that was built with this account"
        return (
            Feature("service", present=True, required=True),
            Feature("template", exists, required=True, detail=detail, remedy=remedy),
            _build_template_feature(name),
        )

    def start_host(self, lifetime_s: int) -> Host:
        """See `Service.start_host`."""
        from e2b import Sandbox as Remote

        remote = Remote.create(
            self.settings.template,
            timeout=lifetime_s,
            allow_internet_access=False,
            metadata={"made-by": "spanproof"},
            # A create whose answer was lost must not leave a second machine behind.
            idempotency_key=uuid.uuid4().hex,
            **self._build_request_options(),
        )
        return E2BHost(remote, self.settings)

    def _build_request_options(self) -> Any:
        """Build the SDK's options for a request."""
        addresses = {
            name: address
            for name in ("domain", "api_url", "sandbox_url")
            if (address := getattr(self.settings, name)) is not None
        }
        return {**addresses, "request_timeout": self.settings.request_timeout_s, "debug": False}

    def find_fault(self, problem: Exception) -> Fault | None:
        """See `Service.find_fault`."""
        import httpx  # of the SDK's own
        from e2b import AuthenticationException, SandboxException

        if isinstance(problem, AuthenticationException):
            return Fault.REFUSED
        if isinstance(problem, SandboxException) and problem.status_code == _NOT_FOUND:
            return Fault.NO_IMAGE
        unanswered = httpx.ConnectError | httpx.ConnectTimeout | httpx.UnsupportedProtocol
        return Fault.NO_ANSWER if isinstance(problem, unanswered) else None


class E2BHost:
    """One machine of E2B."""

    def __init__(self, remote: Remote, settings: Settings) -> None:
        self._remote = remote
        self._settings = settings

    @property
    def id(self) -> str:
        """Its name at the service."""
        return self._remote.sandbox_id

    def write(self, path: str, data: bytes) -> None:
        """See `Host.write`."""
        self._remote.files.write(path, data, user=_USER)

    def start(self, command: str, *, talks: bool) -> Stream:
        """See `Host.start`."""
        return cast(
            "Stream",
            self._remote.commands.run(
                command, background=True, user=_USER, stdin=talks, timeout=0, retain_output=False
            ),
        )

    def update_lifetime(self, seconds: int) -> None:
        """See `Host.update_lifetime`."""
        self._remote.set_timeout(seconds)

    def close(self) -> None:
        """See `Host.close`."""
        self._remote.kill(request_timeout=self._settings.request_timeout_s)


def _build_template_feature(template: str) -> Feature:
    """Check for an ID or a build's tag: a name means another machine once its template is built anew."""
    tag = template.partition(":")[2]
    pinned = bool(_AN_ID.fullmatch(template)) or tag not in ("", "default", "latest")
    return Feature(
        "pinned template",
        pinned,
        required=False,
        detail=template if pinned else f"{template!r} names no build, so it may change",
        remedy="" if pinned else "set `template` to NAME:TAG of one build",
    )


class E2BSandbox(RemoteSandbox):
    """Runs programs on machines of E2B; `workers` of them at once."""

    name = "e2b"
    settings = Settings.read_descriptions()

    def __init__(self, *, workers: int = 1, **settings: str) -> None:
        super().__init__(E2BService(Settings.parse(self.name, settings)), workers=workers)
