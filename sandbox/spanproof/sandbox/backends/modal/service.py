"""The service, as its SDK gives it: sandboxes are made here, and its errors become ours.

The token is read by the SDK, from MODAL_TOKEN_ID and MODAL_TOKEN_SECRET or from its own configuration.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import socket
import threading
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from spanproof.sandbox.backend import Feature
from spanproof.sandbox.backends.modal.settings import Settings
from spanproof.sandbox.backends.remote.service import Host, Service, Stream
from spanproof.sandbox.backends.remote.write import write_by_command
from spanproof.sandbox.errors import SandboxBroken, SandboxError, SandboxUnavailable

if TYPE_CHECKING:
    from modal import App, Client, Image
    from modal import Sandbox as Remote

_MAKE: Final = "make a sandbox"
_CONNECT_S: Final = 10.0
_AN_IMAGE_ID: Final = "im-"
_TOKEN: Final = "MODAL_TOKEN_ID and MODAL_TOKEN_SECRET"  # noqa: S105 - names of variables


class ModalService(Service):
    """Sandboxes of Modal, by its SDK."""

    name = "modal"
    separating = "set `runtime` to `vm`, with an image whose user is root"
    prolongs = False

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.image = f"image {settings.image!r}"
        self.lifetime_s = settings.lifetime_s
        self.reuse = settings.reuse
        self.retries = settings.retries
        self.price_per_second = settings.price_per_second
        self._lock = threading.Lock()
        self._opened: tuple[Client, App] | None = None
        self._hosts: weakref.WeakSet[ModalHost] = weakref.WeakSet()

    def features(self) -> tuple[Feature, ...]:
        """See `Service.features`; looks up the app."""
        needed = _probe_needed()
        if not all(each.present for each in needed):
            return needed
        try:
            self._open()
        except Exception as problem:  # noqa: BLE001 - whatever the SDK raises, there is no service for us
            detail = str(self.explain(problem, "look up the app"))
            remedy = "check the network, the token, and the settings `app` and `environment`"
            return (*needed, Feature("service", present=False, required=True, detail=detail, remedy=remedy))
        return (
            *needed,
            Feature("service", present=True, required=True, detail=f"app {self._settings.app!r}"),
        )

    def make(self, lifetime_s: int) -> Host:
        """See `Service.make`."""
        for feature in _probe_needed():
            if not feature.present:
                raise SandboxUnavailable(f"modal: {feature.detail}; {feature.remedy}")
        try:
            host = ModalHost(self._create(lifetime_s))
        except Exception as problem:
            raise self.explain(problem, _MAKE) from problem
        self._hosts.add(host)
        return host

    def _create(self, lifetime_s: int) -> Remote:
        from modal import Sandbox as Remote

        client, app = self._open()
        settings = self._settings
        choices: dict[str, Any] = {"runtime": settings.runtime, "region": settings.region}
        return Remote.create(
            app=app,
            client=client,
            image=_make_image(settings.image),
            timeout=lifetime_s,
            block_network=True,
            cpu=settings.cpu,
            memory=(settings.memory_mib, settings.memory_mib),
            tags={"made-by": "spanproof"},
            **{name: value for name, value in choices.items() if value is not None},
        )

    def _open(self) -> tuple[Client, App]:
        from modal import App, Client
        from modal.config import config

        with self._lock:
            if self._opened is None:
                _connect_once(config["server_url"])
                # One of our own: the SDK's is shared with whatever else this process does at Modal.
                client = Client.from_credentials(config["token_id"], config["token_secret"])
                app = App.lookup(
                    self._settings.app,
                    client=client,
                    environment_name=self._settings.environment,
                    create_if_missing=True,
                )
                self._opened = client, app
                # The SDK ends its own thread at the interpreter's end; what is registered later runs earlier.
                atexit.register(_end_all, self._hosts)
            return self._opened

    def explain(self, problem: Exception, doing: str) -> SandboxError:
        """See `Service.explain`."""
        if isinstance(problem, SandboxError):
            return problem
        from modal import exception as errors

        cause = f"{type(problem).__name__}: {problem}"[:500]
        if isinstance(problem, errors.AuthError | errors.PermissionDeniedError):
            return SandboxUnavailable(
                f"modal: the service refuses the token in {_TOKEN} ({cause}); set a valid one"
            )
        if isinstance(problem, errors.ConnectionError | OSError):
            return SandboxUnavailable(
                f"modal: the service does not answer ({cause}); check the network, and MODAL_SERVER_URL"
            )
        missing = isinstance(problem, errors.NotFoundError | errors.ImageBuildError | errors.InvalidError)
        if missing and doing == _MAKE:
            return SandboxUnavailable(
                f"modal: no sandbox can be made of the {self.image} ({cause});"
                " set `image`, `app` and `environment`"
            )
        return SandboxBroken(f"modal: could not {doing}: {cause}")


class ModalHost:
    """One sandbox of the service."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self.id = remote.object_id

    def write(self, path: str, data: bytes) -> None:
        """See `Host.write`."""
        write_by_command("modal", self, path, data)

    def start(self, command: str, *, talks: bool) -> Stream:
        """See `Host.start`."""
        fed = command if talks else f"{{ {command}\n}} </dev/null"
        return CommandStream(self._remote.exec("/bin/sh", "-c", fed, text=False))

    def prolong(self, seconds: int) -> None:
        """See `Host.prolong`."""
        raise NotImplementedError("Modal fixes a sandbox's lifetime when it is made")

    def end(self) -> None:
        """See `Host.end`; one that is gone already has ended."""
        from modal.exception import NotFoundError

        with contextlib.suppress(NotFoundError):
            self._remote.terminate()


