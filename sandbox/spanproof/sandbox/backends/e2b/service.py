"""The service, as its SDK gives it: machines are made here, and its errors become ours.

The key is read from E2B_API_KEY by the SDK itself and never passes through Spanproof.
"""

from __future__ import annotations

import importlib.util
import os
import re
import uuid
from typing import TYPE_CHECKING, Any, cast

from spanproof.sandbox.backend import Feature
from spanproof.sandbox.backends.e2b.settings import Settings
from spanproof.sandbox.backends.remote.service import Host, Service, Stream
from spanproof.sandbox.errors import SandboxBroken, SandboxError, SandboxUnavailable

if TYPE_CHECKING:
    from e2b import Sandbox as Remote

_USER = "root"  # the guest gives it up before a program runs; without it, nothing keeps programs apart
_PROBE_S = 10.0
_NOT_FOUND = 404
_AN_ID = re.compile(r"[a-z0-9]{20}")


class E2BService(Service):
    """Machines of E2B, by its SDK."""

    name = "e2b"
    separating = "use a template whose commands may"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.image = f"template {settings.template!r}"
        self.lifetime_s = settings.lifetime_s
        self.reuse = settings.reuse
        self.retries = settings.retries
        self.price_per_second = settings.price_per_second

    def features(self) -> tuple[Feature, ...]:
        """See `Service.probe_features`; queries the service."""
        return probe_features(self._settings)

    def make(self, lifetime_s: int) -> Host:
        """See `Service.make`."""
        return E2BHost(make_remote(self._settings, lifetime_s), self._settings)

    def explain(self, problem: Exception, doing: str) -> SandboxError:
        """See `Service.explain`."""
        return translate_error(problem, self._settings, doing)


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

    def prolong(self, seconds: int) -> None:
        """See `Host.prolong`."""
        self._remote.set_timeout(seconds)

    def end(self) -> None:
        """See `Host.end`."""
        self._remote.kill(request_timeout=self._settings.request_timeout_s)


def make_remote(settings: Settings, lifetime_s: int) -> Remote:
    """Make a new machine, without a way to the internet.

    Raises:
        SandboxUnavailable: the SDK, the key, the service or the template is missing.
        SandboxBroken: the service failed.
    """
    for feature in (_probe_sdk(), _probe_key()):
        if not feature.present:
            raise SandboxUnavailable(f"e2b: {feature.detail}; {feature.remedy}")
    from e2b import Sandbox as Remote

    try:
        return Remote.create(
            settings.template,
            timeout=lifetime_s,
            allow_internet_access=False,
            metadata={"made-by": "spanproof"},
            # A create whose answer was lost must not leave a second machine behind.
            idempotency_key=uuid.uuid4().hex,
            **build_request_options(settings),
        )
    except Exception as problem:
        raise translate_error(problem, settings, "create a machine") from problem


def build_request_options(settings: Settings) -> Any:
    """Build the SDK's options for a request."""
    chosen = {"domain": settings.domain, "api_url": settings.api_url, "sandbox_url": settings.sandbox_url}
    given = {name: value for name, value in chosen.items() if value is not None}
    return {**given, "request_timeout": settings.request_timeout_s, "debug": False}


def translate_error(problem: Exception, settings: Settings, doing: str) -> SandboxError:
    """Return our error for one of the SDK's: unavailable where the user can set it right, else broken."""
    from e2b import AuthenticationException, SandboxException

    if isinstance(problem, SandboxError):
        return problem
    cause = f"{type(problem).__name__}: {problem}"[:500]
    if isinstance(problem, AuthenticationException):
        return SandboxUnavailable(
            f"e2b: the service refuses the key in E2B_API_KEY ({cause}); set a valid one"
        )
    unknown = isinstance(problem, SandboxException) and problem.status_code == _NOT_FOUND
    if unknown and doing == "create a machine":
        return SandboxUnavailable(
            f"e2b: the service does not know the template {settings.template!r}; set `template` to the ID "
            "or name of one that was built with this account"
        )
    if _does_not_answer(problem):
        return SandboxUnavailable(
            f"e2b: the service does not answer ({cause}); "
            "check the network, and the settings `domain` and `api_url`"
        )
    return SandboxBroken(f"e2b: could not {doing}: {cause}")


def _does_not_answer(problem: Exception) -> bool:
    import httpx  # of the SDK's own

    return isinstance(problem, httpx.ConnectError | httpx.ConnectTimeout | httpx.UnsupportedProtocol)


def probe_features(settings: Settings) -> tuple[Feature, ...]:
    """Return what is there of what the backend needs; queries the service, and makes no machine."""
    sdk, key = _probe_sdk(), _probe_key()
    if not (sdk.present and key.present):
        return (sdk, key)
    return (sdk, key, *_probe_service(settings), _probe_pinned_template(settings))


def _probe_sdk() -> Feature:
    present = importlib.util.find_spec("e2b") is not None
    detail = "" if present else "the e2b SDK is not installed"
    return Feature("e2b SDK", present, required=True, detail=detail, remedy="pip install 'spanproof[e2b]'")


def _probe_key() -> Feature:
    present = bool(os.environ.get("E2B_API_KEY"))
    detail = "" if present else "E2B_API_KEY is not set"
    return Feature("key", present, required=True, detail=detail, remedy="set E2B_API_KEY in the environment")


def _probe_service(settings: Settings) -> tuple[Feature, ...]:
    from e2b import Sandbox as Remote
    from e2b import Template

    options = {
        **build_request_options(settings),
        "request_timeout": min(_PROBE_S, settings.request_timeout_s),
    }
    try:
        Remote.list(limit=1, retries=0, **options).next_items()
        known = bool(_AN_ID.fullmatch(settings.template)) or Template.exists(settings.template, **options)
    except Exception as problem:  # noqa: BLE001 - whatever the SDK raises, the service is not there for us
        cause = translate_error(problem, settings, "ask the service")
        remedy = "check the network, the key, and the settings `domain` and `api_url`"
        return (Feature("service", present=False, required=True, detail=str(cause), remedy=remedy),)
    detail = "" if known else f"the service does not know the template {settings.template!r}"
    remedy = "set `template` to the ID or name of one that was built with this account"
    return (
        Feature("service", present=True, required=True),
        Feature("template", known, required=True, detail=detail or settings.template, remedy=remedy),
    )


def _probe_pinned_template(settings: Settings) -> Feature:
    """Check for an ID or a build's tag: a name means another machine once its template is built anew."""
    tag = settings.template.partition(":")[2]
    pinned = bool(_AN_ID.fullmatch(settings.template)) or tag not in ("", "default", "latest")
    return Feature(
        "pinned template",
        pinned,
        required=False,
        detail=settings.template if pinned else f"{settings.template!r} names no build, so it may change",
        remedy="" if pinned else "set `template` to NAME:TAG of one build",
    )