class CommandStream:
    """A command that runs in a sandbox."""

    def __init__(self, process: Any) -> None:
        self._process = process

    def send_stdin(self, data: bytes) -> None:
        """Give it input."""
        self._process.stdin.write(data)
        self._process.stdin.drain()

    def __iter__(self) -> Iterator[tuple[str | None, str | None, object]]:
        """See `Stream`: its errors come after all of its output, as the service has them apart."""
        for piece in self._process.stdout:
            yield _decode_text(piece), None, None
        for piece in self._process.stderr:
            yield None, _decode_text(piece), None


def _connect_once(url: str) -> None:
    """Fail at once where nothing listens: the SDK tries for a minute.

    Raises:
        OSError: no connection can be made.
    """
    if getproxies():
        return  # the way is the SDK's to find
    found = urlsplit(url)
    port = found.port or (80 if found.scheme == "http" else 443)
    socket.create_connection((found.hostname or "", port), timeout=_CONNECT_S).close()


def _decode_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")  # what is ours is ASCII


def _make_image(name: str) -> Image:
    from modal import Image

    return Image.from_id(name) if name.startswith(_AN_IMAGE_ID) else Image.from_registry(name)


def _end_all(hosts: weakref.WeakSet[ModalHost]) -> None:
    for host in list(hosts):
        # Its lifetime ends what cannot be ended here.
        with contextlib.suppress(Exception):
            host.end()


def _probe_needed() -> tuple[Feature, ...]:
    """Probe the SDK, and where it is there, the token."""
    present = importlib.util.find_spec("modal") is not None
    detail = "" if present else "the modal SDK is not installed"
    sdk = Feature("modal SDK", present, required=True, detail=detail, remedy="pip install 'spanproof[modal]'")
    return (sdk, _probe_token()) if present else (sdk,)


def _probe_token() -> Feature:
    from modal.config import config

    present = bool(config["token_id"] and config["token_secret"])
    detail = "" if present else f"{_TOKEN} are not set"
    return Feature(
        "token", present, required=True, detail=detail, remedy=f"set {_TOKEN}, or `modal token set`"
    )
